package turn

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/parley-run/parley"
)

const (
	// maxCalls is how many calls one answer may have.
	maxCalls = 64
	// maxProse is how many parts of text and reasoning it may have; what comes
	// after is added to the last of its kind.
	maxProse = 128
)

// answer is what one model call has said so far.
type answer struct {
	id    string // of the message it becomes; names its stream
	model parley.ModelInfo
	done  *parley.ModelDone
	cut   bool // it was longer than allowed

	scrubber Scrubber
	delta    func(n int, kind parley.PartKind, text string)
	room     int // how much more there may be, as stored
	size     int // bytes of text and arguments
	deltas   int

	parts  []parley.Part
	opaque map[int][]byte
	calls  int

	// The part that is being written: scrubbed bytes arrive in text.
	kind parley.PartKind // "": none
	in   io.WriteCloser
	text bytes.Buffer
}

// started reports whether anything has arrived.
func (a *answer) started() bool { return a.size > 0 || a.calls > 0 || a.kind != "" }

// add takes the next piece.
func (a *answer) add(p parley.ModelPiece) error {
	if p.Call != nil {
		if err := a.end(nil); err != nil {
			return err
		}
		a.addCall(*p.Call)
		return nil
	}
	text := strings.ReplaceAll(strings.ToValidUTF8(p.Text, "\uFFFD"), "\x00", "")
	if text == "" && p.Opaque == nil {
		return nil
	}
	if p.Kind != parley.PartReasoning {
		p.Kind = parley.PartText
	}
	if a.kind != p.Kind {
		if err := a.begin(p.Kind); err != nil {
			return err
		}
	}
	text, a.cut = cutStored(text, &a.room)
	a.size += len(text)
	if _, err := io.WriteString(a.in, text); err != nil {
		return err
	}
	if p.Opaque != nil {
		return a.end(p.Opaque)
	}
	return nil
}

func (a *answer) begin(kind parley.PartKind) error {
	if err := a.end(nil); err != nil {
		return err
	}
	a.kind = kind
	a.in = a.scrubber.Writer(deltaWriter{a})
	return nil
}

// deltaWriter shows what has been scrubbed, and keeps it.
type deltaWriter struct{ a *answer }

func (w deltaWriter) Write(p []byte) (int, error) {
	w.a.text.Write(p)
	w.a.deltas++
	w.a.delta(w.a.deltas, w.a.kind, strings.ToValidUTF8(string(p), "\uFFFD"))
	return len(p), nil
}

// end ends the part that is being written, if there is one.
func (a *answer) end(opaque []byte) error {
	if a.kind == "" {
		return nil
	}
	if err := a.in.Close(); err != nil {
		return err
	}
	text := strings.ToValidUTF8(a.text.String(), "\uFFFD")
	if text != "" || opaque != nil {
		a.addProse(text, opaque)
	}
	a.kind, a.in = "", nil
	a.text.Reset()
	return nil
}

// addProse adds a part. Where there are too many, it becomes a piece of the last one
// of its kind, and the model does without its own form of it.
func (a *answer) addProse(text string, opaque []byte) {
	if len(a.parts) >= maxProse {
		for i := len(a.parts) - 1; i >= 0; i-- {
			if a.parts[i].Kind == a.kind {
				a.parts[i].Text += text
				delete(a.opaque, i)
				return
			}
		}
	}
	if opaque != nil {
		a.opaque[len(a.parts)] = opaque
	}
	a.parts = append(a.parts, parley.Part{Kind: a.kind, Text: text})
}

// addCall takes a call, under a name of our own: those of providers need not be
// unique, and the journal and the next request both rely on that.
func (a *answer) addCall(call parley.ToolCall) {
	a.calls++
	_, tooLong := cutStored(string(call.Arguments), &a.room)
	if a.cut = tooLong || a.calls > maxCalls; a.cut {
		return
	}
	a.size += len(call.Arguments)
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d", a.id, a.calls))
	call.ID = parley.CallID("call_" + hex.EncodeToString(sum[:10]))
	call.Name = toolName(a.scrubber.Text(call.Name))
	call.Arguments = arguments(a.scrubArguments(string(call.Arguments)))
	a.parts = append(a.parts, parley.Part{Kind: parley.PartToolCall, Call: &call})
}

// toolName gives a name that providers take back in the next request.
func toolName(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, name)
	if name == "" {
		return "unnamed"
	}
	return name[:min(len(name), 64)]
}

// arguments gives arguments that can be stored: as they are, or, if they are no
// JSON or nested too deeply, the text of them.
func arguments(text string) json.RawMessage {
	if text == "" {
		return json.RawMessage("{}")
	}
	part := parley.Part{Kind: parley.PartToolCall, Call: &parley.ToolCall{ID: "any", Name: "any", Arguments: json.RawMessage(text)}}
	if parley.ValidateParts([]parley.Part{part}) == nil {
		return part.Call.Arguments
	}
	quoted, err := json.Marshal(strings.ToValidUTF8(text, "\uFFFD"))
	if err != nil { // a string can always be written
		return json.RawMessage(`""`)
	}
	return quoted
}

// scrubArguments takes secrets out of arguments: as they are written, and as a tool
// would read them.
func (a *answer) scrubArguments(text string) string {
	text = a.scrubber.Text(text)
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return text
	}
	changed := false
	var scrub func(v any) any
	scrub = func(v any) any {
		switch v := v.(type) {
		case string:
			clean := a.scrubber.Text(v)
			changed = changed || clean != v
			return clean
		case []any:
			for i := range v {
				v[i] = scrub(v[i])
			}
		case map[string]any:
			clean := make(map[string]any, len(v))
			for name, field := range v {
				key := a.scrubber.Text(name)
				changed = changed || key != name
				clean[key] = scrub(field)
			}
			return clean
		}
		return v
	}
	value = scrub(value)
	if !changed {
		return text
	}
	clean, err := json.Marshal(value)
	if err != nil { // what was decoded can be encoded
		return "{}"
	}
	return string(clean)
}

// message gives the answer as it is stored. Without calls it has its words alone.
func (a *answer) message(withCalls bool) parley.Message {
	m := parley.Message{ID: a.id, Role: parley.MessageAssistant, Model: a.model.Name}
	for _, p := range a.parts {
		if p.Call == nil || withCalls {
			m.Parts = append(m.Parts, p)
		}
	}
	return m
}

// usage gives what the model call consumed: as the provider said or, if it did not
// say, or was stopped before it could, about.
func (a *answer) usage(req parley.ModelRequest) parley.Usage {
	if a.done != nil && a.done.Usage != (parley.Usage{}) {
		return a.done.Usage
	}
	if !a.started() {
		return parley.Usage{}
	}
	u := parley.Usage{InputTokens: int64(tokensAbout(req)), OutputTokens: int64(a.size+3) / 4}
	if a.model.Price != nil {
		u.CostMicroUSD = a.model.Price.Cost(u)
	}
	return u
}

// cutBefore cuts text to at most n bytes, between characters.
func cutBefore(text string, n int) string {
	if n >= len(text) {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// cutStored cuts text to what has room once it is written as JSON, and takes that
// room away.
func cutStored(text string, room *int) (kept string, cut bool) {
	for i, r := range text {
		n := utf8.RuneLen(r)
		switch {
		case r < ' ', r == '<', r == '>', r == '&', r == '\u2028', r == '\u2029', r == utf8.RuneError:
			n = 6
		case r == '"', r == '\\':
			n = 2
		}
		if n > *room {
			return text[:i], true
		}
		*room -= n
	}
	return text, false
}
