package parley_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/parley-run/parley"
)

// refusal fails unless err is one of the two ways to refuse bad input, in words
// that are fit to be shown.
func refusal(t *testing.T, err error) {
	t.Helper()
	if code := parley.CodeOf(err); code != invalid && code != tooLarge {
		t.Fatalf("refused with code %q: %v", code, err)
	}
	wantCode(t, err, parley.CodeOf(err))
}

func FuzzDecodeBody(f *testing.F) {
	for _, c := range bodyCases() {
		data, err := parley.EncodeBody(c.valid)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(c.valid.EventType()), []byte(data))
	}
	for _, typ := range parley.EventTypes() {
		f.Add(string(typ), []byte(`{}`))
		f.Add(string(typ), []byte(`null`))
		f.Add(string(typ), []byte(parley.TombstoneData))
	}
	f.Add("session:message", []byte(`{"id":"m","role":"user","parts":[{"type":"tool_call","tool_call":{"id":"c","name":"n","arguments":`+string(nested(70))+`}}]}`))
	f.Add("session:message", []byte(`{"id":"m","role":"user","parts":[{"type":"text","text":"\ud800 \u2028 \u0000"}]}`))
	f.Add("session:approval_requested", []byte(`{"call_id":"c","tool":"t","default":"denied","deadline":"0000-01-01T00:00:00+23:59"}`))
	f.Add("session:later", []byte(`[1,2,3]`))
	f.Add("a:b", []byte(` { "redacted" : true } `))
	f.Add("a\x00:b", []byte(`1e999`))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		typ := parley.EventType(name)
		body, err := parley.DecodeBody(typ, data)
		if err != nil {
			if body != nil {
				t.Fatalf("refused, but gave %v", body)
			}
			refusal(t, err)
			return
		}
		if body.EventType() != typ {
			t.Fatalf("%q decodes to a body of %q", typ, body.EventType())
		}
		first, err := parley.EncodeBody(body)
		if err != nil {
			refusal(t, err)
			if !mayNotEncode(body, data) {
				t.Fatalf("%T was decoded, but cannot be encoded: %v", body, err)
			}
			return
		}
		again, err := parley.DecodeBody(typ, first)
		if err != nil {
			t.Fatalf("%s was encoded, but cannot be decoded: %v", first, err)
		}
		second, err := parley.EncodeBody(again)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first, second) {
			t.Fatalf("not stable:\n%s\n%s", first, second)
		}
	})
}

// mayNotEncode reports whether a body can be read but not written: a tombstone,
// a type of a later version, what looks like a tombstone once it is compact, and
// what grows beyond the limit by being escaped.
func mayNotEncode(body parley.EventBody, data []byte) bool {
	if _, ok := body.(*parley.Tombstone); ok {
		return true
	}
	if _, ok := body.(*parley.Custom); ok {
		var compact bytes.Buffer
		if json.Compact(&compact, data) == nil && bytes.Equal(compact.Bytes(), parley.TombstoneData) {
			return true
		}
		ns, _, _ := strings.Cut(string(body.EventType()), ":")
		if ns == "session" || ns == "agent" {
			return true
		}
	}
	return len(data) > parley.MaxBodyBytes/8
}

func FuzzParts(f *testing.F) {
	seed := func(parts []parley.Part) {
		data, err := json.Marshal(parts)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	seed(parts())
	seed(nil)
	seed([]parley.Part{parley.TextPart(strings.Repeat("漢 \r\n🦜", 60))})
	seed([]parley.Part{{Kind: "hologram"}, {Kind: parley.PartMedia}})
	f.Add([]byte(`[{"type":"tool_call","tool_call":{"id":"c","name":"n","arguments":` + string(nested(64)) + `}}]`))
	f.Add([]byte(`[{"type":"tool_result","tool_result":{"call_id":"c","media":{"handle":"h","media_type":"t","size":-1}}}]`))
	f.Add([]byte(`[{"type":"text","text":"\u202e\u0085\u00a0\u200b"}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var parts []parley.Part
		if json.Unmarshal(data, &parts) != nil {
			return
		}
		m := &parley.Message{ID: "m", Role: parley.MessageUser, Parts: parts}
		checkPreview(t, m.Preview())
		if err := parley.ValidateParts(parts); err != nil {
			refusal(t, err)
			if _, err := parley.EncodeBody(m); err == nil {
				t.Fatal("parts that were refused can be encoded")
			}
			return
		}
		encoded, err := parley.EncodeBody(m)
		if err != nil {
			refusal(t, err) // too large as a whole
			return
		}
		body, err := parley.DecodeBody(parley.EventMessage, encoded)
		if err != nil {
			t.Fatalf("%s was encoded, but cannot be decoded: %v", encoded, err)
		}
		back, ok := body.(*parley.Message)
		if !ok {
			t.Fatalf("a message decodes to %T", body)
		}
		if back.Preview() != m.Preview() || parley.PlainText(back.Parts) != parley.PlainText(parts) {
			t.Fatal("a round trip changes the text")
		}
		in := parley.Input{Kind: parley.InputMessage, Parts: parts}
		crlf := parley.Input{Kind: parley.InputMessage, Parts: slices.Clone(parts)}
		for i := range crlf.Parts {
			text := strings.ReplaceAll(crlf.Parts[i].Text, "\r\n", "\n")
			crlf.Parts[i].Text = strings.ReplaceAll(text, "\n", "\r\n")
		}
		if in.ContentHash() != crlf.ContentHash() {
			t.Fatal("line endings change the hash")
		}
	})
}

func checkPreview(t *testing.T, text string) {
	t.Helper()
	if n := utf8.RuneCountInString(text); n > 121 || !utf8.ValidString(text) {
		t.Fatalf("the preview has %d runes: %q", n, text)
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r != ' ' && (unicode.IsSpace(r) || unicode.IsControl(r)) }) ||
		strings.TrimSpace(text) != text || strings.Contains(text, "  ") || strings.HasSuffix(text, " …") && utf8.RuneCountInString(text) > 120 {
		t.Fatalf("the preview is not one tidy line: %q", text)
	}
}

// cannotName reports whether a rune has no place in an id.
func cannotName(r rune) bool {
	return unicode.IsControl(r) || unicode.IsSpace(r) || r == '/' || r == '\\' || r == utf8.RuneError
}

func addNames(f *testing.F) {
	f.Helper()
	for _, bad := range badIDs() {
		if len(bad.id) < 4096 {
			f.Add(bad.id)
		}
	}
	for _, name := range []string{
		"cli:work", "telegram:7", "agent:main:telegram:group:-1001/42", ":", "::", "a:", ":a", "a:b:c", "cli:20260102_030405_deadbeef",
		"a:\u200b", "a:\u202e", "é:ü", strings.Repeat("é", 128), strings.Repeat("x", 1024),
	} {
		f.Add(name)
	}
}

func FuzzSessionID(f *testing.F) {
	addNames(f)
	f.Fuzz(func(t *testing.T, name string) {
		id := parley.SessionID(name)
		if !strings.HasPrefix(name, id.Namespace()) {
			t.Fatalf("the namespace of %q is %q", name, id.Namespace())
		}
		if err := id.Validate(); err != nil {
			refusal(t, err)
			return
		}
		if len(name) > parley.MaxIDBytes || !utf8.ValidString(name) {
			t.Fatalf("%q is accepted", name)
		}
		if i := strings.IndexFunc(name, cannotName); i >= 0 && !strings.HasPrefix(name[i:], "\ufffd") {
			t.Fatalf("%q is accepted", name)
		}
		if ns := id.Namespace(); ns == "" || !strings.HasPrefix(name, ns+":") || len(name) == len(ns)+1 {
			t.Fatalf("%q is accepted with namespace %q", name, ns)
		}
		if !(parley.Visibility{All: true, Namespace: id.Namespace()}).Allows(id, nil) {
			t.Fatalf("%q is hidden in its own namespace", name)
		}
	})
}

func FuzzIdentityAndAlias(f *testing.F) {
	addNames(f)
	f.Fuzz(func(t *testing.T, name string) {
		if err := parley.IdentityID(name).Validate(); err != nil {
			refusal(t, err)
		} else {
			channel, id, ok := strings.Cut(name, ":")
			if !ok || channel == "" || id == "" || len(name) > parley.MaxIDBytes || !utf8.ValidString(name) {
				t.Fatalf("identity %q is accepted", name)
			}
			if i := strings.IndexFunc(name, cannotName); i >= 0 && !strings.HasPrefix(name[i:], "\ufffd") {
				t.Fatalf("identity %q is accepted", name)
			}
			// What names an identity can name a key and an alias as well.
			if parley.Key(name).Validate() != nil || parley.Alias(name).Validate() != nil {
				t.Fatalf("%q is an identity, but neither key nor alias", name)
			}
		}
		if err := parley.Alias(name).Validate(); err != nil {
			refusal(t, err)
		} else if name == "" || len(name) > parley.MaxAliasBytes || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
			t.Fatalf("alias %q is accepted", name)
		}
		if err := parley.Key(name).Validate(); err != nil {
			refusal(t, err)
		}
	})
}
