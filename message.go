package parley

import (
	"encoding/json"
	"strings"
	"unicode"
)

// Message is one entry of the transcript, the body of a session:message event.
// An input is shown by one message: naming one that is not the session's is
// [CodeNotFound], naming one a second time [CodeConflict].
type Message struct {
	ID     string      `json:"id"`
	Role   MessageRole `json:"role"`
	Parts  []Part      `json:"parts"`
	Inputs []InputRef  `json:"inputs,omitempty"` // the inputs of its session that it shows to the model
	Sender *Sender     `json:"sender,omitempty"` // who wrote it, where several people can
	Model  string      `json:"model,omitempty"`  // which model answered
	// Undirected says that it was not meant for the agent, in a group.
	Undirected bool `json:"undirected,omitempty"`
	// Hidden messages are for people alone: models are not shown them.
	Hidden bool `json:"hidden,omitempty"`
}

// MessageRole says who speaks.
type MessageRole string

// The roles of messages.
const (
	MessageUser      MessageRole = "user"
	MessageAssistant MessageRole = "assistant"
	MessageTool      MessageRole = "tool"
	MessageSystem    MessageRole = "system"
)

// Part is one piece of durable content. Kind says which of the other fields is
// set: Text for text and reasoning, else the one of that name.
type Part struct {
	Kind PartKind `json:"type"`
	Text string   `json:"text,omitempty"`
	// Note marks a text that the runtime added for the model, such as the time:
	// nobody wrote it.
	Note   bool        `json:"note,omitempty"`
	Media  *Media      `json:"media,omitempty"`
	Call   *ToolCall   `json:"tool_call,omitempty"`
	Result *ToolResult `json:"tool_result,omitempty"`
}

// PartKind is the kind of a [Part].
type PartKind string

// The kinds of parts.
const (
	PartText       PartKind = "text"
	PartReasoning  PartKind = "reasoning" // the text alone; a provider's signature lives in the open turn only
	PartMedia      PartKind = "media"
	PartToolCall   PartKind = "tool_call"
	PartToolResult PartKind = "tool_result"
)

// Media refers to a [Blob] by its handle; bytes are never inline. A handle that
// the store does not have, and that the batch does not register, is
// [CodeNotFound].
type Media struct {
	Handle string `json:"handle"`
	Type   string `json:"media_type"`
	Name   string `json:"name,omitempty"`
	Size   int64  `json:"size,omitempty"`
}

// ToolCall is the model's wish to run a tool.
type ToolCall struct {
	ID        CallID          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

// ToolResult is what a tool gave back. Unknown means that the process died
// while the tool ran, or that the tool was given up, so nobody can say what it did.
type ToolResult struct {
	CallID  CallID `json:"call_id"`
	Text    string `json:"text,omitempty"`
	Media   *Media `json:"media,omitempty"`
	IsError bool   `json:"is_error,omitempty"`
	Unknown bool   `json:"unknown,omitempty"`
}

// ResultMessage is the message that shows a tool's result to the model.
func ResultMessage(r ToolResult) Message {
	return Message{ID: string(r.CallID) + ".result", Role: MessageTool, Parts: []Part{{Kind: PartToolResult, Result: &r}}}
}

// Calls gives the calls of a message.
func (m *Message) Calls() []ToolCall {
	var calls []ToolCall
	for _, p := range m.Parts {
		if p.Call != nil {
			calls = append(calls, *p.Call)
		}
	}
	return calls
}

// TextPart makes a text part.
func TextPart(text string) Part { return Part{Kind: PartText, Text: text} }

// PlainText gives the text parts, one per line, without notes.
func PlainText(parts []Part) string {
	var b strings.Builder
	for _, p := range parts {
		if p.Kind != PartText || p.Note {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(p.Text)
	}
	return b.String()
}

// previewRunes is how much of a message a list of sessions shows.
const previewRunes = 120

// Preview gives the one line of m that a list of sessions shows, or "" for
// messages that no list shows: those of tools and the system, and those
// without text.
func (m *Message) Preview() string {
	if m.Role != MessageUser && m.Role != MessageAssistant {
		return ""
	}
	var b strings.Builder
	runes, gap := 0, false
	for _, p := range m.Parts {
		if p.Kind != PartText || p.Note {
			continue
		}
		for _, r := range p.Text {
			if unicode.IsSpace(r) || unicode.IsControl(r) {
				gap = runes > 0
				continue
			}
			more := 1
			if gap {
				more = 2
			}
			if runes+more > previewRunes {
				b.WriteRune('…')
				return b.String()
			}
			if gap {
				b.WriteByte(' ')
				gap = false
			}
			b.WriteRune(r)
			runes += more
		}
		gap = runes > 0
	}
	return b.String()
}

func (m *Message) validate() error {
	switch m.Role {
	case MessageUser, MessageAssistant, MessageTool, MessageSystem:
	default:
		return invalidf("message role %s is not known", quote(string(m.Role)))
	}
	if err := checkID("message id", m.ID); err != nil {
		return err
	}
	if err := checkText("model name", m.Model, 0, MaxNameBytes); err != nil {
		return err
	}
	if m.Sender != nil {
		if err := m.Sender.validate(); err != nil {
			return err
		}
	}
	for _, ref := range m.Inputs {
		if err := ref.Validate(); err != nil {
			return err
		}
	}
	return ValidateParts(m.Parts)
}

// ValidateParts reports whether parts can be stored.
func ValidateParts(parts []Part) error {
	if len(parts) > MaxParts {
		return tooLargef("message has %d parts; at most %d are allowed", len(parts), MaxParts)
	}
	for i := range parts {
		if err := parts[i].validate(); err != nil {
			return err
		}
	}
	return nil
}

func (p *Part) validate() error {
	if p.Note && p.Kind != PartText {
		return invalidf("a note is a text, not of kind %s", quote(string(p.Kind)))
	}
	set := 0
	for _, b := range []bool{p.Text != "", p.Media != nil, p.Call != nil, p.Result != nil} {
		if b {
			set++
		}
	}
	if set > 1 {
		return invalidf("a part of kind %s holds more than its own content", quote(string(p.Kind)))
	}
	switch p.Kind {
	case PartText, PartReasoning:
		if p.Media != nil || p.Call != nil || p.Result != nil {
			return invalidf("a %s part holds only text", p.Kind)
		}
		return checkProse("text", p.Text, MaxBodyBytes)
	case PartMedia:
		if p.Media == nil {
			return invalidf("a media part needs its media")
		}
		return p.Media.validate()
	case PartToolCall:
		if p.Call == nil {
			return invalidf("a tool_call part needs its call")
		}
		return p.Call.validate()
	case PartToolResult:
		if p.Result == nil {
			return invalidf("a tool_result part needs its result")
		}
		return p.Result.validate()
	}
	return invalidf("part kind %s is not known; it must be text, reasoning, media, tool_call or tool_result", quote(string(p.Kind)))
}

func (m *Media) validate() error {
	if err := BlobHandle(m.Handle).Validate(); err != nil {
		return err
	}
	if err := checkText("media type", m.Type, 1, MaxIDBytes); err != nil {
		return err
	}
	if m.Size < 0 {
		return invalidf("media size must not be negative")
	}
	return checkText("media name", m.Name, 0, MaxNameBytes)
}

func (c *ToolCall) validate() error {
	if err := checkID("call id", string(c.ID)); err != nil {
		return err
	}
	if err := checkText("tool name", c.Name, 1, MaxNameBytes); err != nil {
		return err
	}
	return checkJSON("tool arguments", c.Arguments)
}

func (r *ToolResult) validate() error {
	if err := checkID("call id", string(r.CallID)); err != nil {
		return err
	}
	if r.Media != nil {
		if err := r.Media.validate(); err != nil {
			return err
		}
	}
	return checkProse("tool result", r.Text, MaxBodyBytes)
}
