package prompt_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/parley-run/parley/prompt"
)

// released are the templates that turns may refer to, by the hash of their text. A
// text never changes: another one is another version, in its own file.
var released = map[string]string{
	"session.1": "d94ed2eb685cc363e8ab04780f49491e5217eb1c28c65da8afd4bf1e50beab8e",
}

func TestTemplatesStay(t *testing.T) {
	t.Parallel()
	last := map[string]int{}
	for _, tmpl := range prompt.Templates() {
		name := fmt.Sprintf("%s.%d", tmpl.ID, tmpl.Version)
		sum := sha256.Sum256([]byte(tmpl.Text))
		if got := hex.EncodeToString(sum[:]); got != released[name] {
			t.Errorf("template %s has the hash %s and not %q: give its new text a new version", name, got, released[name])
		}
		if tmpl.Version != last[tmpl.ID]+1 {
			t.Errorf("template %s comes after version %d", name, last[tmpl.ID])
		}
		last[tmpl.ID] = tmpl.Version
		if strings.Contains(tmpl.Text, "\x00") {
			t.Errorf("template %s holds a zero byte, so that its reference is not unique", name)
		}
		file, err := os.ReadFile("templates/" + name + ".tmpl")
		if err != nil || string(file) != tmpl.Text {
			t.Errorf("template %s is not in its file (%v)", name, err)
		}
	}
	files, err := os.ReadDir("templates")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(prompt.Templates()); len(files) != n || len(released) != n {
		t.Errorf("there are %d files, %d hashes and %d templates", len(files), len(released), n)
	}
}

// TestRef: a turn's reference tells which texts it was given.
func TestRef(t *testing.T) {
	t.Parallel()
	all := prompt.Templates()
	current := all[len(all)-1]
	sum := sha256.Sum256([]byte(current.Text + "\x00" + agentSays))
	told := write(t, newPrompter(t, prompt.Config{AgentFunc: agentText}), inGroup())
	if got, want := told.Ref.SHA256, hex.EncodeToString(sum[:]); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if told.Ref != current.Ref(agentSays) || told.Ref.ID != current.ID || told.Ref.Version != current.Version {
		t.Errorf("got %+v", told.Ref)
	}
	other := current
	other.Text += " "
	if current.Ref(agentSays+" ") == told.Ref || other.Ref(agentSays) == told.Ref {
		t.Error("another text has the same reference")
	}
}
