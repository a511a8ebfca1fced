package anthropic

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/parley-run/parley"
)

// maxImage is how large the API takes a picture, counted in base64.
const maxImage = 5 << 20

// plainType is what a media type looks like.
var plainType = regexp.MustCompile(`^[\w.+-]{1,64}/[\w.+-]{1,64}$`)

// object gives a call's arguments as the object that the API wants: as they are,
// or in one that shows them.
func object(arguments json.RawMessage) json.RawMessage {
	var compact bytes.Buffer
	trimmed := bytes.TrimSpace(arguments)
	switch {
	case len(trimmed) == 0 || string(trimmed) == "null":
		return json.RawMessage(`{}`)
	case json.Compact(&compact, trimmed) != nil:
		text, err := json.Marshal(string(trimmed))
		if err != nil {
			return json.RawMessage(`{}`) // a string can always be encoded
		}
		compact.Reset()
		compact.Write(text)
	case trimmed[0] == '{':
		return compact.Bytes()
	}
	return slices.Concat([]byte(`{"arguments":`), compact.Bytes(), []byte(`}`))
}

// result renders the result of a call. One that failed can have text only.
func result(as string, p parley.ModelPart) sdk.ContentBlockParamUnion {
	res := p.Result
	failed := res.IsError || res.Unknown
	var content []sdk.ToolResultBlockParamContentUnion
	text := func(s string) {
		content = append(content, sdk.ToolResultBlockParamContentUnion{OfText: &sdk.TextBlockParam{Text: s}})
	}
	if res.Unknown {
		text(textUnknown)
	}
	if strings.TrimSpace(res.Text) != "" {
		text(res.Text)
	}
	if res.Media != nil {
		switch block := media(res.Media, p.Data); {
		case block.OfText != nil:
			text(block.OfText.Text)
		case failed:
			text(mediaLine(res.Media, ""))
		default:
			content = append(content, sdk.ToolResultBlockParamContentUnion{OfImage: block.OfImage})
		}
	}
	if len(content) == 0 {
		text(textNoOutput)
	}
	block := &sdk.ToolResultBlockParam{ToolUseID: as, Content: content}
	if failed {
		block.IsError = sdk.Bool(true)
	}
	return sdk.ContentBlockParamUnion{OfToolResult: block}
}

// media renders a picture that the API takes, by what its bytes are and not by
// what they are called, and else a line about the file.
func media(m *parley.Media, data []byte) sdk.ContentBlockParamUnion {
	kind := http.DetectContentType(data)
	switch {
	case !slices.Contains([]string{"image/jpeg", "image/png", "image/gif", "image/webp"}, kind):
		return sdk.NewTextBlock(mediaLine(m, ""))
	case base64.StdEncoding.EncodedLen(len(data)) > maxImage:
		return sdk.NewTextBlock(mediaLine(m, ", too large to be shown"))
	}
	return sdk.NewImageBlockBase64(kind, base64.StdEncoding.EncodeToString(data))
}

// mediaLine says which file there is. Who sent it chose the name and the type: they
// are quoted and cut, so that they can neither end the line nor look like ours.
func mediaLine(m *parley.Media, remark string) string {
	name, kind := "without a name", m.Type
	if m.Name != "" {
		name = fmt.Sprintf("%.128q", m.Name)
	}
	if !plainType.MatchString(kind) {
		kind = fmt.Sprintf("%.64q", kind)
	}
	return fmt.Sprintf("[File %s, of type %s%s]", name, kind, remark)
}
