package anthropic

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/parley-run/parley"
)

// How long an answer may get where the request does not say. Thinking counts as
// part of the answer.
const (
	defaultTokens = 16_384
	unknownTokens = 8_192 // for models whose limit is not known
)

// params renders a request. Requests that begin alike are rendered alike: only
// the last block of the last message has a marker for the prompt cache, and the
// system prompt, or the last tool if there is none.
//
// The second result names what the answer is said after; see [renderer.prefix].
func (m *Model) params(req parley.ModelRequest) (sdk.MessageNewParams, string, error) {
	tools, err := renderTools(req.Tools)
	if err != nil {
		return sdk.MessageNewParams{}, "", err
	}
	r := newRenderer(m.config.Model, req)
	messages, err := r.render(req.Messages)
	if err != nil {
		return sdk.MessageNewParams{}, "", err
	}
	p := sdk.MessageNewParams{Model: m.config.Model, Tools: tools, Messages: messages}
	m.limit(&p, req.MaxTokens)
	if m.config.Effort != "" {
		p.OutputConfig.Effort = sdk.OutputConfigEffort(m.config.Effort)
	}
	prefix := r.prefix(messages)
	if m.config.Thinking > 0 && !m.traits.adaptive && p.Thinking.OfEnabled == nil {
		// A model that takes budgets, and gets none, takes no older thoughts either.
		p.Messages = withoutThinking(messages)
	}
	if strings.TrimSpace(req.System) != "" {
		p.System = []sdk.TextBlockParam{{Text: req.System, CacheControl: sdk.NewCacheControlEphemeralParam()}}
	} else if n := len(p.Tools); n > 0 {
		p.Tools[n-1].OfTool.CacheControl = sdk.NewCacheControlEphemeralParam()
	}
	last := p.Messages[len(p.Messages)-1].Content
	if marker := last[len(last)-1].GetCacheControl(); marker != nil {
		*marker = sdk.NewCacheControlEphemeralParam()
	}
	return p, prefix, nil
}

// limit sets how long the answer may get, and how much of that is thinking.
func (m *Model) limit(p *sdk.MessageNewParams, wanted int) {
	budget := m.config.Thinking
	if m.traits.adaptive {
		budget = 0
	}
	tokens := wanted
	if tokens <= 0 {
		tokens = unknownTokens
		if m.info.MaxOutput > 0 {
			tokens = defaultTokens
		}
		tokens += budget
	}
	if m.info.MaxOutput > 0 {
		tokens = min(tokens, m.info.MaxOutput)
	}
	p.MaxTokens = int64(tokens)
	switch {
	case m.config.Thinking == 0:
	case m.traits.adaptive:
		p.Thinking.OfAdaptive = &sdk.ThinkingConfigAdaptiveParam{Display: sdk.ThinkingConfigAdaptiveDisplaySummarized}
	case thoughtful(p.Messages):
		if budget >= tokens {
			budget = tokens / 2
		}
		if budget >= minThinking {
			p.Thinking = sdk.ThinkingConfigParamOfEnabled(int64(budget))
		}
	}
}

// thoughtful reports whether a model that takes budgets can think: if the last
// thing said has calls, it must begin with a thought of the model's own.
func thoughtful(messages []sdk.MessageParam) bool {
	for _, msg := range slices.Backward(messages) {
		if msg.Role != sdk.MessageParamRoleAssistant {
			continue
		}
		first := msg.Content[0]
		calls := slices.ContainsFunc(msg.Content, func(b sdk.ContentBlockParamUnion) bool { return b.OfToolUse != nil })
		return !calls || isThinking(first)
	}
	return true
}

func isThinking(b sdk.ContentBlockParamUnion) bool {
	return b.OfThinking != nil || b.OfRedactedThinking != nil
}

// withoutThinking takes the thoughts away. A message of thoughts alone goes, and
// its neighbours become one.
func withoutThinking(messages []sdk.MessageParam) []sdk.MessageParam {
	var out []sdk.MessageParam
	for _, msg := range messages {
		msg.Content = slices.DeleteFunc(slices.Clone(msg.Content), isThinking)
		out = appendMessage(out, msg.Role, msg.Content)
	}
	return out
}

// renderTools renders tools in the order they come.
func renderTools(specs []parley.ToolSpec) ([]sdk.ToolUnionParam, error) {
	var tools []sdk.ToolUnionParam
	for _, spec := range specs {
		schema, err := objectSchema(spec)
		if err != nil {
			return nil, err
		}
		tool := &sdk.ToolParam{Name: spec.Name, InputSchema: param.Override[sdk.ToolInputSchemaParam](schema)}
		if spec.Description != "" {
			tool.Description = sdk.String(spec.Description)
		}
		tools = append(tools, sdk.ToolUnionParam{OfTool: tool})
	}
	return tools, nil
}

// objectSchema gives the schema of a tool, which must be one of an object. What
// does not say so is completed.
func objectSchema(spec parley.ToolSpec) (json.RawMessage, error) {
	if len(bytes.TrimSpace(spec.Schema)) == 0 {
		return json.RawMessage(`{"type":"object"}`), nil
	}
	var schema bytes.Buffer
	var fields map[string]json.RawMessage
	if json.Compact(&schema, spec.Schema) != nil || json.Unmarshal(spec.Schema, &fields) != nil || fields == nil {
		return nil, parley.Errorf(parley.CodeInvalid, "the schema of tool %q is no JSON object", spec.Name)
	}
	switch kind := string(fields["type"]); {
	case kind == `"object"`:
		return schema.Bytes(), nil
	case kind != "":
		return nil, parley.Errorf(parley.CodeInvalid, "the schema of tool %q must be of type object", spec.Name)
	case len(fields) == 0:
		return json.RawMessage(`{"type":"object"}`), nil
	}
	return append([]byte(`{"type":"object",`), schema.Bytes()[1:]...), nil
}
