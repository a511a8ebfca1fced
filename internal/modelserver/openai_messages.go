package modelserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// openaiCheckMessages looks at every message, and that each call is answered
// right after it was made.
func openaiCheckMessages(messages []json.RawMessage) *openaiError {
	var open []string  // calls without an answer
	answering := false // the last message was one with calls, or an answer to it
	for i, raw := range messages {
		path := fmt.Sprintf("messages[%d]", i)
		m, err := openaiObject(raw, path)
		if err != nil {
			return err
		}
		var role string
		if err := openaiInto(m, "role", path+".role", &role); err != nil {
			return err
		}
		if role == "tool" {
			if !answering {
				return openaiBad(path+".role", "", "Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls'.")
			}
			if open, err = openaiCheckAnswer(m, path, open); err != nil {
				return err
			}
			continue
		}
		if len(open) > 0 {
			return openaiUnanswered(path, open)
		}
		answering = false
		switch role {
		case "system", "developer", "user":
			kinds := []string{"text"}
			if role == "user" {
				kinds = append(kinds, "image_url")
			}
			if _, err := openaiObject(raw, path, "role", "content", "name"); err != nil {
				return err
			}
			if err := openaiCheckContent(m["content"], path+".content", true, kinds...); err != nil {
				return err
			}
		case "assistant":
			if open, err = openaiCheckAssistant(raw, m, path); err != nil {
				return err
			}
			answering = len(open) > 0
		default:
			return openaiBad(path+".role", "invalid_value", "Invalid value: '%s'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.", role)
		}
	}
	if len(open) > 0 {
		return openaiUnanswered("messages", open)
	}
	return nil
}

func openaiUnanswered(path string, open []string) *openaiError {
	return openaiBad(path+".role", "", "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: %s", strings.Join(open, ", "))
}

// openaiCheckAnswer looks at a tool message and gives the calls that are still
// without an answer.
func openaiCheckAnswer(m map[string]json.RawMessage, path string, open []string) ([]string, *openaiError) {
	for _, name := range openaiSorted(m) {
		if !slices.Contains([]string{"role", "content", "tool_call_id"}, name) {
			return nil, openaiUnexpected(path, name)
		}
	}
	var id string
	if err := openaiInto(m, "tool_call_id", path+".tool_call_id", &id); err != nil {
		return nil, err
	}
	i := slices.Index(open, id)
	if i < 0 {
		return nil, openaiBad(path+".tool_call_id", "", "Invalid parameter: 'tool_call_id' of '%s' not found in 'tool_calls' of previous message.", id)
	}
	return slices.Delete(slices.Clone(open), i, i+1), openaiCheckContent(m["content"], path+".content", true, "text")
}

// openaiCheckAssistant looks at an assistant message and gives the ids of its
// calls.
func openaiCheckAssistant(raw json.RawMessage, m map[string]json.RawMessage, path string) ([]string, *openaiError) {
	if _, err := openaiObject(raw, path, "role", "content", "tool_calls", "refusal", "name", "audio"); err != nil {
		return nil, err
	}
	var calls []json.RawMessage
	if err := openaiInto(m, "tool_calls", path+".tool_calls", &calls); err != nil {
		return nil, err
	}
	if m["tool_calls"] != nil && len(calls) == 0 {
		return nil, openaiBad(path+".tool_calls", "empty_array", "Invalid '%s.tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead.", path)
	}
	if err := openaiCheckContent(m["content"], path+".content", len(calls) == 0, "text", "refusal"); err != nil {
		return nil, err
	}
	var ids []string
	for i, raw := range calls {
		id, err := openaiCheckCall(raw, fmt.Sprintf("%s.tool_calls[%d]", path, i))
		if err != nil {
			return nil, err
		}
		if slices.Contains(ids, id) {
			return nil, openaiBad(path+".tool_calls", "", "Duplicate value for 'tool_call_id' of '%s' in %s", id, path)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

func openaiCheckCall(raw json.RawMessage, path string) (string, *openaiError) {
	call, err := openaiObject(raw, path, "id", "type", "function")
	if err != nil {
		return "", err
	}
	var id, kind, name, arguments string
	if err := openaiInto(call, "id", path+".id", &id); err != nil {
		return "", err
	}
	if id == "" {
		return "", openaiBad(path+".id", "missing_required_parameter", "Missing required parameter: '%s.id'.", path)
	}
	if err := openaiLength(path+".id", id, 40); err != nil {
		return "", err
	}
	if err := openaiInto(call, "type", path+".type", &kind); err != nil {
		return "", err
	}
	if kind != "function" {
		return "", openaiBad(path+".type", "invalid_value", "Invalid value: '%s'. Supported values are: 'function' and 'custom'.", kind)
	}
	function, err := openaiObject(call["function"], path+".function", "name", "arguments")
	if err != nil {
		return "", err
	}
	if err := openaiInto(function, "name", path+".function.name", &name); err != nil {
		return "", err
	}
	if err := openaiCheckName(path+".function.name", name); err != nil {
		return "", err
	}
	if function["arguments"] == nil {
		return "", openaiBad(path+".function.arguments", "missing_required_parameter", "Missing required parameter: '%s.function.arguments'.", path)
	}
	return id, openaiInto(function, "arguments", path+".function.arguments", &arguments)
}

// openaiCheckContent looks at content, a string or a list of parts.
func openaiCheckContent(raw json.RawMessage, path string, needed bool, kinds ...string) *openaiError {
	if raw == nil || string(raw) == "null" {
		if needed {
			return openaiBad(path, "", "Invalid value for 'content': expected a string, got null.")
		}
		return nil
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return nil
	}
	var parts []json.RawMessage
	if json.Unmarshal(raw, &parts) != nil {
		return openaiBad(path, "invalid_type", "Invalid type for '%s': expected one of a string or array of objects.", path)
	}
	if len(parts) == 0 {
		return openaiBad(path, "empty_array", "Invalid '%s': empty array. Expected an array with minimum length 1, but got an empty array instead.", path)
	}
	for i, raw := range parts {
		path := fmt.Sprintf("%s[%d]", path, i)
		part, err := openaiObject(raw, path)
		if err != nil {
			return err
		}
		var kind string
		if err := openaiInto(part, "type", path+".type", &kind); err != nil {
			return err
		}
		if !slices.Contains(kinds, kind) {
			return openaiBad(path, "invalid_value", "Invalid value: '%s'. Supported values are: '%s'.", kind, strings.Join(kinds, "', '"))
		}
		if _, err := openaiObject(raw, path, "type", kind); err != nil {
			return err
		}
		if kind == "image_url" {
			err = openaiCheckImagePart(part[kind], path+".image_url")
		} else {
			if part[kind] == nil {
				return openaiBad(path+"."+kind, "missing_required_parameter", "Missing required parameter: '%s.%s'.", path, kind)
			}
			err = openaiInto(part, kind, path+"."+kind, &text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func openaiCheckImagePart(raw json.RawMessage, path string) *openaiError {
	image, err := openaiObject(raw, path, "url", "detail")
	if err != nil {
		return err
	}
	var url string
	if err := openaiInto(image, "url", path+".url", &url); err != nil {
		return err
	}
	return openaiCheckImage(path+".url", url)
}

// openaiObject reads an object. If fields are named, it must have no others.
func openaiObject(raw json.RawMessage, path string, known ...string) (map[string]json.RawMessage, *openaiError) {
	var fields map[string]json.RawMessage
	if !bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) || json.Unmarshal(raw, &fields) != nil {
		if path == "" {
			return nil, openaiBad("", "", "We could not parse the JSON body of your request.")
		}
		return nil, openaiBad(path, "invalid_type", "Invalid type for '%s': expected an object.", path)
	}
	for _, name := range openaiSorted(fields) {
		if len(known) > 0 && !slices.Contains(known, name) {
			return nil, openaiUnexpected(path, name)
		}
	}
	return fields, nil
}

func openaiUnexpected(path, name string) *openaiError {
	return openaiBad(path+"."+name, "unknown_parameter", "Unknown parameter: '%s.%s'.", path, name)
}

// openaiInto reads a field, if it is there.
func openaiInto(fields map[string]json.RawMessage, name, path string, into any) *openaiError {
	raw := fields[name]
	if raw == nil {
		return nil
	}
	if string(raw) == "null" || json.Unmarshal(raw, into) != nil {
		return openaiBad(path, "invalid_type", "Invalid type for '%s'.", path)
	}
	return nil
}

func openaiSorted(fields map[string]json.RawMessage) []string {
	return slices.Sorted(maps.Keys(fields))
}
