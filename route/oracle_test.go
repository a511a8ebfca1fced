package route_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/soak"
	"github.com/parley-run/parley/route"
)

// asking is a message and how it is asked about, as far as keys depend on it.
type asking struct {
	in            ibd
	dims          dims // nil: chat, and what is added to it
	group, thread bool
}

func norm(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

var notInTokens = regexp.MustCompile(`[^a-z0-9_-]+`)

func normToken(s, empty string) string {
	s = notInTokens.ReplaceAllString(norm(s), "-")
	if s = strings.Trim(s[:min(len(s), 64)], "-"); s == "" {
		return empty
	}
	return s
}

func normType(s, empty string) string {
	switch s = norm(s); s {
	case "":
		return empty
	case "dm":
		return "direct"
	}
	return s
}

func normWhatsApp(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "@")
	s, _, _ = strings.Cut(s, ":")
	return strings.TrimSpace(strings.Replace(s, "+", "", 1))
}

// normal gives the inbound in the form in which routing compares it.
func (a asking) normal() ibd {
	in := a.in
	n := ibd{
		Channel: norm(in.Channel), Account: normToken(in.Account, "default"),
		SpaceType: normType(in.SpaceType, "space"), SpaceID: norm(in.SpaceID),
		ChatType: normType(in.ChatType, "direct"), ChatID: norm(in.ChatID), TopicID: norm(in.TopicID),
	}
	n.Sender.ID, n.Sender.AltID = norm(in.Sender.ID), norm(in.Sender.AltID)
	if n.Channel == "whatsapp" {
		n.Sender.ID, n.Sender.AltID = normWhatsApp(n.Sender.ID), normWhatsApp(n.Sender.AltID)
		if n.ChatType == "direct" {
			n.ChatID = normWhatsApp(n.ChatID)
		}
	}
	if n.Channel == "" {
		n.Channel = "unknown"
	}
	return n
}

// conversation says which conversation a message belongs to: messages for which
// it is the same, and only they, share a key. It is the rule told another way:
// values stand side by side, quoted, instead of being escaped into one text.
func (a asking) conversation() string {
	n := a.normal()
	sender := n.Sender.AltID
	if sender == "" {
		sender = n.Sender.ID
	}
	effective := a.dims
	if effective == nil {
		effective = dims{"chat"}
		if n.TopicID != "" && n.Channel != "telegram" {
			effective = append(effective, "topic")
		}
		if a.group && n.ChatType != "direct" && (n.TopicID == "" || a.thread) {
			effective = append(effective, "sender")
		}
	}
	said := []string{n.Channel, n.Account}
	done := map[parley.Dimension]bool{}
	for _, d := range effective {
		if done[d] {
			continue
		}
		done[d] = true
		switch {
		case d == "space" && n.SpaceID != "":
			said = append(said, "space", n.SpaceType, n.SpaceID)
		case d == "chat" && n.ChatID != "":
			said = append(said, "chat", n.ChatType, n.ChatID)
			if n.Channel == "telegram" && n.TopicID != "" && !slices.Contains(effective, "topic") {
				said = append(said, "forum", n.TopicID)
			}
		case d == "topic" && n.TopicID != "":
			said = append(said, "topic", n.TopicID)
		case d == "sender" && sender != "":
			said = append(said, "sender", sender)
		}
	}
	return fmt.Sprintf("%q", said)
}

// check holds what is true of every message by itself.
func (a asking) check(t *testing.T, rt *route.Router) route.Resolution {
	t.Helper()
	res := resolve(t, rt, route.Request{Inbound: a.in, Dimensions: a.dims, GroupSessionsPerUser: &a.group, ThreadSessionsPerUser: &a.thread, Explain: true})
	n := a.normal()
	_, sender := res.Scope.Values["sender"]
	_, chat := res.Scope.Values["chat"]
	if private := sender || chat && n.ChatType == "direct"; res.Shared == private {
		t.Errorf("%+v: shared is %v in scope %v", a, res.Shared, res.Scope)
	}
	if err := res.Key.Validate(); err != nil || len(res.Why) == 0 {
		t.Errorf("%+v: key %q, %v; reasons %q", a, res.Key, err, res.Why)
	}
	for _, c := range res.Claims {
		if !slices.Contains(res.Aliases, c) {
			t.Errorf("%+v: claims %s, which is none of its aliases", a, c)
		}
	}
	if res.Refusal() == nil {
		if err := parley.NewSessionID(res.Scope.Channel, someTime, [4]byte{}).Validate(); err != nil {
			t.Errorf("%+v is not refused, and no session can be named: %v", a, err)
		}
		batch := parley.Batch{At: someTime, Keys: []parley.KeyChange{{Key: res.Key, Scope: &res.Scope}}}
		for _, c := range res.Claims {
			batch.Aliases = append(batch.Aliases, parley.AliasChange{Alias: c, Key: res.Key})
		}
		if err := batch.Validate(); err != nil {
			t.Errorf("%+v is not refused, and cannot be stored: %v", a, err)
		}
	} else if code := parley.CodeOf(res.Refusal()); code != parley.CodeInvalid && code != parley.CodeTooLarge {
		t.Errorf("%+v is refused with %v", a, res.Refusal())
	}
	// Of several plus signs WhatsApp ids lose one each time.
	if n.Channel != "whatsapp" || !strings.Contains(n.ChatID+n.Sender.ID+n.Sender.AltID, "+") {
		again := resolve(t, rt, route.Request{Inbound: n, Dimensions: a.dims, GroupSessionsPerUser: &a.group, ThreadSessionsPerUser: &a.thread})
		if again.Key != res.Key {
			t.Errorf("%+v: normalising changes the signature from %s to %s", a, res.Signature, again.Signature)
		}
	}
	return res
}

// compare checks two messages, and that they share a key if and only if they
// belong to one conversation.
func compare(t *testing.T, rt *route.Router, a, b asking) {
	t.Helper()
	one, two := a.check(t, rt), b.check(t, rt)
	if same := a.conversation() == b.conversation(); same != (one.Key == two.Key) {
		t.Errorf("%s and %s: same conversation %v; signatures %s and %s", a.conversation(), b.conversation(), same, one.Signature, two.Signature)
	}
}

// pieces are what random ids are made of: all that could run together.
var pieces = []string{
	"", "", "", "1", "2", "a", "A", " ", ":", "|", "=", "%", "/", "%7C", "%25", "%3a", "%2F", "|topic=topic:1", "direct", "group", "dm", "topic:1",
	"\x00", "\u00a0", "é", "É", "İ", "ß", "张", "+", "@", "-", "_", "\xff", "🙂",
}

func randomAsking(r *rand.Rand) asking {
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	id := func() string {
		s := pick(pieces...)
		for r.IntN(3) == 0 {
			s += pick(pieces...)
		}
		return s
	}
	a := asking{
		in: ibd{
			Channel: pick("telegram", "telegram", "slack", "whatsapp", " X ", id()), Account: pick("", "b", id()),
			SpaceType: pick("", "guild", id()), SpaceID: id(), ChatType: pick("", "direct", "dm", "group", "channel", id()),
			ChatID: id(), TopicID: id(), Sender: parley.Sender{ID: id(), AltID: pick("", "", id())},
		},
		group: r.IntN(2) == 0, thread: r.IntN(2) == 0,
	}
	if r.IntN(2) == 0 {
		a.dims = dims{}
		for range r.IntN(5) {
			a.dims = append(a.dims, parley.Dimension(pick("space", "chat", "topic", "sender")))
		}
	}
	return a
}

// mutate changes a message a little, so that it stays near.
func mutate(r *rand.Rand, a asking) asking {
	b, other := a, randomAsking(r)
	for range 1 + r.IntN(2) {
		switch r.IntN(9) {
		case 0:
			b.in.ChatID = other.in.ChatID
		case 1:
			b.in.TopicID = other.in.TopicID
		case 2:
			b.in.Sender = other.in.Sender
		case 3:
			b.in.ChatType = other.in.ChatType
		case 4:
			b.in.SpaceID, b.in.SpaceType = other.in.SpaceID, other.in.SpaceType
		case 5:
			b.in.Channel, b.in.Account = other.in.Channel, other.in.Account
		case 6:
			b.dims = other.dims
		case 7:
			b.in.ChatID, b.in.TopicID = a.in.ChatID+"/"+a.in.TopicID, ""
		case 8:
			b.in.ChatType, b.in.ChatID = a.in.ChatType+":"+a.in.ChatID, a.in.TopicID
		}
	}
	return b
}

func TestKeys_AreSharedByOneConversationAlone(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(soak.Seed(t), 0))
	rt := newRouter(t, route.Config{})
	same, rounds := 0, soak.Count(5_000, 50_000)
	for range rounds {
		a := randomAsking(r)
		b := mutate(r, a)
		if compare(t, rt, a, b); t.Failed() {
			return
		}
		if a.conversation() == b.conversation() {
			same++
		}
	}
	if same < rounds/20 || same > rounds*19/20 {
		t.Errorf("of %d pairs %d are one conversation: that proves little", rounds, same)
	}
}

func FuzzKeys(f *testing.F) {
	f.Add("telegram", "", "", "", "group", "-1", "42", "7", "", "chat", "telegram", "", "", "", "group", "-1/42", "", "7", "", "chat", uint8(0))
	f.Add("x", "b", "a:b", "c", "a:b", "c", "9", "7", "8", "space chat", "x", "b", "a", "b:c", "a", "b:c", "9", "7", "8", "chat space", uint8(3))
	f.Add("whatsapp", "", "", "", "dm", "+1:2@s", "", "1@lid", "", "", "whatsapp", "", "", "", "", "1", "", "1", "", "", uint8(1))
	f.Add("a|b", "", "", "", "group", "x|sender=1", "", "1", "", "chat", "a|b", "", "", "", "group", "x", "", "1", "", "chat sender", uint8(2))
	f.Fuzz(func(t *testing.T,
		channel, account, spaceType, space, chatType, chat, topic, sender, alt, list,
		channel2, account2, spaceType2, space2, chatType2, chat2, topic2, sender2, alt2, list2 string, flags uint8,
	) {
		read := func(list string) dims {
			if list == "" {
				return nil
			}
			d := dims{}
			for name := range strings.FieldsSeq(list) {
				if slices.Contains([]string{"space", "chat", "topic", "sender"}, name) {
					d = append(d, parley.Dimension(name))
				}
			}
			return d
		}
		compare(t, newRouter(t, route.Config{}),
			asking{
				ibd{Channel: channel, Account: account, SpaceType: spaceType, SpaceID: space, ChatType: chatType, ChatID: chat, TopicID: topic, Sender: parley.Sender{ID: sender, AltID: alt}},
				read(list), flags&1 != 0, flags&2 != 0,
			},
			asking{
				ibd{Channel: channel2, Account: account2, SpaceType: spaceType2, SpaceID: space2, ChatType: chatType2, ChatID: chat2, TopicID: topic2, Sender: parley.Sender{ID: sender2, AltID: alt2}},
				read(list2), flags&4 != 0, flags&8 != 0,
			})
	})
}
