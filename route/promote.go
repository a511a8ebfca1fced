package route

import (
	"slices"
	"strings"

	"github.com/parley-run/parley"
)

// Found is a session that an alias led to.
type Found struct {
	// Alias is the name it was found by.
	Alias parley.Alias
	// Scope is what the store has for its key; nil if it has none.
	Scope *parley.Scope
	// Participants are the identities that take part.
	Participants []parley.IdentityID
}

// MayPromote reports whether a session that was found through an alias may
// become the current one of the key, and says why or why not.
//
// It may if the alias names this channel and this chat, leads to no other key and
// tells exactly what the scope holds, and if the session is known to be the same conversation: its stored scope
// has the same agent, channel, account and values; or, if no scope is stored,
// its participants are this sender alone, and for a conversation that is shared,
// people of this channel and the sender among them. So nobody inherits what was
// said in a wider conversation, or in another person's, and what was said in a
// narrower one, such as a direct chat or a thread, is not shown to all who share
// the key. Identity links do not count here, and neither does a readable key.
func (r *Resolution) MayPromote(found Found) (ok bool, reason string) {
	switch {
	case r.refusal != nil:
		return false, "the key cannot be opened"
	case r.Explicit:
		return false, "the key was given by the caller"
	case r.Unified:
		return false, "a user's unified conversation starts empty"
	case !slices.Contains(r.Aliases, found.Alias):
		return false, "the alias is not one of this message"
	case !slices.Contains(r.Claims, found.Alias):
		return false, "the alias is wider than the key"
	case !slices.Contains(r.promoters, found.Alias):
		return false, "the alias does not name the channel, or is not of exactly the chat and topic that the key is for"
	}
	if found.Scope != nil {
		if !sameConversation(found.Scope, &r.Scope) {
			return false, "the stored scope is another one"
		}
		return true, "the stored scope is the same"
	}
	return r.sameParticipants(found.Participants)
}

// sameConversation compares scopes by what they say, not by how: the order of
// dimensions does not matter, nor where a Telegram topic stands.
func sameConversation(a, b *parley.Scope) bool {
	if a.Agent != b.Agent || a.Channel != b.Channel || a.Account != b.Account {
		return false
	}
	av, bv := unfolded(a), unfolded(b)
	for _, d := range allDimensions {
		if av[d] != bv[d] {
			return false
		}
	}
	return len(av) == len(bv)
}

// unfolded gives a scope's values with the topic of a Telegram forum taken out of
// the chat.
func unfolded(s *parley.Scope) map[parley.Dimension]string {
	values := make(map[parley.Dimension]string, len(s.Values)+1)
	for _, d := range s.Dimensions {
		if s.Values[d] != "" {
			values[d] = s.Values[d]
		}
	}
	if chat, topic, ok := strings.Cut(values[parley.DimensionChat], "/"); ok && s.Channel == channelTelegram && values[parley.DimensionTopic] == "" {
		values[parley.DimensionChat], values[parley.DimensionTopic] = chat, "topic:"+topic
	}
	return values
}

func (r *Resolution) sameParticipants(participants []parley.IdentityID) (ok bool, reason string) {
	mine := 0
	for _, id := range participants {
		channel, person, _ := strings.Cut(text(string(id)), ":")
		if channel != r.facts.channel {
			return false, "somebody of another channel takes part"
		}
		if channel == channelWhatsApp {
			person = whatsApp(person)
		}
		if person != "" && slices.Contains(r.facts.ids[:], person) {
			mine++
		}
	}
	switch {
	case len(participants) == 0:
		return false, "nothing is known about whose session it is"
	case mine == 0:
		return false, "the sender does not take part"
	case !r.Shared && mine < len(participants):
		return false, "somebody else takes part"
	}
	return true, "the participants are the same"
}
