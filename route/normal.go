package route

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/parley-run/parley"
)

// What stands for names that are not given.
const (
	defaultAgent   = "main"
	defaultAccount = "default"
	defaultChannel = "unknown"
	defaultSpace   = "space"
)

// The names that have rules of their own.
const (
	typeDirect      = "direct"
	channelTelegram = "telegram"
	channelWhatsApp = "whatsapp"
)

// text is the normal form of ids and types: without white space around it, in
// lower case.
func text(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

// maxToken is the length of an agent's or account's name in keys.
const maxToken = 64

// token is the normal form of the names of agents and accounts, which stand in
// keys between colons.
func token(s, empty string) string {
	s = text(s)
	if plainToken(s) {
		return s
	}
	var b strings.Builder
	gap := false
	for _, r := range s {
		if r > 'z' || !tokenByte(byte(r)) {
			gap = true
			continue
		}
		if gap {
			b.WriteByte('-')
			gap = false
		}
		b.WriteByte(byte(r))
	}
	if gap {
		b.WriteByte('-')
	}
	s = b.String()
	s = strings.Trim(s[:min(len(s), maxToken)], "-")
	if s == "" {
		return empty
	}
	return s
}

// plainToken reports whether s is its own normal form, as nearly all names are.
func plainToken(s string) bool {
	if s == "" || len(s) > maxToken || s[0] == '-' || s[len(s)-1] == '-' {
		return false
	}
	for i := range len(s) {
		if !tokenByte(s[i]) {
			return false
		}
	}
	return true
}

func tokenByte(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '_' || c == '-'
}

// typeName is the normal form of a chat's or space's type. A colon in it would
// look like the end of the type; in lower case, %3A is something no type holds.
func typeName(s, empty string) string {
	switch s = text(s); s {
	case "":
		return empty
	case "dm":
		return typeDirect
	}
	return strings.ReplaceAll(s, ":", "%3A")
}

// whatsApp gives the part of a WhatsApp id that stays the same: without server,
// device and plus sign.
func whatsApp(id string) string {
	id, _, _ = strings.Cut(id, "@")
	id, _, _ = strings.Cut(id, ":")
	return strings.TrimSpace(strings.Replace(id, "+", "", 1))
}

// facts is an inbound as routing sees it. What is not given is empty, the
// channel and account aside.
type facts struct {
	channel, account string
	noChannel        bool
	spaceType, space string
	chatType         string // empty if the inbound has none; see scopeType
	chat, topic      string
	sender           string    // the alternative id, else the id
	linked           string    // the name the sender is linked to, else sender
	entry            string    // the identity link that names the sender, if one does
	ids              [2]string // the sender's id and alternative id

	// As given, for people.
	chatRaw, topicRaw, senderRaw string
	chatCut, senderCut           bool // a WhatsApp id was cut
}

// read brings an inbound into its normal form.
func read(in *parley.Inbound) facts {
	f := facts{
		channel: text(in.Channel), account: token(in.Account, defaultAccount),
		spaceType: typeName(in.SpaceType, defaultSpace), space: text(in.SpaceID),
		chatType: typeName(in.ChatType, ""),
		chatRaw:  strings.TrimSpace(in.ChatID), topicRaw: strings.TrimSpace(in.TopicID),
	}
	if f.channel == "" {
		f.channel, f.noChannel = defaultChannel, true
	}
	id, alt := strings.TrimSpace(in.Sender.ID), strings.TrimSpace(in.Sender.AltID)
	if f.channel == channelWhatsApp {
		given := [3]string{f.chatRaw, id, alt}
		if f.direct() {
			f.chatRaw = whatsApp(f.chatRaw)
		}
		id, alt = whatsApp(id), whatsApp(alt)
		f.chatCut, f.senderCut = f.chatRaw != given[0], id != given[1] || alt != given[2]
	}
	f.senderRaw = alt
	if alt == "" {
		f.senderRaw = id
	}
	f.chat, f.topic, f.sender = strings.ToLower(f.chatRaw), strings.ToLower(f.topicRaw), strings.ToLower(f.senderRaw)
	f.ids = [2]string{strings.ToLower(id), strings.ToLower(alt)}
	f.linked = f.sender
	return f
}

// direct reports whether the chat is between the agent and one person. A chat
// without a type is taken for one.
func (f *facts) direct() bool { return f.chatType == "" || f.chatType == typeDirect }

// scopeType gives the chat's type as scopes have it.
func (f *facts) scopeType() string {
	if f.chatType == "" {
		return typeDirect
	}
	return f.chatType
}

// quote shows a value in a message: quoted, escaped, and cut.
func quote(s string) string {
	const most = 64
	if len(s) > most {
		cut := most
		for cut > 0 && !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut] + "…"
	}
	return strconv.Quote(s)
}
