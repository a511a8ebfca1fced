package route

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/parley-run/parley"
)

// refuse says why the conversation must not be opened.
func (r *Resolution) refuse() error {
	switch {
	case r.Explicit:
		return r.refuseName()
	case !r.Unified:
		if err := r.refuseOrigin(); err != nil {
			return err
		}
	}
	return r.refuseValues()
}

// refuseName refuses a name that cannot be a key. One that only leads to what is
// there may be an alias, and those may hold more.
func (r *Resolution) refuseName() error {
	if !r.Creatable {
		return nil
	}
	if strings.IndexFunc(string(r.Key), notInKeys) >= 0 {
		return parley.Errorf(parley.CodeInvalid, "%s cannot name a conversation; a name holds no white space, no / and no \\", quote(string(r.Key)))
	}
	if err := r.Key.Validate(); err != nil {
		return err
	}
	return r.refuseChannel()
}

// refuseChannel refuses a channel that cannot begin the ids of sessions.
func (r *Resolution) refuseChannel() error {
	channel := r.Scope.Channel
	if len(channel) > maxChannel {
		return parley.Errorf(parley.CodeTooLarge, "the channel is %d bytes long; at most %d are allowed", len(channel), maxChannel)
	}
	if strings.Contains(channel, ":") || strings.IndexFunc(channel, notInKeys) >= 0 {
		return parley.Errorf(parley.CodeInvalid,
			"the channel %s cannot begin the id of a session; a channel holds no :, no white space, no / and no \\", quote(channel))
	}
	return refuseText("channel", channel)
}

// maxChannel leaves room for the rest of a session's id: see
// [parley.NewSessionID].
const maxChannel = parley.MaxIDBytes - len(":20060102_150405_01234567")

func notInKeys(c rune) bool { return c == '/' || c == '\\' || unicode.IsSpace(c) }

// refuseOrigin refuses messages of which it is not known where they belong.
func (r *Resolution) refuseOrigin() error {
	f := &r.facts
	_, bySpace := r.Scope.Values[parley.DimensionSpace]
	_, bySender := r.Scope.Values[parley.DimensionSender]
	switch {
	case f.noChannel:
		return parley.Errorf(parley.CodeInvalid, "the message has no channel, so nobody knows where it comes from; name one")
	case f.channel == ChannelUnified:
		return parley.Errorf(parley.CodeInvalid, "the channel %s is Parley's own; give the surface another name", ChannelUnified)
	case f.chat == "" && !bySender && (!bySpace || slices.Contains(r.Dimensions, parley.DimensionChat)):
		return parley.Errorf(parley.CodeInvalid, "nothing in the message identifies a chat, so strangers would share the conversation; give a chat id")
	case len(r.Dimensions) > 0 && len(r.Scope.Values) == 0:
		return parley.Errorf(parley.CodeInvalid,
			"the message has none of the dimensions %s, so strangers would share the conversation; give one of them, or choose other dimensions", dimensionsText(r.Dimensions))
	}
	return nil
}

// refuseValues refuses what cannot be stored.
func (r *Resolution) refuseValues() error {
	if err := r.refuseChannel(); err != nil {
		return err
	}
	for _, d := range allDimensions {
		value := r.Scope.Values[d]
		if len(value) > parley.MaxAliasBytes {
			return parley.Errorf(parley.CodeTooLarge, "the %s is %d bytes long; at most %d are allowed", d, len(value), parley.MaxAliasBytes)
		}
		if err := refuseText(string(d), value); err != nil {
			return err
		}
	}
	return nil
}

func refuseText(what, value string) error {
	if strings.ContainsRune(value, utf8.RuneError) || strings.IndexFunc(value, unicode.IsControl) >= 0 {
		return parley.Errorf(parley.CodeInvalid, "the %s %s holds characters that no id may: control characters, or bytes that are not UTF-8", what, quote(value))
	}
	return nil
}
