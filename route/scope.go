package route

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-run/parley"
)

// scopeVersion is the version of the canonical text of a scope.
const scopeVersion = 1

// allDimensions are the dimensions that can be chosen.
var allDimensions = [...]parley.Dimension{
	parley.DimensionSpace, parley.DimensionChat, parley.DimensionTopic, parley.DimensionSender,
}

func known(d parley.Dimension) bool { return slices.Contains(allDimensions[:], d) }

func unknownDimension(d parley.Dimension) string {
	return fmt.Sprintf("there is no dimension %s; the dimensions are space, chat, topic and sender", quote(string(d)))
}

// addedDimensions are those that the configured ones need for this message: its
// topic, because threads are apart, and its sender, where people in groups are.
func addedDimensions(dims []parley.Dimension, f *facts, group, thread bool) (topic, sender bool) {
	topic = f.topic != "" && f.channel != channelTelegram && !slices.Contains(dims, parley.DimensionTopic)
	sender = group && !f.direct() && (f.topic == "" || thread) && !slices.Contains(dims, parley.DimensionSender)
	return topic, sender
}

// forum reports whether the topic is part of the chat's value: on Telegram, the
// topics of a forum are apart even if nobody asked for it.
func forum(dims []parley.Dimension, f *facts) bool {
	return f.channel == channelTelegram && f.topic != "" &&
		slices.Contains(dims, parley.DimensionChat) && !slices.Contains(dims, parley.DimensionTopic)
}

// value gives what a dimension is for this message, or an empty text.
func (f *facts) value(d parley.Dimension, forum bool) string {
	switch {
	case d == parley.DimensionSpace && f.space != "":
		return f.spaceType + ":" + f.space
	case d == parley.DimensionChat && f.chat != "":
		chat := f.chat
		if f.channel == channelTelegram {
			// What follows the first slash is the topic.
			chat = strings.ReplaceAll(chat, "/", "%2F")
		}
		if forum {
			chat += "/" + f.topic
		}
		return f.scopeType() + ":" + chat
	case d == parley.DimensionTopic && f.topic != "":
		return "topic:" + f.topic
	case d == parley.DimensionSender:
		return f.linked
	}
	return ""
}

// scope gives the scope of a message: the dimensions that have a value, in their
// order.
func (f *facts) scope(agent string, dims []parley.Dimension) parley.Scope {
	s := parley.Scope{Version: scopeVersion, Agent: agent, Channel: f.channel, Account: f.account}
	isForum := forum(dims, f)
	for _, d := range dims {
		v := f.value(d, isForum)
		if _, ok := s.Values[d]; ok || v == "" {
			continue
		}
		if s.Values == nil {
			s.Values = make(map[parley.Dimension]string, len(dims))
			s.Dimensions = make([]parley.Dimension, 0, len(dims))
		}
		s.Values[d] = v
		s.Dimensions = append(s.Dimensions, d)
	}
	return s
}

var escapes = strings.NewReplacer("%", "%25", "|", "%7C", "=", "%3D")

// escape writes a value so that it cannot be taken for the end of itself.
func escape(s string) string {
	if !strings.ContainsAny(s, "%|=") {
		return s
	}
	return escapes.Replace(s)
}

// Signature gives the canonical text of a scope. Two scopes with the same text
// are the same scope, whatever their values hold.
func Signature(s parley.Scope) string {
	var b strings.Builder
	b.Grow(64 + 48*len(s.Dimensions))
	b.WriteString("v=" + strconv.Itoa(s.Version))
	b.WriteString("|agent=" + escape(s.Agent))
	b.WriteString("|channel=" + escape(s.Channel))
	b.WriteString("|account=" + escape(s.Account))
	for _, d := range s.Dimensions {
		b.WriteString("|" + string(d) + "=" + escape(s.Values[d]))
	}
	return b.String()
}

// KeyOf gives the key of a scope.
func KeyOf(s parley.Scope) parley.Key { return hash(Signature(s)) }

// keyPrefix is what keys start with.
const keyPrefix = "sk_v1_"

func hash(text string) parley.Key {
	sum := sha256.Sum256([]byte(text))
	key := make([]byte, len(keyPrefix)+2*len(sum))
	copy(key, keyPrefix)
	hex.Encode(key[len(keyPrefix):], sum[:])
	return parley.Key(key)
}

// Main gives the key of an agent's own conversation, for what it does without a
// chat, and the alias that this conversation alone has.
func Main(agent string) (parley.Key, parley.Alias) {
	alias := "agent:" + token(agent, defaultAgent) + ":main"
	return hash(alias), parley.Alias(alias)
}

// shared reports whether several people may be in a conversation: unless it is a
// direct chat's, or one sender's.
func shared(s *parley.Scope) bool {
	_, sender := s.Values[parley.DimensionSender]
	return !sender && !strings.HasPrefix(s.Values[parley.DimensionChat], typeDirect+":")
}
