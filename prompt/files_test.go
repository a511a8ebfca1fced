package prompt_test

import (
	"context"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/modelserver"
	"github.com/parley-run/parley/model/anthropic"
	"github.com/parley-run/parley/model/openai"
)

// TestFileNames: what somebody calls a file, and says of which type it is, stays in
// quotes when a model is told that there is one.
func TestFileNames(t *testing.T) {
	t.Parallel()
	key := func(context.Context) (string, error) { return "sk-test-5f0c2b7d9e", nil }
	answer := func(modelserver.Request) modelserver.Reply { return modelserver.Reply{Text: []string{"ok"}} }
	const quoted = `"(?:[^"\\]|\\.)*"`
	for name, provider := range map[string]struct {
		serve func(testing.TB, func(modelserver.Request) modelserver.Reply) *modelserver.Server
		model func(*modelserver.Server) (parley.Model, error)
		line  string
	}{
		"anthropic": {
			modelserver.Anthropic,
			func(s *modelserver.Server) (parley.Model, error) {
				return anthropic.New(anthropic.Config{Model: "claude-haiku-4-5", BaseURL: s.URL, HTTPClient: s.Client(), KeyFunc: key})
			},
			`^\[File ` + quoted + `, of type (?:application/pdf|` + quoted + `)\]$`,
		},
		"openai": {
			modelserver.OpenAI,
			func(s *modelserver.Server) (parley.Model, error) {
				return openai.New(openai.Config{Model: "gpt-5", BaseURL: s.URL + "/v1", HTTPClient: s.Client(), KeyFunc: key, Dialect: openai.DialectOpenAI})
			},
			`^\[A file of type (?:application/pdf|` + quoted + `) named ` + quoted + `, 4 bytes, which cannot be shown here\.\]$`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := provider.serve(t, answer)
			m, err := provider.model(s)
			if err != nil {
				t.Fatal(err)
			}
			var parts []parley.ModelPart
			for _, value := range slices.Sorted(maps.Values(hostile)) {
				for _, media := range []parley.Media{{Name: value, Type: "application/pdf", Size: 4}, {Name: "a.pdf", Type: value, Size: 4}} {
					parts = append(parts, parley.ModelPart{Part: parley.Part{Kind: parley.PartMedia, Media: &media}})
				}
			}
			for _, err := range m.Stream(t.Context(), parley.ModelRequest{Messages: []parley.ModelMessage{{Role: parley.MessageUser, Parts: parts}}}) {
				if err != nil {
					t.Fatal(err)
				}
			}
			lines := strings.Split(heard(t, s), "\n")
			if len(lines) != len(parts) {
				t.Errorf("%d files became %d lines", len(parts), len(lines))
			}
			form := regexp.MustCompile(provider.line)
			for _, l := range lines {
				if !form.MatchString(l) || utf8.RuneCountInString(l) > 128*10+100 || strings.ContainsFunc(l, func(r rune) bool { return !unicode.IsPrint(r) }) {
					t.Errorf("a file became %q", l)
				}
			}
		})
	}
}

// heard gives what a server was told, one part per line.
func heard(t *testing.T, s *modelserver.Server) string {
	t.Helper()
	var body struct {
		Messages []struct{ Content json.RawMessage }
	}
	if err := json.Unmarshal(s.Requests()[0].Body, &body); err != nil || len(body.Messages) != 1 {
		t.Fatalf("%d messages (%v)", len(body.Messages), err)
	}
	var text string
	if json.Unmarshal(body.Messages[0].Content, &text) == nil {
		return text
	}
	var blocks []struct{ Text string }
	if err := json.Unmarshal(body.Messages[0].Content, &blocks); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, b := range blocks {
		lines = append(lines, b.Text)
	}
	return strings.Join(lines, "\n")
}
