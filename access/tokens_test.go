package access_test

import (
	"slices"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
)

// TestWhoMakesTokens: owners for anybody, users for themselves, nobody else.
func TestWhoMakesTokens(t *testing.T) {
	t.Parallel()
	w := newWorld(t, access.PeopleConfig{})
	anna := w.add("anna", parley.RoleUser, "telegram:7")
	guest := w.add("gast", parley.RoleGuest, "")
	w.add("olga", parley.RoleOwner, "telegram:1")
	bot := w.bot("telegram")
	asOwner := w.speaks(bot, "1", "Olga") // an owner, in a chat
	if asOwner.Principal().Role != parley.RoleOwner {
		t.Fatalf("Olga is %+v", asOwner.Principal())
	}
	user, channelKind, join := parley.TokenUser, parley.TokenChannel, parley.TokenJoin
	for _, c := range []struct {
		what string
		by   access.Caller
		n    access.NewToken
		want parley.Code
	}{
		{"nobody", access.Caller{}, access.NewToken{}, parley.CodeUnauthorized},
		{"a user for themselves", anna, access.NewToken{}, ""},
		{"a user for their account", anna, access.NewToken{Kind: user, For: "telegram:7"}, ""},
		{"a user for an owner", anna, access.NewToken{For: "local:owner"}, parley.CodeForbidden},
		{"a user for another", anna, access.NewToken{For: "user:gast"}, parley.CodeForbidden},
		{"a user for somebody unknown", anna, access.NewToken{For: "user:nobody"}, parley.CodeForbidden},
		{"an owner's token", anna, access.NewToken{Kind: parley.TokenOwner}, parley.CodeForbidden},
		{"an owner's token by an owner", w.owner, access.NewToken{Kind: parley.TokenOwner}, parley.CodeForbidden},
		{"a device's token", anna, access.NewToken{Kind: parley.TokenDevice}, parley.CodeForbidden},
		{"a channel by a user", anna, access.NewToken{Kind: channelKind, Namespace: "telegram"}, parley.CodeForbidden},
		{"a join token by a user", anna, access.NewToken{Kind: join, Agent: "main"}, parley.CodeForbidden},
		{"a guest", guest, access.NewToken{}, parley.CodeForbidden},
		{"a channel", bot, access.NewToken{}, parley.CodeForbidden},
		{"an owner in a chat", asOwner, access.NewToken{}, parley.CodeForbidden},
		{"an owner for another", w.owner, access.NewToken{For: "telegram:7"}, ""},
		{"an owner for nobody's account", w.owner, access.NewToken{For: "telegram:99"}, parley.CodeNotFound},
		{"an owner for no account", w.owner, access.NewToken{For: "x"}, parley.CodeNotFound},
		{"a channel", w.owner, access.NewToken{Kind: channelKind, Namespace: "slack", For: "slack:B1"}, ""},
		{"a channel with another's account", w.owner, access.NewToken{Kind: channelKind, Namespace: "slack", For: "telegram:7"}, parley.CodeForbidden},
		{"a channel without a name", w.owner, access.NewToken{Kind: channelKind}, parley.CodeInvalid},
		{"a channel of our own accounts", w.owner, access.NewToken{Kind: channelKind, Namespace: "local"}, parley.CodeInvalid},
		{"a channel of added people", w.owner, access.NewToken{Kind: channelKind, Namespace: "user"}, parley.CodeInvalid},
		{"a channel of the configuration", w.owner, access.NewToken{Kind: channelKind, Namespace: "config"}, parley.CodeInvalid},
		{"joining no agent", w.owner, access.NewToken{Kind: join}, parley.CodeInvalid},
		{"joining as somebody", w.owner, access.NewToken{Kind: join, Agent: "main", For: "telegram:7"}, parley.CodeInvalid},
		{"a kind that is none", w.owner, access.NewToken{Kind: "root"}, parley.CodeInvalid},
		{"over before it is made", anna, access.NewToken{TTL: -time.Second}, parley.CodeInvalid},
		{"a name of two lines", anna, access.NewToken{Name: "a\nb"}, parley.CodeInvalid},
	} {
		secret, tok, err := w.CreateToken(t.Context(), c.by, c.n)
		code(t, c.what, c.want, err)
		if (secret == "") != (err != nil) || (tok.ID == "") != (err != nil) || tok.Hash != [32]byte{} {
			t.Errorf("%s: got the token %+v and %v", c.what, tok, err)
		}
	}
}

// TestChannelSpeaks: a channel's token speaks for accounts of its namespace, with the
// roles they have.
func TestChannelSpeaks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, access.PeopleConfig{})
	w.add("anna", parley.RoleUser, "telegram:7")
	bot := w.bot("telegram")
	if p := bot.Principal(); p.Identity != "telegram:bot" || p.Role != parley.RoleGuest || p.Via != "channel" || p.User != "" {
		t.Errorf("the channel itself is %+v", p)
	}
	anna := w.speaks(bot, "7", "Anna\x07 Müller")
	want := parley.Principal{Identity: "telegram:7", User: "anna", Role: parley.RoleUser, Via: "channel"}
	if anna.Principal() != want || anna.Namespace() != "telegram" {
		t.Errorf("got %+v, want %+v", anna.Principal(), want)
	}
	i, err := w.store.Identity(t.Context(), "telegram:7")
	must(t, err)
	if i.Name != "Anna Müller" || i.User != "anna" {
		t.Errorf("stored as %+v", i)
	}
	stranger := w.speaks(bot, "8", "")
	if p := stranger.Principal(); p.Role != "" || p.User != "" {
		t.Errorf("a stranger has %+v", p)
	}
	if c := w.speaks(bot, "", ""); c.Principal() != bot.Principal() {
		t.Errorf("without a sender it is %+v", c.Principal())
	}
	alt, err := w.Speaker(t.Context(), bot, parley.Sender{ID: "+49", AltID: "uuid-1"}, "")
	must(t, err)
	if alt.Principal().Identity != "telegram:uuid-1" {
		t.Errorf("got %+v, want the stable id", alt.Principal())
	}
	for _, other := range []struct{ channel, id string }{{"cli", "root"}, {"local", "owner"}, {"telegrams", "7"}, {"user", "anna"}, {"config", "x"}} {
		_, err := w.Speaker(t.Context(), bot, parley.Sender{ID: other.id}, other.channel)
		code(t, "speaking for "+other.channel, parley.CodeForbidden, err)
	}
	_, err = w.Speaker(t.Context(), bot, parley.Sender{ID: "a b"}, "")
	code(t, "an id that is none", parley.CodeInvalid, err)
	_, err = w.Speaker(t.Context(), access.Caller{}, parley.Sender{ID: "7"}, "telegram")
	code(t, "nobody", parley.CodeUnauthorized, err)
	_, err = w.Speaker(t.Context(), w.owner, parley.Sender{ID: "7"}, "telegram")
	code(t, "an owner for another", parley.CodeForbidden, err)
	me := w.as("telegram:7")
	self, err := w.Speaker(t.Context(), me, parley.Sender{ID: "7", Name: "Owner"}, "telegram")
	must(t, err)
	if self.Principal() != me.Principal() {
		t.Errorf("their own account: %+v", self.Principal())
	}
	if i, _ := w.store.Identity(t.Context(), "telegram:7"); i.Name != "Anna Müller" {
		t.Errorf("a name that no platform gave was stored: %q", i.Name)
	}
}

func TestTokenLists(t *testing.T) {
	t.Parallel()
	w := newWorld(t, access.PeopleConfig{})
	anna := w.add("anna", parley.RoleUser, "telegram:7")
	bert := w.add("bert", parley.RoleUser, "telegram:8")
	bot := w.bot("telegram")
	for range 5 {
		w.tokenFor("telegram:7")
	}
	link(t, w, anna, w.speaks(w.bot("slack"), "U1", "Anna"))
	anna = w.as("slack:U1")
	list := func(by access.Caller, limit int) (ids []parley.TokenID) {
		t.Helper()
		for after := parley.TokenID(""); ; {
			page, err := w.Tokens(t.Context(), by, after, limit)
			must(t, err)
			if len(page) == 0 {
				return ids
			}
			if len(page) > limit {
				t.Fatalf("a page of %d has %d", limit, len(page))
			}
			for _, tok := range page {
				if tok.Hash != [32]byte{} {
					t.Error("a hash is shown")
				}
				ids = append(ids, tok.ID)
			}
			after = page[len(page)-1].ID
		}
	}
	all, mine := list(w.owner, 3), list(anna, 2)
	if len(all) != 11 || len(mine) != 7 || !slices.IsSorted(all) || !slices.IsSorted(mine) {
		t.Errorf("an owner sees %d, Anna %d; want 11 and 7, sorted", len(all), len(mine))
	}
	theirs := list(bert, 50)
	if len(theirs) != 1 || slices.Contains(mine, theirs[0]) {
		t.Errorf("Bert sees %v", theirs)
	}
	_, err := w.Tokens(t.Context(), bot, "", 0)
	code(t, "a channel lists", parley.CodeForbidden, err)

	for _, c := range []struct {
		what string
		by   access.Caller
		id   parley.TokenID
		want parley.Code
	}{
		{"another's", anna, theirs[0], parley.CodeNotFound},
		{"none", anna, "tok_0", parley.CodeNotFound},
		{"no id", anna, "", parley.CodeNotFound},
		{"by a channel", bot, theirs[0], parley.CodeForbidden},
		{"by nobody", access.Caller{}, theirs[0], parley.CodeUnauthorized},
		{"one's own", bert, theirs[0], ""},
		{"by an owner", w.owner, mine[0], ""},
	} {
		code(t, "revoke "+c.what, c.want, w.Revoke(t.Context(), c.by, c.id))
	}
	notMine, notThere := w.Revoke(t.Context(), bert, mine[1]), w.Revoke(t.Context(), bert, "tok_1")
	if notMine.Error() != `there is no token "`+string(mine[1])+`"` || notThere.Error() != `there is no token "tok_1"` {
		t.Errorf("told apart: %v and %v", notMine, notThere)
	}
	w.wantNote("token_revoked", "local:owner", string(mine[0]))
}
