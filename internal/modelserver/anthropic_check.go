package modelserver

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// anthropicRequest is a request that is well-formed.
type anthropicRequest struct {
	model     string
	maxTokens int
	thinking  string // the type; empty: not said
	system    any
	tools     any
	messages  []anthropicMessage
}

type anthropicMessage struct {
	role   string
	blocks []map[string]any
}

// anthropicRefusal is why a request is not answered.
type anthropicRefusal struct {
	status  int
	message string
}

func anthropicRefuse(format string, args ...any) *anthropicRefusal {
	return &anthropicRefusal{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

var (
	anthropicIDs   = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
	anthropicNames = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	// anthropicAdaptive are the models that decide by themselves how much they
	// think, and take neither a budget nor the beginning of an answer.
	anthropicAdaptive = regexp.MustCompile(`^claude-[a-z]+-(5|4-[78])\b`)
	// anthropicBound are those whose thinking belongs to what stood before it.
	anthropicBound = regexp.MustCompile(`^claude-[a-z]+-5-[15]$`)
	anthropicBlobs = []string{"image/jpeg", "image/png", "image/gif", "image/webp"}
)

var anthropicFields = []string{
	"model", "messages", "max_tokens", "system", "tools", "tool_choice", "thinking", "output_config", "stream", "metadata",
	"stop_sequences", "temperature", "top_k", "top_p", "service_tier", "cache_control",
}

// anthropicParse reads a request, or says why the real one would refuse it.
func anthropicParse(req Request) (*anthropicRequest, *anthropicRefusal) {
	if req.Header.Get("X-Api-Key") == "" {
		return nil, &anthropicRefusal{http.StatusUnauthorized, "x-api-key header is required"}
	}
	if req.Header.Get("Anthropic-Version") == "" {
		return nil, anthropicRefuse("anthropic-version: header is required")
	}
	dec := json.NewDecoder(bytes.NewReader(req.Body))
	dec.UseNumber()
	var body map[string]any
	if err := dec.Decode(&body); err != nil {
		return nil, anthropicRefuse("The request body is not valid JSON")
	}
	if refusal := anthropicKnown("", body, anthropicFields...); refusal != nil {
		return nil, refusal
	}
	for _, name := range []string{"model", "max_tokens", "messages"} {
		if body[name] == nil {
			return nil, anthropicRefuse("%s: Field required", name)
		}
	}
	if body["stream"] != true {
		return nil, anthropicRefuse("stream: this server only streams")
	}
	r := &anthropicRequest{system: body["system"], tools: body["tools"]}
	r.model, _ = body["model"].(string)
	r.maxTokens = anthropicInt(body["max_tokens"])
	if r.model == "" || r.maxTokens < 1 {
		return nil, anthropicRefuse("model, max_tokens: Input should be valid")
	}
	for _, check := range []func(map[string]any) *anthropicRefusal{
		r.readSystem, r.readTools, r.readThinking, r.readMessages, r.checkCalls, r.checkThinking, r.checkEnd, checkAnthropicMarkers,
	} {
		if refusal := check(body); refusal != nil {
			return nil, refusal
		}
	}
	return r, nil
}

func (r *anthropicRequest) readSystem(body map[string]any) *anthropicRefusal {
	blocks, isList := body["system"].([]any)
	if _, isText := body["system"].(string); body["system"] == nil || isText {
		return nil
	}
	if !isList {
		return anthropicRefuse("system: Input should be a valid list")
	}
	for i, b := range blocks {
		block, _ := b.(map[string]any)
		if block["type"] != "text" {
			return anthropicRefuse("system.%d: only text is allowed", i)
		}
		if refusal := checkAnthropicText(fmt.Sprintf("system.%d", i), block); refusal != nil {
			return refusal
		}
	}
	return nil
}

func (r *anthropicRequest) readTools(body map[string]any) *anthropicRefusal {
	tools, isList := body["tools"].([]any)
	if body["tools"] != nil && !isList {
		return anthropicRefuse("tools: Input should be a valid list")
	}
	seen := map[string]bool{}
	for i, t := range tools {
		at := fmt.Sprintf("tools.%d", i)
		tool, _ := t.(map[string]any)
		if refusal := anthropicKnown(at, tool, "name", "description", "input_schema", "cache_control", "type", "strict"); refusal != nil {
			return refusal
		}
		name, _ := tool["name"].(string)
		if !anthropicNames.MatchString(name) {
			return anthropicRefuse("%s.custom.name: String should match pattern '%s'", at, anthropicNames)
		}
		if seen[name] {
			return anthropicRefuse("tools: Tool names must be unique.")
		}
		seen[name] = true
		schema, _ := tool["input_schema"].(map[string]any)
		if schema["type"] != "object" {
			return anthropicRefuse("%s.custom.input_schema.type: Input should be 'object'", at)
		}
	}
	return nil
}

func (r *anthropicRequest) readThinking(body map[string]any) *anthropicRefusal {
	if body["thinking"] == nil {
		return nil
	}
	thinking, _ := body["thinking"].(map[string]any)
	r.thinking, _ = thinking["type"].(string)
	switch r.thinking {
	case "enabled":
		if anthropicAdaptive.MatchString(r.model) {
			return anthropicRefuse(`"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.`)
		}
		budget := anthropicInt(thinking["budget_tokens"])
		if budget < 1024 {
			return anthropicRefuse("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
		}
		if budget >= r.maxTokens {
			return anthropicRefuse("`max_tokens` must be greater than `thinking.budget_tokens`.")
		}
		return anthropicKnown("thinking.enabled", thinking, "type", "budget_tokens", "display")
	case "adaptive":
		return anthropicKnown("thinking.adaptive", thinking, "type", "display")
	case "disabled":
		return anthropicKnown("thinking.disabled", thinking, "type")
	}
	return anthropicRefuse("thinking: Input tag '%s' found using 'type' does not match any of the expected tags", r.thinking)
}

func (r *anthropicRequest) readMessages(body map[string]any) *anthropicRefusal {
	messages, _ := body["messages"].([]any)
	if len(messages) == 0 {
		return anthropicRefuse("messages: at least one message is required")
	}
	for i, m := range messages {
		at := fmt.Sprintf("messages.%d", i)
		message, _ := m.(map[string]any)
		if refusal := anthropicKnown(at, message, "role", "content"); refusal != nil {
			return refusal
		}
		role, _ := message["role"].(string)
		if role != "user" && role != "assistant" {
			return anthropicRefuse("messages: Unexpected role %q. Allowed roles are \"user\" or \"assistant\"", role)
		}
		if i == 0 && role != "user" {
			return anthropicRefuse("messages: first message must use the \"user\" role")
		}
		out := anthropicMessage{role: role}
		switch content := message["content"].(type) {
		case string:
			out.blocks = []map[string]any{{"type": "text", "text": content}}
		case []any:
			for _, b := range content {
				block, _ := b.(map[string]any)
				out.blocks = append(out.blocks, block)
			}
		}
		if len(out.blocks) == 0 {
			return anthropicRefuse("%s: all messages must have non-empty content", at)
		}
		for j, block := range out.blocks {
			if refusal := checkAnthropicBlock(fmt.Sprintf("%s.content.%d", at, j), role, block); refusal != nil {
				return refusal
			}
		}
		r.messages = append(r.messages, out)
	}
	return nil
}

func checkAnthropicBlock(at, role string, block map[string]any) *anthropicRefusal {
	kind, _ := block["type"].(string)
	switch {
	case kind == "text":
		return checkAnthropicText(at, block)
	case kind == "image" && role == "user":
		return checkAnthropicImage(at, block)
	case kind == "tool_use" && role == "assistant":
		if _, isObject := block["input"].(map[string]any); !isObject {
			return anthropicRefuse("%s.tool_use.input: Input should be a valid dictionary", at)
		}
		if id, _ := block["id"].(string); !anthropicIDs.MatchString(id) {
			return anthropicRefuse("%s.tool_use.id: String should match pattern '%s'", at, anthropicIDs)
		}
		if name, _ := block["name"].(string); !anthropicNames.MatchString(name) {
			return anthropicRefuse("%s.tool_use.name: String should match pattern '%s'", at, anthropicNames)
		}
		return anthropicKnown(at, block, "type", "id", "name", "input", "cache_control")
	case kind == "tool_result" && role == "user":
		return checkAnthropicResult(at, block)
	case kind == "thinking" && role == "assistant":
		return anthropicKnown(at, block, "type", "thinking", "signature")
	case kind == "redacted_thinking" && role == "assistant":
		return anthropicKnown(at, block, "type", "data")
	}
	return anthropicRefuse("%s: Input tag '%s' is not allowed in a message of the %s", at, kind, role)
}

func checkAnthropicText(at string, block map[string]any) *anthropicRefusal {
	text, _ := block["text"].(string)
	if text == "" {
		return anthropicRefuse("%s: text content blocks must be non-empty", at)
	}
	if strings.TrimSpace(text) == "" {
		return anthropicRefuse("%s: text content blocks must contain non-whitespace text", at)
	}
	return anthropicKnown(at, block, "type", "text", "cache_control")
}

func checkAnthropicImage(at string, block map[string]any) *anthropicRefusal {
	source, _ := block["source"].(map[string]any)
	kind, _ := source["media_type"].(string)
	if source["type"] != "base64" || !slices.Contains(anthropicBlobs, kind) {
		return anthropicRefuse("%s.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'", at)
	}
	text, _ := source["data"].(string)
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(data) == 0 {
		return anthropicRefuse("%s.image.source.base64.data: Invalid base64 data", at)
	}
	if seen := http.DetectContentType(data); seen != kind {
		return anthropicRefuse("%s.image.source.base64: The image was specified using the %s media type, but the image appears to be a %s image", at, kind, seen)
	}
	return anthropicKnown(at, block, "type", "source", "cache_control")
}

func checkAnthropicResult(at string, block map[string]any) *anthropicRefusal {
	content, _ := block["content"].([]any)
	if text, isText := block["content"].(string); isText {
		content = []any{map[string]any{"type": "text", "text": text}}
	}
	failed := block["is_error"] == true
	if failed && len(content) == 0 {
		return anthropicRefuse("%s.tool_result: content cannot be empty if `is_error` is true", at)
	}
	for i, c := range content {
		inner, _ := c.(map[string]any)
		where := fmt.Sprintf("%s.tool_result.content.%d", at, i)
		switch inner["type"] {
		case "text":
			if refusal := checkAnthropicText(where, inner); refusal != nil {
				return refusal
			}
		case "image":
			if failed {
				return anthropicRefuse("%s.tool_result: all content must be type `text` if `is_error` is true", at)
			}
			if refusal := checkAnthropicImage(where, inner); refusal != nil {
				return refusal
			}
		default:
			return anthropicRefuse("%s: Input tag '%v' is not allowed", where, inner["type"])
		}
	}
	return anthropicKnown(at, block, "type", "tool_use_id", "content", "is_error", "cache_control")
}

// checkCalls holds that each call has its result at the beginning of the next
// message, and each result its call.
func (r *anthropicRequest) checkCalls(map[string]any) *anthropicRefusal {
	used := map[string]bool{}
	var open []string
	for i, m := range r.messages {
		first := true
		for j, block := range m.blocks {
			if block["type"] != "tool_result" {
				first = false
				continue
			}
			id, _ := block["tool_use_id"].(string)
			at := slices.Index(open, id)
			if at < 0 {
				return anthropicRefuse("messages.%d.content.%d: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", i, j, id)
			}
			if !first {
				return anthropicRefuse("messages.%d: `tool_result` blocks must come first", i)
			}
			open = slices.Delete(open, at, at+1)
		}
		if len(open) > 0 {
			return anthropicRefuse("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s.", i-1, strings.Join(open, ", "))
		}
		for j, block := range m.blocks {
			if block["type"] != "tool_use" {
				continue
			}
			id, _ := block["id"].(string)
			if used[id] {
				return anthropicRefuse("messages.%d.content.%d: `tool_use` ids must be unique", i, j)
			}
			used[id] = true
			open = append(open, id)
		}
	}
	if len(open) > 0 {
		return anthropicRefuse("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s.", len(r.messages)-1, strings.Join(open, ", "))
	}
	return nil
}

// checkThinking holds that thinking comes back as it was given, and that it is
// there where the model needs it.
func (r *anthropicRequest) checkThinking(map[string]any) *anthropicRefusal {
	last := -1
	for i, m := range r.messages {
		if m.role == "assistant" {
			last = i
		}
		for j, block := range m.blocks {
			ok := true
			switch block["type"] {
			case "thinking":
				text, _ := block["thinking"].(string)
				ok = block["signature"] == r.sign(text, i)
			case "redacted_thinking":
				sealed, _ := block["data"].(string)
				data, _, _ := strings.Cut(sealed, ".")
				ok = sealed == anthropicSealed(data)
			}
			if !ok {
				return anthropicRefuse("messages.%d.content.%d: Invalid `signature` in `thinking` block", i, j)
			}
		}
	}
	if r.thinking != "enabled" || last < 0 {
		return nil
	}
	isCall := func(b map[string]any) bool { return b["type"] == "tool_use" }
	first, _ := r.messages[last].blocks[0]["type"].(string)
	if slices.ContainsFunc(r.messages[last].blocks, isCall) && first != "thinking" && first != "redacted_thinking" {
		return anthropicRefuse("messages.%d.content.0.type: Expected `thinking` or `redacted_thinking`, but found `%s`. When `thinking` is enabled, a final `assistant` message must start with a thinking block.", last, first)
	}
	return nil
}

// checkEnd holds what may stand at the end.
func (r *anthropicRequest) checkEnd(map[string]any) *anthropicRefusal {
	m := r.messages[len(r.messages)-1]
	if m.role != "assistant" {
		return nil
	}
	if anthropicAdaptive.MatchString(r.model) {
		return anthropicRefuse("This model does not support assistant message prefill. The conversation must end with a user message.")
	}
	if text, _ := m.blocks[len(m.blocks)-1]["text"].(string); text != strings.TrimRight(text, " \t\r\n") {
		return anthropicRefuse("messages: final assistant content cannot end with trailing whitespace")
	}
	return nil
}

func checkAnthropicMarkers(body map[string]any) *anthropicRefusal {
	if n := bytes.Count(anthropicJSON(body), []byte(`"cache_control":{`)); n > 4 {
		return anthropicRefuse("A maximum of 4 blocks with cache_control may be provided. Found %d.", n)
	}
	return nil
}

// sign gives the signature of a thought in the message with that index.
func (r *anthropicRequest) sign(text string, index int) string {
	if !anthropicBound.MatchString(r.model) {
		return "sig-" + anthropicHash(text)
	}
	before := []any{r.system, r.tools}
	for _, m := range r.messages[:index] {
		before = append(before, m.role, m.blocks)
	}
	// Only the markers may move.
	plain := strings.ReplaceAll(string(anthropicJSON(before)), `"cache_control":{"type":"ephemeral"},`, "")
	return "sig-" + anthropicHash(text, plain)
}

// anthropicKnown refuses fields that are not in the list.
func anthropicKnown(at string, object map[string]any, known ...string) *anthropicRefusal {
	for name := range object {
		if !slices.Contains(known, name) {
			return anthropicRefuse("%s.%s: Extra inputs are not permitted", at, name)
		}
	}
	return nil
}

func anthropicInt(v any) int {
	number, _ := v.(json.Number)
	n, err := number.Int64()
	if err != nil {
		return -1
	}
	return int(n)
}
