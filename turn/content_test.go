package turn_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/secret"
	"github.com/parley-run/parley/turn"
)

// forms is how a secret may turn up.
func forms(t *testing.T, value string) []string {
	t.Helper()
	quoted, err := json.Marshal(map[string]string{"password": value})
	if err != nil {
		t.Fatal(err)
	}
	return []string{
		value, base64.StdEncoding.EncodeToString([]byte("user:" + value)), base64.URLEncoding.EncodeToString([]byte(value)),
		url.QueryEscape(value), url.PathEscape(value), string(quoted),
	}
}

// bare is what a form must not show: a form that stands in something longer is
// known by its longest own piece.
func bare(form string) string {
	if len(form) > 12 {
		return form[len(form)/2-4 : len(form)/2+4]
	}
	return form
}

// TestSecretsStayOut plants a secret in the prompt, the words of the model, its
// reasoning, its calls, results and errors, whole and in pieces, and looks for it
// in what was shown, stored and sent.
func TestSecretsStayOut(t *testing.T) {
	t.Parallel()
	const value = `s3cr3t/with+odd"chars&more`
	var scrubber secret.Scrubber
	scrubber.Add(secret.NewValue(value))
	l := newLab(t)
	l.system = "The key is " + value + "."
	pieces := func(kind parley.PartKind, s string) []parley.ModelPiece {
		var all []parley.ModelPiece
		for _, r := range s { // letter by letter
			all = append(all, parley.ModelPiece{Kind: kind, Text: string(r)})
		}
		return all
	}
	all := strings.Join(forms(t, value), " and ")
	args, err := json.Marshal(map[string]string{"key": all})
	if err != nil {
		t.Fatal(err)
	}
	first := append(pieces(parley.PartReasoning, "Hm, "+all), pieces(parley.PartText, "I know: "+all)...)
	m := plays(
		says(append(first, call("leak", string(args)), call("break", `{}`))...),
		says(text("Whole: "+all)),
		fails(parley.Errorf(parley.CodeInvalid, "key %s was refused", all)),
		fails(parley.Errorf(parley.CodeUnavailable, "key %s is limited", all)),
	)
	tools := &bench{tools: map[string]toolFunc{
		"leak": func(_ context.Context, _ parley.ToolCaller, _ parley.ToolCall) (parley.ToolResult, error) {
			return parley.ToolResult{Text: all}, nil
		},
		"break": func(context.Context, parley.ToolCaller, parley.ToolCall) (parley.ToolResult, error) {
			return parley.ToolResult{}, parley.Errorf(parley.CodeInternal, "it broke: %s", all)
		},
	}}
	r := runner(t, turn.Agent{Models: models(m), Tools: tools}, func(c *turn.Config) { c.Scrubber = &scrubber })
	id := l.ask(parley.TextPart("Tell me"))
	end, err := r.Run(t.Context(), l.context(id))
	if err != nil {
		t.Fatal(err)
	}
	calls, err := l.store.Calls(t.Context(), parley.SeeAll(), l.session, id) // they go with the turn
	if err != nil {
		t.Fatal(err)
	}
	l.close(id, end)
	refused := l.run(r, l.ask(parley.TextPart("And now")))
	_, err = r.Run(t.Context(), l.context(l.ask(parley.TextPart("Again"))))
	if err == nil || refused.Completed.Error == nil {
		t.Fatal("the failures did not happen")
	}

	seen := map[string]string{"error": err.Error(), "turn error": refused.Completed.Error.Message}
	for _, e := range l.events() {
		seen["events"] += string(e.Data)
	}
	for _, d := range l.deltas {
		seen["deltas"] += d.Text
	}
	for _, req := range m.asked {
		data, err := json.Marshal(req)
		if err != nil {
			t.Fatal(err)
		}
		seen["prompts"] += string(data)
	}
	for _, c := range calls {
		seen["journal"] += string(c.Result)
	}
	for where, text := range seen {
		for _, form := range forms(t, value) {
			// Stored texts are JSON, in which the value looks as in the last form.
			if strings.Contains(text, form) || strings.Contains(text, bare(form)) {
				t.Errorf("%s shows %q: %.300s", where, form, text)
			}
		}
		if !strings.Contains(text, secret.Mask) {
			t.Errorf("%s has nothing scrubbed: the secret never got there", where)
		}
	}
}

// TestSecretsInOddPlaces has secrets where nobody looks for them: as the name of a
// tool, spelled in a way that only a reader of JSON sees, and over several lines of
// an error, which is put on one.
func TestSecretsInOddPlaces(t *testing.T) {
	t.Parallel()
	const (
		token = "sk-ant-0123456789abcdef"
		lines = "-----BEGIN KEY-----\nMIIabcdefghij\nKLMNOPQRST\n-----END KEY-----"
	)
	spelled := `\u0073` + token[1:]
	tests := []struct {
		name    string
		answers []playFunc
		fails   bool // the run does, and the turn waits
	}{
		{"tool name", []playFunc{says(call(token, `{}`)), says(text("x"))}, false},
		{"part of a tool name", []playFunc{says(call("look_"+token, `{}`)), says(text("x"))}, false},
		{"argument", []playFunc{says(call("look", `{"a":["`+spelled+`"],"n":12345678901234567890}`)), says(text("x"))}, false},
		{"name of an argument", []playFunc{says(call("look", `{"`+spelled+`":1}`)), says(text("x"))}, false},
		{"failure that passes", []playFunc{fails(parley.Errorf(parley.CodeUnavailable, "refused:\n%s", lines))}, true},
		{"failure for good", []playFunc{fails(parley.Errorf(parley.CodeInvalid, "refused:\n%s", lines))}, false},
		{"panic", []playFunc{func(context.Context, func(parley.ModelPiece, error) bool) { panic(lines) }}, false},
		{"broken tool", []playFunc{says(call("panic", `{}`)), says(text("x"))}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			var scrubber secret.Scrubber
			scrubber.Add(secret.NewValue(token), secret.NewValue(lines))
			seen := ""
			look := func(_ context.Context, _ parley.ToolCaller, c parley.ToolCall) (parley.ToolResult, error) {
				if c.Name == "panic" {
					panic(lines)
				}
				seen += c.Name + string(c.Arguments)
				return parley.ToolResult{Text: "x"}, nil
			}
			// A name has the mask in the letters that names may have.
			tools := &bench{tools: map[string]toolFunc{"look": look, "panic": look, "_secret_": look, "look__secret_": look}}
			m := plays(test.answers...)
			id := l.ask(parley.TextPart("Go"))
			end, err := runner(t, turn.Agent{Models: models(m), Tools: tools}, func(c *turn.Config) { c.Scrubber = &scrubber }).Run(t.Context(), l.context(id))
			if (err != nil) != test.fails {
				t.Fatalf("%+v, %v", end, err)
			}
			if err != nil {
				seen += err.Error()
			} else {
				l.close(id, end)
			}
			for _, e := range l.events() {
				seen += string(e.Data)
			}
			for _, req := range m.asked {
				data, err := json.Marshal(req)
				if err != nil {
					t.Fatal(err)
				}
				seen += string(data)
			}
			for _, bad := range []string{token, token[7:], spelled, "MIIabcdefghij", "KLMNOPQRST"} {
				if strings.Contains(seen, bad) {
					t.Errorf("%q is to be seen: %s", bad, seen)
				}
			}
			if !strings.Contains(seen, secret.Mask) && !strings.Contains(seen, "_secret_") {
				t.Errorf("nothing was scrubbed: %s", seen)
			}
			if test.name == "argument" && !strings.Contains(seen, "12345678901234567890") {
				t.Errorf("a number beside it has changed: %s", seen)
			}
		})
	}
}

// TestImages shows pictures to the model, each read once, and says of other media
// and of those that are gone no more than their name.
func TestImages(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	handle := func(n string) string { return "sha256_" + strings.Repeat(n, 64) }
	media := func(n, kind string) parley.Part {
		return parley.Part{Kind: parley.PartMedia, Media: &parley.Media{Handle: handle(n), Type: kind, Name: n + ".bin", Size: 3}}
	}
	for _, n := range []string{"a", "b", "c"} {
		if _, err := l.store.Commit(t.Context(), parley.Batch{At: start, Blobs: []parley.BlobChange{{Handle: parley.BlobHandle(handle(n)), Type: "image/png", Size: 3}}}); err != nil {
			t.Fatal(err)
		}
	}
	read := map[string]int{}
	m := plays(says(call("look", `{}`)), says(text("A cat.")))
	n := 0
	tools := &bench{tools: map[string]toolFunc{"look": gives("x", &n)}}
	r := runner(t, turn.Agent{Models: models(m), Tools: tools}, func(c *turn.Config) {
		c.MediaFunc = func(_ context.Context, _ parley.SessionID, m parley.Media) ([]byte, error) {
			read[m.Handle]++
			if m.Handle == handle("b") {
				return nil, parley.Errorf(parley.CodeNotFound, "it is gone")
			}
			return []byte("png"), nil
		}
	})
	l.run(r, l.ask(parley.TextPart("What is this?"), media("a", "image/png"), media("b", "image/png"), media("c", "application/pdf")))
	parts := m.asked[1].Messages[0].Parts
	if string(parts[1].Data) != "png" || parts[2].Data != nil || parts[3].Data != nil || parts[3].Media.Name != "c.bin" {
		t.Errorf("%+v", parts)
	}
	if read[handle("a")] != 1 || read[handle("b")] != 1 || read[handle("c")] != 0 {
		t.Errorf("read: %v", read)
	}
}
