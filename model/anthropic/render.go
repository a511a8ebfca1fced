package anthropic

import (
	"fmt"
	"hash"
	"slices"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/parley-run/parley"
)

// What stands where the API wants something and there is nothing.
const (
	textBegin    = "(The conversation begins with what the assistant said.)"
	textGoOn     = "(Please go on.)"
	textNoOutput = "(There is no output.)"
	textUnknown  = "The outcome of this call is not known: the program stopped while it ran. It may or may not have had its effect."
)

// renderer puts messages together for the API, which knows two roles. Messages
// in a row that have the same become one. What it has rendered of a list, it
// renders in the same way of every longer list that begins with it.
type renderer struct {
	model string
	req   parley.ModelRequest
	out   []sdk.MessageParam

	// The message under way: what the assistant says, or what the user says after
	// the results of calls, which come first.
	role    sdk.MessageParamRole
	results []sdk.ContentBlockParamUnion
	blocks  []sdk.ContentBlockParamUnion
	lost    bool // a thought of it does not go back, and so none of them

	calls []call          // of the last thing the assistant said
	ids   map[string]bool // of calls, in use

	digest   hash.Hash // of what was rendered; see prefix
	digested int
}

// call is a call that waits for its result.
type call struct {
	id   parley.CallID
	as   string // its id for the API
	done bool
}

func newRenderer(model string, req parley.ModelRequest) *renderer {
	return &renderer{model: model, req: req, ids: map[string]bool{}}
}

// render gives the messages: at least one, beginning and ending with the user's,
// with one result for each call.
func (r *renderer) render(messages []parley.ModelMessage) ([]sdk.MessageParam, error) {
	for _, m := range messages {
		for _, p := range m.Parts {
			if m.Role == parley.MessageAssistant {
				r.said(p)
			} else {
				r.heard(m.Role, p)
			}
		}
	}
	if len(r.out) == 0 && len(r.blocks) == 0 && len(r.results) == 0 {
		return nil, parley.Errorf(parley.CodeInvalid, "there is no message to answer")
	}
	if r.role == sdk.MessageParamRoleAssistant {
		r.turn(sdk.MessageParamRoleUser)
		waiting := slices.ContainsFunc(r.calls, func(c call) bool { return !c.done })
		if !waiting && r.out[len(r.out)-1].Role == sdk.MessageParamRoleAssistant {
			r.text(textGoOn) // later models do not continue what they have said
		}
	}
	r.flush()
	return r.out, nil
}

// said renders a part of what the assistant said.
func (r *renderer) said(p parley.ModelPart) {
	switch {
	case p.Kind == parley.PartReasoning:
		if len(p.Opaque) == 0 {
			return
		}
		r.turn(sdk.MessageParamRoleAssistant)
		block, ok := openOpaque(p, r.model, r.prefix(r.out))
		if !ok {
			r.lost = true
			return
		}
		r.blocks = append(r.blocks, block)
	case p.Call != nil:
		r.turn(sdk.MessageParamRoleAssistant)
		as := r.callID(p.Call.ID)
		r.calls = append(r.calls, call{id: p.Call.ID, as: as})
		r.blocks = append(r.blocks, sdk.NewToolUseBlock(as, object(p.Call.Arguments), toolName(p.Call.Name)))
	case p.Kind == parley.PartText && strings.TrimSpace(p.Text) != "":
		r.turn(sdk.MessageParamRoleAssistant)
		r.text(p.Text)
	case p.Media != nil:
		r.turn(sdk.MessageParamRoleAssistant)
		r.text(mediaLine(p.Media, ""))
	case p.Result != nil:
		r.turn(sdk.MessageParamRoleAssistant)
		r.text(looseResult(p.Result))
	}
}

// heard renders a part of what people, tools and the system said.
func (r *renderer) heard(role parley.MessageRole, p parley.ModelPart) {
	switch {
	case p.Result != nil:
		i := slices.IndexFunc(r.calls, func(c call) bool { return c.id == p.Result.CallID && !c.done })
		if i < 0 {
			r.turn(sdk.MessageParamRoleUser)
			r.text(looseResult(p.Result))
			return
		}
		r.turn(sdk.MessageParamRoleUser)
		r.calls[i].done = true
		r.results = append(r.results, result(r.calls[i].as, p))
	case p.Kind == parley.PartText && strings.TrimSpace(p.Text) != "":
		r.turn(sdk.MessageParamRoleUser)
		text := p.Text
		if role == parley.MessageSystem {
			text = "[Note from the system, not from a person]\n" + text + "\n[End of the note]"
		}
		r.text(text)
	case p.Media != nil:
		r.turn(sdk.MessageParamRoleUser)
		r.blocks = append(r.blocks, media(p.Media, p.Data))
	case p.Call != nil:
		r.turn(sdk.MessageParamRoleUser)
		r.text(fmt.Sprintf("[Call of %s: %s]", toolName(p.Call.Name), object(p.Call.Arguments)))
	}
}

func (r *renderer) text(text string) { r.blocks = append(r.blocks, sdk.NewTextBlock(text)) }

// turn begins a message of that role, unless it is under way.
func (r *renderer) turn(role sdk.MessageParamRole) {
	if r.role == role {
		return
	}
	r.flush()
	r.role = role
	if role == sdk.MessageParamRoleAssistant {
		r.calls = nil
	}
}

// flush ends the message under way.
func (r *renderer) flush() {
	if r.role == sdk.MessageParamRoleUser {
		for i, c := range r.calls {
			if !c.done {
				r.calls[i].done = true
				r.results = append(r.results, sdk.NewToolResultBlock(c.as, parley.NoResult, true))
			}
		}
	}
	content := slices.Concat(r.results, r.blocks)
	if r.lost {
		content = slices.DeleteFunc(content, isThinking)
	}
	r.results, r.blocks, r.lost = nil, nil, false
	if len(content) > 0 && len(r.out) == 0 && r.role == sdk.MessageParamRoleAssistant {
		r.out = []sdk.MessageParam{sdk.NewUserMessage(sdk.NewTextBlock(textBegin))}
	}
	before := len(r.out)
	r.out = appendMessage(r.out, r.role, content)
	if len(content) > 0 && len(r.out) == before && r.digested >= before {
		r.digest, r.digested = nil, 0 // a message that was digested has grown
	}
}

// appendMessage adds content to messages, to the last one if that has the role.
func appendMessage(messages []sdk.MessageParam, role sdk.MessageParamRole, content []sdk.ContentBlockParamUnion) []sdk.MessageParam {
	if len(content) == 0 {
		return messages
	}
	if n := len(messages); n > 0 && messages[n-1].Role == role {
		messages[n-1].Content = append(messages[n-1].Content, content...)
		return messages
	}
	return append(messages, sdk.MessageParam{Role: role, Content: content})
}

// callID gives a call its id for the API: its own, if that has only characters
// that are allowed and is not taken.
func (r *renderer) callID(id parley.CallID) string {
	base := string(id)
	if base == "" || len(base) > 64 || strings.ContainsFunc(base, notNameRune) {
		base = "call_" + shortHash(base)
	}
	as := base
	for n := 2; r.ids[as]; n++ {
		as = fmt.Sprintf("%s_%d", base, n)
	}
	r.ids[as] = true
	return as
}

// toolName gives a name that the API takes, the same one where it can.
func toolName(name string) string {
	name = strings.Map(func(c rune) rune {
		if notNameRune(c) {
			return '_'
		}
		return c
	}, name)
	if name == "" {
		return "_"
	}
	return name[:min(len(name), 64)]
}

func notNameRune(c rune) bool {
	return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-'
}

// looseResult shows the result of a call that is not there.
func looseResult(result *parley.ToolResult) string {
	text := result.Text
	if strings.TrimSpace(text) == "" {
		text = textNoOutput
	}
	return "[Result of a call that is not shown]\n" + text
}
