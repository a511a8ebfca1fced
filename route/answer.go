package route

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/parley-run/parley"
)

// dimensionsByName are all dimensions in the order of their names.
var dimensionsByName = [...]parley.Dimension{
	parley.DimensionChat, parley.DimensionSender, parley.DimensionSpace, parley.DimensionTopic,
}

// appendAnswer appends a resolution as a line of JSON. Lists without entries are
// [], and the values of the scope are sorted by name.
func appendAnswer(b []byte, r *Resolution) []byte {
	b = appendField(b, `{"agent_id":`, r.Agent)
	b = append(b, `,"scope":{"version":`...)
	b = strconv.AppendInt(b, int64(r.Scope.Version), 10)
	b = appendField(b, `,"agent_id":`, r.Scope.Agent)
	b = appendField(b, `,"channel":`, r.Scope.Channel)
	b = appendField(b, `,"account":`, r.Scope.Account)
	b = appendList(b, `,"dimensions":`, r.Scope.Dimensions)
	b = append(b, `,"values":{`...)
	before := ""
	for _, d := range dimensionsByName {
		if value, ok := r.Scope.Values[d]; ok {
			b = appendText(append(b, before...), string(d))
			b = appendField(b, `:`, value)
			before = ","
		}
	}
	b = appendField(b, `}},"signature":`, r.Signature)
	b = appendField(b, `,"session_key":`, string(r.Key))
	b = appendList(b, `,"session_aliases":`, r.Aliases)
	b = appendField(b, `,"main_session_key":`, string(r.MainKey))
	b = appendList(b, `,"main_aliases":`, []parley.Alias{r.MainAlias})
	b = appendField(b, `,"text_key":`, r.TextKey)
	b = append(b, `,"shared":`...)
	b = strconv.AppendBool(b, r.Shared)
	b = appendList(b, `,"why":`, r.Why)
	return append(b, "}\n"...)
}

// AppendError appends the line that stands for an error.
func AppendError(b []byte, err error) []byte {
	message := err.Error()
	if e, ok := errors.AsType[*parley.Error](err); ok && e.Message != "" {
		message = e.Message
	}
	b = appendField(b, `{"error":{"code":`, string(parley.CodeOf(err)))
	b = appendField(b, `,"message":`, message)
	return append(b, "}}\n"...)
}

func appendField(b []byte, before, value string) []byte {
	return appendText(append(b, before...), value)
}

func appendList[T ~string](b []byte, before string, list []T) []byte {
	b = append(append(b, before...), '[')
	for i, text := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(b, string(text))
	}
	return append(b, ']')
}

// appendText writes a JSON text. Nearly all are plain, or hold quotes at most.
func appendText(b []byte, s string) []byte {
	start := len(b)
	b = append(b, '"')
	for i := range len(s) {
		c := s[i]
		if c < ' ' || c > '~' {
			return appendOddText(b[:start], s)
		}
		if c == '"' || c == '\\' {
			b = append(b, '\\')
		}
		b = append(b, c)
	}
	return append(b, '"')
}

func appendOddText(b []byte, s string) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a text can always be encoded
	return append(b, bytes.TrimSuffix(buf.Bytes(), []byte("\n"))...)
}
