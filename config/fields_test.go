package config_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/parley-run/parley/config"
)

//go:generate go test -run ^TestReference$ -update .

var update = flag.Bool("update", false, "write the reference in the documentation anew")

// TestTemplate holds that the template is the defaults, as it is and with every
// key taken out of its comment.
func TestTemplate(t *testing.T) {
	t.Parallel()
	template := config.Template()
	var taken strings.Builder
	keys := 0
	for line := range strings.Lines(template) {
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		if rest, ok := strings.CutPrefix(line[len(indent):], "#"); ok && rest[0] != ' ' && rest[0] != '\n' {
			line = indent + rest
			keys++
		}
		taken.WriteString(line)
	}
	leaves := 0
	for _, f := range config.Fields() {
		if !f.Section && !entry(f) {
			leaves++
		}
	}
	if keys != leaves {
		t.Errorf("the template has %d keys, and there are %d", keys, leaves)
	}
	for name, text := range map[string]string{"as it is": template, "with every key": taken.String()} {
		l := load(t, text)
		if len(l.Warnings) > 0 {
			t.Errorf("%s: %v", name, l.Warnings)
		}
		if diff := cmp.Diff(config.Default(), l.Config, refs, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s it is not the default:\n%s", name, diff)
		}
	}
	for _, f := range config.Fields() {
		if !strings.Contains(template, f.Path[strings.LastIndexByte(f.Path, '.')+1:]+":") {
			t.Errorf("%s is not in the template", f.Path)
		}
	}
	for line := range strings.Lines(template) {
		if len(line) > 100 || strings.ContainsAny(line, "\t\r") {
			t.Errorf("a line is not easy to read: %q", line)
		}
	}
}

// entry reports whether a field is inside a map or list.
func entry(f config.Field) bool {
	return strings.Contains(f.Path, ".NAME") || strings.Contains(f.Path, "[]")
}

// TestFields holds that each key is described, and that examples are right.
func TestFields(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, f := range config.Fields() {
		if !strings.HasSuffix(f.Doc, ".") {
			t.Errorf("%s is not described in sentences: %q", f.Path, f.Doc)
		}
		if (f.Variable == "") != (f.Section && !entry(f)) {
			t.Errorf("%s has the variable %q", f.Path, f.Variable)
		}
		if other, ok := seen[f.Variable]; ok && f.Variable != "" && !entry(f) {
			t.Errorf("%s and %s have one variable", f.Path, other)
		}
		if !entry(f) {
			seen[f.Variable] = f.Path
		}
		if f.Example == "" {
			continue
		}
		section, name, inner := "", f.Path, "  "
		if i := strings.LastIndexByte(f.Path, '.'); i >= 0 {
			section, name = f.Path[:i], f.Path[i+1:]
		}
		head := ""
		for part := range strings.FieldsFuncSeq(section, func(r rune) bool { return r == '.' }) {
			if part == "NAME" && strings.HasPrefix(section, "channels.") {
				part = "telegram"
			}
			if part == "NAME" {
				part = "main"
			}
			head += strings.Repeat(" ", len(inner)-2) + part + ":\n"
			inner += "  "
		}
		head += strings.Repeat(" ", len(inner)-2) + name + ":\n"
		text := head + inner + strings.ReplaceAll(f.Example, "\n", "\n"+inner) + "\n"
		if l := load(t, text); len(l.Warnings) > 0 {
			t.Errorf("the example of %s: %v", f.Path, l.Warnings)
		}
	}
}

// TestVariables sets each key by its variable to something else, found from what
// it is, so that none is forgotten.
func TestVariables(t *testing.T) {
	t.Parallel()
	special := map[string]string{
		"session.reset.zone": "UTC", "store.path": "other.db", "store.key": "key", "serve.listen": "127.0.0.1:1", "serve.public_url": "https://x",
		"agents": `{"x":{}}`, "providers": `{"x":{"kind":"openai"}}`, "models": `{"openai/x":{}}`, "routes": `[{"match":{"channel":"x"}}]`,
		"channels": `{"slack":{}}`, "session.identity_links": `{"a":["b:c"]}`, "session.reset.by_type": `{"group":{}}`,
		"owner.identities": `["a:b"]`, "serve.trusted_proxies": `["10.0.0.1"]`, "session.dimensions": `["space"]`,
		"serve.tls_cert": "c.pem", "serve.tls_key": "k.pem", "serve.cors": `["https://x"]`, "serve.metrics_listen": "127.0.0.1:1",
	}
	n := 0
	for _, f := range config.Fields() {
		if f.Section || entry(f) {
			continue
		}
		n++
		value, ok := special[f.Path]
		switch {
		case ok:
		case len(f.Values) > 1 && f.Values[0] != f.Default:
			value = f.Values[0]
		case len(f.Values) > 1:
			value = f.Values[1]
		case f.Type == "true or false":
			value = map[string]string{"true": "false", "false": "true"}[f.Default]
		case f.Type == "whole number":
			value = "7"
		case f.Type == "duration":
			value = "7m"
		case f.Type == "size":
			value = "7MiB"
		default:
			t.Errorf("%s: the test does not know what else it could be", f.Path)
			continue
		}
		l := load(t, "", f.Variable+"="+value)
		found := false
		for _, v := range l.Values() {
			if v.Origin != config.FromDefault {
				found = found || v.Variable == f.Variable && strings.HasPrefix(v.Path, f.Path)
			}
		}
		same := cmp.Equal(config.Default(), l.Config, refs, cmpopts.EquateEmpty())
		// An entry of a map that has nothing in it has only defaults.
		if same || !found && !strings.HasSuffix(value, ":{}}") {
			t.Errorf("%s=%s changed nothing", f.Variable, value)
		}
		bad := "\x7f"
		if _, err := config.Load(config.Options{Environ: []string{f.Variable + "=" + bad}}); err == nil {
			t.Errorf("%s takes %q", f.Variable, bad)
		}
	}
	if n < 40 {
		t.Errorf("only %d keys were tried", n)
	}
}

// TestReference holds that the reference in the documentation is up to date.
func TestReference(t *testing.T) {
	t.Parallel()
	const begin, end = "<!-- reference:begin (made from config by `make generate`) -->\n", "<!-- reference:end -->\n"
	path := filepath.Join("..", "docs", "configuration.md")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(data), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s lacks the lines around the reference", path)
	}
	want := head + begin + reference() + end + tail
	if want == string(data) {
		return
	}
	if !*update {
		t.Fatalf("%s does not show the keys as they are; run: make generate", path)
	}
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// reference gives the keys as tables, one for each key at the top.
func reference() string {
	var b strings.Builder
	for _, f := range config.Fields() {
		if !strings.ContainsAny(f.Path, ".[") {
			fmt.Fprintf(&b, "\n### %s\n\n%s", f.Path, f.Doc)
			if f.Variable != "" {
				fmt.Fprintf(&b, " As a variable: `%s`.", f.Variable)
			}
			if f.Example != "" {
				fmt.Fprintf(&b, "\n\n```yaml\n%s:\n  %s\n```", f.Path, strings.ReplaceAll(f.Example, "\n", "\n  "))
			}
			b.WriteString("\n\n| key | is | default | what for |\n| --- | --- | --- | --- |\n")
			continue
		}
		is := f.Type
		switch {
		case len(f.Values) > 0 && is == "list":
			is = "list of " + code(f.Values...)
		case len(f.Values) > 0:
			is = code(f.Values...)
		case f.Least != "" && f.Most != "":
			is += ", " + f.Least + " to " + f.Most
		}
		doc := f.Doc
		if f.Like != "" {
			doc += " The keys are those of `" + f.Like + "`."
		}
		def := ""
		if f.Default != "" {
			def = code(f.Default)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.Path, is, def, doc)
	}
	b.WriteByte('\n')
	return b.String()
}

func code(words ...string) string { return "`" + strings.Join(words, "`, `") + "`" }
