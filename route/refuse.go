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
	return r.Key.Validate()
}

func notInKeys(c rune) bool { return c == '/' || c == '\\' || unicode.IsSpace(c) }

// refuseOrigin refuses messages of which it is not known where they belong.
func (r *Resolution) refuseOrigin() error {
	f := &r.facts
	_, bySpace := r.Scope.Values[parley.DimensionSpace]
	_, bySender := r.Scope.Values[parley.DimensionSender]
	switch {
	case f.noChannel:
		return parley.Errorf(parley.CodeInvalid, "the message has no channel, so nobody knows where it comes from; name one")
	case f.channel == channelUnified:
		return parley.Errorf(parley.CodeInvalid, "the channel %s is Parley's own; give the surface another name", channelUnified)
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
	for _, part := range [...]struct {
		what, value string
		most        int
	}{
		{"channel", r.Scope.Channel, parley.MaxNameBytes},
		{"space", r.Scope.Values[parley.DimensionSpace], parley.MaxAliasBytes},
		{"chat", r.Scope.Values[parley.DimensionChat], parley.MaxAliasBytes},
		{"topic", r.Scope.Values[parley.DimensionTopic], parley.MaxAliasBytes},
		{"sender", r.Scope.Values[parley.DimensionSender], parley.MaxAliasBytes},
	} {
		if len(part.value) > part.most {
			return parley.Errorf(parley.CodeTooLarge, "the %s is %d bytes long; at most %d are allowed", part.what, len(part.value), part.most)
		}
		if strings.ContainsRune(part.value, utf8.RuneError) || strings.IndexFunc(part.value, unicode.IsControl) >= 0 {
			return parley.Errorf(parley.CodeInvalid, "the %s %s holds characters that no id may: control characters, or bytes that are not UTF-8", part.what, quote(part.value))
		}
	}
	return nil
}
