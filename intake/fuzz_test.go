package intake_test

import (
	"strings"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/intake"
)

// FuzzFileName: whatever a file is called, its name can be stored, and leads nowhere.
func FuzzFileName(f *testing.F) {
	for _, name := range []string{"", "a.txt", "../../etc/passwd", `C:\x\y.doc`, "a\x00b\n", "\xff\xfe", strings.Repeat("ü", 300), "..", "/", " . "} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		got := intake.FileName(name)
		if strings.ContainsAny(got, "/\\\n\x00") || got == ".." {
			t.Errorf("%q becomes %q", name, got)
		}
		part := parley.Part{Kind: parley.PartMedia, Media: &parley.Media{Handle: strings.Repeat("0", 64), Type: "text/plain", Name: got}}
		if err := parley.ValidateParts([]parley.Part{part}); err != nil && !strings.Contains(err.Error(), "handle") {
			t.Errorf("%q becomes %q: %v", name, got, err)
		}
	})
}
