package route

import (
	"slices"
	"strings"

	"github.com/parley-run/parley"
)

// alias is a name and what it tells apart.
type alias struct {
	name                parley.Alias
	channel             bool
	chat, topic, sender bool
	ambiguous           bool // the chat's id may be read as another chat and its topic
}

// aliases gives the names that messages like this one go by in older formats.
func (f *facts) aliases(agent string) []alias {
	start := "agent:" + agent + ":"
	if f.chatType != typeDirect {
		return f.chatAlias(start)
	}
	list := make([]alias, 0, 9)
	peers := [...]string{f.sender, f.linked, f.chat}
	for i, peer := range peers {
		if peer == "" || slices.Contains(peers[:i], peer) {
			continue
		}
		// A direct chat is with one person, so its id tells the sender; the
		// sender does not tell which of several chats with that person.
		chat := peer == f.chat || f.chat == ""
		for _, name := range [...]string{
			start + "direct:" + peer,
			start + f.channel + ":direct:" + peer,
			start + f.channel + ":" + f.account + ":direct:" + peer,
		} {
			list = append(list, alias{
				name: parley.Alias(name), channel: true, chat: chat, sender: true,
				ambiguous: peer == f.chat && strings.Contains(peer, "/"),
			})
		}
		list[len(list)-3].channel = false
	}
	return list
}

// chatAlias is the name of a chat that is not a direct one.
func (f *facts) chatAlias(start string) []alias {
	if f.chat == "" {
		return nil
	}
	typ := f.chatType
	if typ == "" {
		typ = "unknown"
	}
	name := start + f.channel + ":" + typ + ":" + f.chat
	if f.topic != "" {
		name += "/" + f.topic
	}
	return []alias{{
		name: parley.Alias(name), channel: true, chat: true, topic: f.topic != "",
		ambiguous: strings.Contains(f.chat, "/"),
	}}
}

// wider reports whether messages of another key could go by the name as well.
// That accounts and channels are left out does not count here: the first key
// that claims such a name keeps it.
func (a *alias) wider(s *parley.Scope, forum bool) bool {
	if a.ambiguous {
		return true
	}
	for _, d := range s.Dimensions {
		var told bool
		switch d {
		case parley.DimensionChat:
			told = a.chat && (!forum || a.topic)
		case parley.DimensionTopic:
			told = a.topic
		case parley.DimensionSender:
			told = a.sender
		}
		if !told {
			return true
		}
	}
	return false
}

// exact reports whether a name that is not wider than the scope is not narrower
// either: the history of one chat or thread is nothing for a key that others
// write to from elsewhere.
func (a *alias) exact(s *parley.Scope, forum bool) bool {
	_, chat := s.Values[parley.DimensionChat]
	_, topic := s.Values[parley.DimensionTopic]
	return chat && a.chat && a.topic == (topic || forum)
}

// textKey gives the readable name of a conversation: for people and imports.
// Different conversations may have the same, so nothing is opened by it alone.
func (f *facts) textKey(agent string, dims []parley.Dimension, forum bool) string {
	if !slices.Contains(dims, parley.DimensionChat) || f.space != "" && slices.Contains(dims, parley.DimensionSpace) {
		return ""
	}
	typ := f.scopeType()
	if typ == typeDirect {
		typ = "dm"
	}
	parts := make([]string, 0, 7)
	parts = append(parts, "agent", agent, f.channel, typ)
	participant := f.senderRaw
	switch {
	case f.chatRaw != "":
		parts = append(parts, f.chatRaw)
	case f.direct() && participant != "":
		parts = append(parts, participant)
		participant = ""
	}
	if f.topicRaw != "" && (forum || slices.Contains(dims, parley.DimensionTopic)) {
		parts = append(parts, f.topicRaw)
	}
	if participant != "" && slices.Contains(dims, parley.DimensionSender) {
		parts = append(parts, participant)
	}
	return strings.Join(parts, ":")
}
