package anthropic

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/parley-run/parley"
)

// opaque is how a thought comes back to its model. Later models refuse a thought
// if anything that stood before it has changed, such as the system prompt or the
// tools. So it says after what it was thought, and is left out elsewhere: a turn
// that goes on under another configuration loses its thoughts, and not the turn.
type opaque struct {
	Model     string `json:"model"`
	After     string `json:"after"`               // what stood before it; see renderer.prefix
	Text      string `json:"text,omitempty"`      // hash of the text, which stands in the part
	Signature string `json:"signature,omitempty"` // of the text
	Redacted  string `json:"redacted,omitempty"`  // in place of text and signature
}

// seal encodes o.
func (o opaque) seal() []byte {
	data, err := json.Marshal(o)
	if err != nil {
		return nil // strings can always be encoded
	}
	return data
}

// openOpaque gives the block of a thought, if it is model's and was thought after
// prefix.
func openOpaque(p parley.ModelPart, model, prefix string) (sdk.ContentBlockParamUnion, bool) {
	var o opaque
	if json.Unmarshal(p.Opaque, &o) != nil || o.Model != model || o.After != prefix {
		return sdk.ContentBlockParamUnion{}, false
	}
	switch {
	case o.Redacted != "":
		return sdk.NewRedactedThinkingBlock(o.Redacted), true
	case o.Signature != "" && o.Text == shortHash(p.Text):
		return sdk.NewThinkingBlock(o.Signature, p.Text), true
	}
	return sdk.ContentBlockParamUnion{}, false
}

// prefix names what is said before a message that would follow messages: the
// system prompt, the tools and the messages themselves. It is asked for without
// markers for the prompt cache.
func (r *renderer) prefix(messages []sdk.MessageParam) string {
	if r.digest == nil {
		r.digest, r.digested = sha256.New(), 0
		r.feed(r.req.System)
		for _, tool := range r.req.Tools {
			r.feed(tool)
		}
	}
	for _, m := range messages[r.digested:] {
		r.feed(m)
	}
	r.digested = len(messages)
	return hex.EncodeToString(r.digest.Sum(nil)[:16])
}

func (r *renderer) feed(v any) {
	data, err := json.Marshal(v)
	if err != nil {
		// It cannot be sent either, and the SDK says so.
		data = []byte(err.Error())
	}
	_, _ = fmt.Fprintf(r.digest, "%d:", len(data)) // a hash takes everything
	_, _ = r.digest.Write(data)
}

// shortHash names a text.
func shortHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}
