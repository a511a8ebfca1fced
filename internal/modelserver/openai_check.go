package modelserver

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// openaiRequest is what a server needs of a request to answer it.
type openaiRequest struct {
	Model               string
	Messages            []json.RawMessage
	Tools               []json.RawMessage
	Stream              bool
	StreamOptions       struct{ IncludeUsage bool }
	MaxTokens           *int
	MaxCompletionTokens *int
}

// openaiKnown is what a request may have.
var openaiKnown = []string{
	"model", "messages", "tools", "tool_choice", "stream", "stream_options", "max_tokens", "max_completion_tokens",
	"reasoning_effort", "prompt_cache_key", "parallel_tool_calls", "temperature", "top_p", "stop", "seed", "n", "user",
	"store", "metadata", "response_format", "service_tier", "verbosity", "safety_identifier",
}

var openaiName = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

// openaiCheck reads a request and gives what OpenAI would refuse it for.
func openaiCheck(r *http.Request, req Request, style OpenAIStyle) (openaiRequest, *openaiError) {
	var q openaiRequest
	if r.Method != http.MethodPost || !strings.HasSuffix(req.Path, "/chat/completions") {
		e := openaiBad("", "", "Invalid URL (%s %s)", r.Method, req.Path)
		e.status = http.StatusNotFound
		return q, e
	}
	if key, ok := strings.CutPrefix(req.Header.Get("Authorization"), "Bearer "); !style.NoKey && (!ok || key == "") {
		e := openaiBad("", "", "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).")
		e.status = http.StatusUnauthorized
		return q, e
	}
	fields, err := openaiObject(req.Body, "")
	if err != nil {
		return q, err
	}
	for _, name := range openaiSorted(fields) {
		if !slices.Contains(openaiKnown, name) {
			return q, openaiBad("", "", "Unrecognized request argument supplied: %s", name)
		}
	}
	for _, f := range []struct {
		name string
		into any
	}{
		{"model", &q.Model},
		{"messages", &q.Messages},
		{"tools", &q.Tools},
		{"stream", &q.Stream},
		{"max_tokens", &q.MaxTokens},
		{"max_completion_tokens", &q.MaxCompletionTokens},
	} {
		if err := openaiInto(fields, f.name, f.name, f.into); err != nil {
			return q, err
		}
	}
	if err := q.checkTop(fields); err != nil {
		return q, err
	}
	if err := openaiCheckTools(q.Tools); err != nil {
		return q, err
	}
	return q, openaiCheckMessages(q.Messages)
}

func (q *openaiRequest) checkTop(fields map[string]json.RawMessage) *openaiError {
	if q.Model == "" {
		return openaiBad("", "", "you must provide a model parameter")
	}
	if fields["messages"] == nil {
		return openaiBad("messages", "missing_required_parameter", "Missing required parameter: 'messages'.")
	}
	if len(q.Messages) == 0 {
		return openaiBad("messages", "empty_array", "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.")
	}
	if !q.Stream {
		return openaiBad("stream", "unsupported_value", "Unsupported value: this server only streams.")
	}
	if q.MaxTokens != nil && q.MaxCompletionTokens != nil {
		return openaiBad("max_tokens", "invalid_parameter_combination", "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.")
	}
	for name, n := range map[string]*int{"max_tokens": q.MaxTokens, "max_completion_tokens": q.MaxCompletionTokens} {
		if n != nil && *n < 1 {
			return openaiBad(name, "integer_below_min_value", "Invalid '%s': integer below minimum value. Expected a value >= 1, but got %d instead.", name, *n)
		}
	}
	if raw := fields["stream_options"]; raw != nil {
		options, err := openaiObject(raw, "stream_options", "include_usage", "include_obfuscation")
		if err != nil {
			return err
		}
		if err := openaiInto(options, "include_usage", "stream_options.include_usage", &q.StreamOptions.IncludeUsage); err != nil {
			return err
		}
	}
	var effort, cacheKey string
	if err := openaiInto(fields, "reasoning_effort", "reasoning_effort", &effort); err != nil {
		return err
	}
	if fields["reasoning_effort"] != nil && !slices.Contains([]string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}, effort) {
		return openaiBad("reasoning_effort", "invalid_value", "Invalid value: '%s'.", effort)
	}
	if err := openaiInto(fields, "prompt_cache_key", "prompt_cache_key", &cacheKey); err != nil {
		return err
	}
	return openaiLength("prompt_cache_key", cacheKey, 64)
}

// openaiCheckTools looks at the tools.
func openaiCheckTools(tools []json.RawMessage) *openaiError {
	if len(tools) > 128 {
		return openaiBad("tools", "array_above_max_length", "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length %d instead.", len(tools))
	}
	var names []string
	for i, raw := range tools {
		path := fmt.Sprintf("tools[%d]", i)
		tool, err := openaiObject(raw, path, "type", "function")
		if err != nil {
			return err
		}
		var kind string
		if err := openaiInto(tool, "type", path+".type", &kind); err != nil {
			return err
		}
		if kind != "function" || tool["function"] == nil {
			return openaiBad(path+".type", "invalid_value", "Invalid value: '%s'. Supported values are: 'function' and 'custom'.", kind)
		}
		function, err := openaiObject(tool["function"], path+".function", "name", "description", "parameters", "strict")
		if err != nil {
			return err
		}
		var name, description string
		if err := openaiInto(function, "name", path+".function.name", &name); err != nil {
			return err
		}
		if err := openaiCheckName(path+".function.name", name); err != nil {
			return err
		}
		if slices.Contains(names, name) {
			return openaiBad("tools", "", "Invalid 'tools': duplicate function name '%s'.", name)
		}
		names = append(names, name)
		if err := openaiInto(function, "description", path+".function.description", &description); err != nil {
			return err
		}
		if raw := function["parameters"]; raw != nil {
			if err := openaiCheckSchema(path+".function.parameters", name, raw); err != nil {
				return err
			}
		}
	}
	return nil
}

// openaiCheckSchema looks at the top of a schema.
func openaiCheckSchema(path, name string, raw json.RawMessage) *openaiError {
	schema, err := openaiObject(raw, path)
	if err != nil {
		return err
	}
	var kind string
	if json.Unmarshal(schema["type"], &kind) != nil || kind != "object" {
		return openaiBad(path, "invalid_function_parameters", `Invalid schema for function '%s': schema must be a JSON Schema of 'type: "object"', got 'type: %s'.`, name, schema["type"])
	}
	var properties map[string]json.RawMessage
	if json.Unmarshal(schema["properties"], &properties) != nil {
		return openaiBad(path, "invalid_function_parameters", "Invalid schema for function '%s': In context=(), object schema missing properties.", name)
	}
	for _, word := range []string{"oneOf", "anyOf", "allOf", "enum", "not"} {
		if schema[word] != nil {
			return openaiBad(path, "invalid_function_parameters", "Invalid schema for function '%s': schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.", name)
		}
	}
	return nil
}

func openaiCheckName(path, name string) *openaiError {
	if name == "" {
		return openaiBad(path, "empty_string", "Invalid '%s': empty string. Expected a string with minimum length 1, but got an empty string instead.", path)
	}
	if !openaiName.MatchString(name) {
		return openaiBad(path, "invalid_value", "Invalid '%s': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.", path)
	}
	return openaiLength(path, name, 64)
}

// openaiCheckImage looks at the address of an image.
func openaiCheckImage(path, url string) *openaiError {
	if strings.HasPrefix(url, "https://") || strings.HasPrefix(url, "http://") {
		return nil
	}
	head, data, ok := strings.Cut(url, ",")
	kind, base64ed := strings.CutSuffix(strings.TrimPrefix(head, "data:"), ";base64")
	if !ok || !base64ed || !strings.HasPrefix(head, "data:") {
		return openaiBad(path, "invalid_value", "Invalid '%s'. Expected a base64-encoded data URL with an image MIME type (e.g. 'data:image/png;base64,aW1nIGJ5dGVzIGhlcmU=') or a valid URL.", path)
	}
	if !slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, kind) {
		return openaiBad(path, "invalid_image_format", "Invalid MIME type '%s'. Only image types are supported: png, jpeg, gif, webp.", kind)
	}
	if decoded, err := base64.StdEncoding.DecodeString(data); err != nil || len(decoded) == 0 {
		return openaiBad(path, "invalid_base64", "Invalid '%s': the data is not base64.", path)
	}
	return nil
}

func openaiLength(path, text string, most int) *openaiError {
	if len(text) <= most {
		return nil
	}
	return openaiBad(path, "string_above_max_length", "Invalid '%s': string too long. Expected a string with maximum length %d, but got a string with length %d instead.", path, most, len(text))
}
