package openai

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"

	"github.com/parley-run/parley"
)

// messages renders the system prompt and the messages. What becomes of a message
// depends on itself, and on the results of its calls, alone: so what was rendered
// for one request is rendered alike for the next.
//
// The API wants the answers to calls right after the message that made them, one
// for each. So results are looked for up to the next message of the model, and
// what stood between goes after them.
func (m *Model) messages(system string, messages []parley.ModelMessage) []sdk.ChatCompletionMessageParamUnion {
	var out []sdk.ChatCompletionMessageParamUnion
	if system != "" {
		out = append(out, sdk.SystemMessage(system))
	}
	for i, msg := range messages {
		switch msg.Role {
		case parley.MessageSystem:
			if text := m.text(msg.Parts); text != "" {
				out = append(out, sdk.SystemMessage(text))
			}
		case parley.MessageUser:
			if parts := m.content(msg.Parts); len(parts) > 0 {
				out = append(out, userMessage(parts))
			}
		case parley.MessageAssistant:
			out = append(out, m.assistant(msg, messages[i+1:])...)
		case parley.MessageTool:
			// With the message that made the calls.
		}
	}
	return out
}

// assistant renders a message of the model, the results of its calls, and what
// the results showed besides text. A message with neither text nor calls is left
// out, as the API refuses it.
func (m *Model) assistant(msg parley.ModelMessage, rest []parley.ModelMessage) []sdk.ChatCompletionMessageParamUnion {
	var said sdk.ChatCompletionAssistantMessageParam
	text := m.text(msg.Parts)
	if text != "" {
		said.Content.OfString = param.NewOpt(text)
	}
	var calls []*parley.ToolCall
	for _, p := range msg.Parts {
		if p.Kind == parley.PartToolCall && p.Call != nil {
			calls = append(calls, p.Call)
		}
	}
	ids := wireIDs(calls)
	for i, call := range calls {
		said.ToolCalls = append(said.ToolCalls, sdk.ChatCompletionMessageToolCallUnionParam{
			OfFunction: &sdk.ChatCompletionMessageFunctionToolCallParam{
				ID: ids[i],
				Function: sdk.ChatCompletionMessageFunctionToolCallFunctionParam{
					Name: wireName(call.Name), Arguments: wireArguments(call.Arguments),
				},
			},
		})
	}
	if text == "" && len(calls) == 0 {
		return nil
	}
	out := []sdk.ChatCompletionMessageParamUnion{{OfAssistant: &said}}
	results, besides := m.results(rest)
	for i, call := range calls {
		result := parley.ModelPart{Part: parley.Part{Result: &parley.ToolResult{Text: parley.NoResult, IsError: true}}}
		if at := slices.IndexFunc(results, func(p parley.ModelPart) bool { return p.Result.CallID == call.ID }); at >= 0 {
			result = results[at]
			results = slices.Delete(results, at, at+1)
		}
		text, shown := m.result(call, result)
		out = append(out, sdk.ToolMessage(text, ids[i]))
		besides = append(besides, shown...)
	}
	if len(besides) > 0 {
		out = append(out, userMessage(besides))
	}
	return out
}

// results gives the results among the messages up to the model's next one, and
// what else the messages of tools have.
func (m *Model) results(rest []parley.ModelMessage) (results []parley.ModelPart, besides []sdk.ChatCompletionContentPartUnionParam) {
	for _, msg := range rest {
		if msg.Role == parley.MessageAssistant {
			break
		}
		if msg.Role != parley.MessageTool {
			continue
		}
		var others []parley.ModelPart
		for _, p := range msg.Parts {
			if p.Kind == parley.PartToolResult && p.Result != nil {
				results = append(results, p)
			} else {
				others = append(others, p)
			}
		}
		besides = append(besides, m.content(others)...)
	}
	return results, besides
}

// result gives the text of a result, and the image that it shows, which the API
// does not take in the message of a tool.
func (m *Model) result(call *parley.ToolCall, p parley.ModelPart) (string, []sdk.ChatCompletionContentPartUnionParam) {
	r := p.Result
	var lines []string
	switch {
	case r.Unknown:
		lines = append(lines, "The outcome of this call is not known: the process ended while it ran. It may or may not have had its effect.")
	case r.IsError:
		lines = append(lines, "This call has failed.")
	}
	if r.Text != "" {
		lines = append(lines, r.Text)
	}
	var shown []sdk.ChatCompletionContentPartUnionParam
	if r.Media != nil {
		if image, ok := m.image(r.Media, p.Data); ok {
			lines = append(lines, "The image follows in the next message.")
			shown = append(shown, sdk.TextContentPart("The image that "+wireName(call.Name)+" gave:"), image)
		} else {
			lines = append(lines, mediaLine(r.Media))
		}
	}
	if len(lines) == 0 {
		return "(no output)", nil
	}
	return strings.Join(lines, "\n"), shown
}

// text gives what can be said in text alone. Reasoning is left out: this API has
// no way to take it back.
func (m *Model) text(parts []parley.ModelPart) string {
	var lines []string
	for _, p := range parts {
		switch {
		case p.Kind == parley.PartText && p.Text != "":
			lines = append(lines, p.Text)
		case p.Kind == parley.PartMedia && p.Media != nil:
			lines = append(lines, mediaLine(p.Media))
		}
	}
	return strings.Join(lines, "\n")
}

// content gives the parts of a message with images.
func (m *Model) content(parts []parley.ModelPart) []sdk.ChatCompletionContentPartUnionParam {
	var out []sdk.ChatCompletionContentPartUnionParam
	for _, p := range parts {
		switch {
		case p.Kind == parley.PartText && p.Text != "":
			out = append(out, sdk.TextContentPart(p.Text))
		case p.Kind == parley.PartMedia && p.Media != nil:
			if image, ok := m.image(p.Media, p.Data); ok {
				out = append(out, image)
			} else {
				out = append(out, sdk.TextContentPart(mediaLine(p.Media)))
			}
		}
	}
	return out
}

// userMessage gives a message of the user. Without images its content is a plain
// string, which every server takes.
func userMessage(parts []sdk.ChatCompletionContentPartUnionParam) sdk.ChatCompletionMessageParamUnion {
	lines := make([]string, 0, len(parts))
	for _, p := range parts {
		if p.OfText == nil {
			return sdk.UserMessage(parts)
		}
		lines = append(lines, p.OfText.Text)
	}
	return sdk.UserMessage(strings.Join(lines, "\n"))
}

// plainType is what a media type looks like.
var plainType = regexp.MustCompile(`^[\w.+-]{1,64}/[\w.+-]{1,64}$`)

// mediaLine stands for media that the model cannot be shown. Who sent it chose the
// name and the type: they are quoted and cut, so that they can neither end the line
// nor look like ours.
func mediaLine(media *parley.Media) string {
	kind := media.Type
	if !plainType.MatchString(kind) {
		kind = fmt.Sprintf("%.64q", kind)
	}
	line := "[A file of type " + kind
	if media.Name != "" {
		line += fmt.Sprintf(" named %.128q", media.Name)
	}
	if media.Size > 0 {
		line += fmt.Sprintf(", %d bytes", media.Size)
	}
	return line + ", which cannot be shown here.]"
}
