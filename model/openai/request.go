package openai

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"github.com/parley-run/parley"
)

// maxCacheKey is how long a prompt_cache_key may be.
const maxCacheKey = 64

// params gives the request as the SDK wants it. The SDK writes the messages
// before everything else, so that requests which begin alike are bodies that
// begin alike.
func (m *Model) params(req parley.ModelRequest) (sdk.ChatCompletionNewParams, error) {
	p := sdk.ChatCompletionNewParams{
		Model:           m.cfg.Model,
		Messages:        m.messages(req.System, req.Messages),
		ReasoningEffort: shared.ReasoningEffort(m.cfg.ReasoningEffort),
	}
	if len(p.Messages) == 0 {
		return p, parley.Errorf(parley.CodeInvalid, "there is nothing to ask %s: the request has no message", m.info.Name)
	}
	for _, spec := range req.Tools {
		tool, err := toolParam(spec)
		if err != nil {
			return p, err
		}
		p.Tools = append(p.Tools, tool)
	}
	if len(p.Tools) > 0 && m.traits.quiet && p.ReasoningEffort == "" {
		p.ReasoningEffort = shared.ReasoningEffortNone
	}
	if !m.cfg.NoUsage {
		p.StreamOptions.IncludeUsage = param.NewOpt(true)
	}
	if most := int64(req.MaxTokens); most > 0 {
		if m.info.MaxOutput > 0 {
			most = min(most, int64(m.info.MaxOutput))
		}
		if m.official {
			p.MaxCompletionTokens = param.NewOpt(most)
		} else {
			p.MaxTokens = param.NewOpt(most)
		}
	}
	if m.official && req.CacheKey != "" {
		key := req.CacheKey
		if len(key) > maxCacheKey {
			sum := sha256.Sum256([]byte(key))
			key = hex.EncodeToString(sum[:])
		}
		p.PromptCacheKey = param.NewOpt(key)
	}
	return p, nil
}

// toolParam gives a tool as the SDK wants it, with its schema as it was written:
// the order of properties tells the model something.
func toolParam(spec parley.ToolSpec) (sdk.ChatCompletionToolUnionParam, error) {
	schema, err := objectSchema(spec.Schema)
	if err != nil {
		return sdk.ChatCompletionToolUnionParam{}, parley.Errorf(parley.CodeInvalid, "the schema of tool %q is no JSON object", spec.Name)
	}
	f := shared.FunctionDefinitionParam{Name: spec.Name}
	if spec.Description != "" {
		f.Description = param.NewOpt(spec.Description)
	}
	f.SetExtraFields(map[string]any{"parameters": schema})
	return sdk.ChatCompletionFunctionTool(f), nil
}

// objectSchema gives a schema with what OpenAI wants at its top: the type, and
// properties even if there are none.
func objectSchema(raw json.RawMessage) (json.RawMessage, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage(`{}`)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, err
	}
	if fields == nil { // null
		raw = json.RawMessage(`{}`)
	}
	var out bytes.Buffer
	if err := json.Compact(&out, raw); err != nil {
		return nil, err
	}
	schema := out.Bytes()
	for _, missing := range []struct{ name, value string }{
		{"properties", `"properties":{}`},
		{"type", `"type":"object"`},
	} {
		if _, ok := fields[missing.name]; ok {
			continue
		}
		head := "{" + missing.value
		if len(schema) > len("{}") {
			head += ","
		}
		schema = slices.Concat([]byte(head), schema[1:])
	}
	return schema, nil
}
