package openai

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	sdk "github.com/openai/openai-go/v3"

	"github.com/parley-run/parley"
)

const (
	maxWireID   = 40 // bytes of the id of a call
	maxWireName = 64 // bytes of the name of a function
)

// wireIDs gives the ids of calls as the API takes them: not empty, not too long,
// and each once. Those that are so stay as they are.
func wireIDs(calls []*parley.ToolCall) []string {
	ids := make([]string, 0, len(calls))
	for i, call := range calls {
		id := string(call.ID)
		if id == "" {
			id = "call_" + strconv.Itoa(i+1)
		}
		if len(id) > maxWireID {
			id = hashedID(id)
		}
		for n := i; slices.Contains(ids, id); n++ {
			id = hashedID(id + "#" + strconv.Itoa(n))
		}
		ids = append(ids, id)
	}
	return ids
}

func hashedID(id string) string {
	sum := sha256.Sum256([]byte(id))
	return "call_" + hex.EncodeToString(sum[:16])
}

// wireName gives the name of a function that the API takes. A model may have
// called one that never was, under any name.
func wireName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < 0x80 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-') {
			return r
		}
		return '_'
	}, name)
	if name == "" {
		return "unnamed"
	}
	return name[:min(len(name), maxWireName)]
}

// wireArguments gives arguments as the model wrote them: what is a JSON string
// was not JSON then.
func wireArguments(raw json.RawMessage) string {
	if len(bytes.TrimSpace(raw)) == 0 {
		return "{}"
	}
	var text string
	if json.Unmarshal(raw, &text) == nil && raw[0] == '"' {
		return text
	}
	var out bytes.Buffer
	if json.Compact(&out, raw) != nil {
		return string(raw)
	}
	return out.String()
}

// image gives media as an image, if it is one that the API takes.
func (m *Model) image(media *parley.Media, data []byte) (sdk.ChatCompletionContentPartUnionParam, bool) {
	kind, _, _ := strings.Cut(strings.ToLower(media.Type), ";")
	kind = strings.TrimSpace(kind)
	if kind == "image/jpg" {
		kind = "image/jpeg"
	}
	switch kind {
	case "image/jpeg", "image/png", "image/gif", "image/webp":
	default:
		return sdk.ChatCompletionContentPartUnionParam{}, false
	}
	if len(data) == 0 || m.cfg.NoImages {
		return sdk.ChatCompletionContentPartUnionParam{}, false
	}
	return sdk.ImageContentPart(sdk.ChatCompletionContentPartImageImageURLParam{
		URL: "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(data),
	}), true
}
