package prompt

import (
	"crypto/sha256"
	_ "embed" // the templates
	"encoding/hex"
	"slices"

	"github.com/parley-run/parley"
)

// Template is a text from which prompts are made. It is in the syntax of
// text/template and defines two: system and preface. A template that was released
// does not change; another text is another version.
type Template struct {
	ID      string
	Version int
	Text    string
}

//go:embed templates/session.1.tmpl
var session1 string

var templates = []Template{
	{ID: "session", Version: 1, Text: session1},
}

// Templates gives every template there ever was, the one in use last.
func Templates() []Template { return slices.Clone(templates) }

// Ref names the template together with an agent's text. The hash is the SHA-256 of
// the template's text, a zero byte, and the agent's text: who has a text can find
// out whether a turn was given it.
func (t Template) Ref(agent string) parley.PromptRef {
	h := sha256.New()
	h.Write([]byte(t.Text))
	h.Write([]byte{0})
	h.Write([]byte(agent))
	return parley.PromptRef{ID: t.ID, Version: t.Version, SHA256: hex.EncodeToString(h.Sum(nil))}
}
