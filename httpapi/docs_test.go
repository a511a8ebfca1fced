package httpapi_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/parley-run/parley/httpapi"
)

// TestDocs sends every request that docs/api.md shows, in their order, and compares
// the status with the one shown.
func TestDocs(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	blocks := regexp.MustCompile("(?s)```http\n(.*?)\n```").FindAllStringSubmatch(string(text), -1)
	if len(blocks) < 30 {
		t.Fatalf("there are %d requests", len(blocks))
	}
	for _, block := range blocks {
		request, want, ok := strings.Cut(block[1], "\n\n")
		if !ok {
			t.Fatalf("no status: %s", block[1])
		}
		lines := strings.Split(request, "\n")
		method, path, _ := strings.Cut(lines[0], " ")
		lines = lines[1:]
		var header []string
		for len(lines) > 0 {
			name, value, ok := strings.Cut(lines[0], ": ")
			if !ok || strings.ContainsAny(name, `{" .`) {
				break
			}
			header, lines = append(header, name, value), lines[1:]
		}
		var body any
		if len(lines) > 0 {
			body = strings.Join(lines, "\n")
		}
		req := w.request(method, path, w.owner, body, header...)
		if status, media, _ := strings.Cut(want, " "); media != "" {
			r := w.stream(req, "") // it fails the test if this is none
			r.close()
			if status != "200" {
				t.Errorf("a stream with status %s", status)
			}
			continue
		}
		if a := w.send(req); fmt.Sprint(a.status) != want {
			t.Errorf("%s %s: got %s, want %s", method, path, a, want)
		}
	}
	for _, r := range httpapi.Routes(w.server) {
		path, _, _ := strings.Cut(r.Path, "/{")
		if !strings.Contains(string(text), path) && r.Path != "/login" && r.Path != "/logout" {
			t.Errorf("%s %s is not in docs/api.md", r.Method, r.Path)
		}
	}
}
