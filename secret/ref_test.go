package secret_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/secret"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"env:TOKEN", "env:_x9", "env:" + strings.Repeat("A", secret.MaxName), "file:token", "file:/run/secrets/token",
		`file:C:\keys\token`, "file:with space/ü", "file::", "keyring:telegram", "keyring:a/b@c:d.e_f-g",
	} {
		ref, err := secret.Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if ref.String() != text || ref.IsZero() {
			t.Errorf("%s became %s", text, ref)
		}
	}
	token := "ghp_" + strings.Repeat("aB3d", 9)
	tests := []struct{ name, text, says string }{
		{"nothing", "", "env:NAME"},
		{"a word", "hunter2", "keyring:NAME"},
		{"another kind", "vault:x", "file:PATH"},
		{"capitals", "ENV:TOKEN", "env:NAME"},
		{"no variable", "env:", "lacks"},
		{"no path", "file:", "lacks"},
		{"no item", "keyring:", "lacks"},
		{"a space before the variable", "env: TOKEN", "letters, digits and _"},
		{"a variable that is none", "env:MY-TOKEN", "letters, digits and _"},
		{"a variable that starts with a digit", "env:1TOKEN", "letters, digits and _"},
		{"a long variable", "env:" + strings.Repeat("A", secret.MaxName+1), "at most 128"},
		{"a newline after the variable", "env:TOKEN\n", "letters, digits and _"},
		{"a zero byte in the path", "file:a\x00b", "none is zero"},
		{"a long path", "file:" + strings.Repeat("a/", secret.MaxPath), "at most 4096"},
		{"a space in the item", "keyring:a b", "keyring item"},
		{"a long item", "keyring:" + strings.Repeat("a", secret.MaxName+1), "at most 128"},
		{"a token", token, "looks like a credential"},
		{"a token as a variable", "env:" + token, "looks like a credential"},
		{"a token as a path", "file:" + token, "looks like a credential"},
		{"a token as an item", "keyring:" + token, "looks like a credential"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			ref, err := secret.Parse(test.text)
			wantCode(t, err, parley.CodeInvalid, token, "hunter2")
			wantText(t, err, test.says)
			if !ref.IsZero() {
				t.Errorf("refused, but gave %s", ref)
			}
		})
	}
}

func TestRefInJSON(t *testing.T) {
	t.Parallel()
	var got struct{ A, B secret.Ref }
	if err := json.Unmarshal([]byte(`{"A":"env:TOKEN","B":""}`), &got); err != nil {
		t.Fatal(err)
	}
	if got.A.String() != "env:TOKEN" || !got.B.IsZero() {
		t.Errorf("got %+v", got)
	}
	data, err := json.Marshal(got)
	if want := `{"A":"env:TOKEN","B":""}`; err != nil || string(data) != want {
		t.Errorf("got %s, %v, want %s", data, err, want)
	}
	before := got
	if err := json.Unmarshal([]byte(`{"A":"hunter2"}`), &got); parley.CodeOf(err) != parley.CodeInvalid {
		t.Errorf("a secret was taken for a reference: %v", err)
	}
	if got != before {
		t.Errorf("a refused reference left %+v", got)
	}
}

func TestResolveVariable(t *testing.T) {
	t.Setenv("PARLEY_SECRET_TEST", sample)
	t.Setenv("PARLEY_SECRET_EMPTY", "")
	tests := []struct {
		ref  string
		from secret.Sources
		code parley.Code
		says string
	}{
		{ref: "env:PARLEY_SECRET_TEST"},
		{ref: "env:PARLEY_SECRET_MISSING", code: parley.CodeNotFound, says: "PARLEY_SECRET_MISSING is not set"},
		{ref: "env:PARLEY_SECRET_EMPTY", code: parley.CodeNotFound, says: "PARLEY_SECRET_EMPTY is empty"},
		{ref: "env:ANY", from: secret.Sources{LookupEnvFunc: func(name string) (string, bool) { return sample, name == "ANY" }}},
		{
			ref: "env:PARLEY_SECRET_TEST", from: secret.Sources{LookupEnvFunc: func(string) (string, bool) { return "", false }},
			code: parley.CodeNotFound, says: "PARLEY_SECRET_TEST is not set",
		},
		{
			ref: "env:LONG", from: secret.Sources{LookupEnvFunc: func(string) (string, bool) { return strings.Repeat(sample, 4000), true }},
			code: parley.CodeTooLarge, says: "env:LONG has more than 65536 bytes",
		},
	}
	for _, test := range tests {
		resolve(t, test.ref, test.from, test.code, test.says)
	}
}

// resolve expects the sample, or an error.
func resolve(t *testing.T, text string, from secret.Sources, code parley.Code, says string) {
	t.Helper()
	ref, err := secret.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	v, err := ref.Resolve(t.Context(), from)
	wantCode(t, err, code)
	want := sample
	if code != "" {
		wantText(t, err, says)
		want = ""
	}
	if v.Reveal() != want {
		t.Errorf("%s gives %q", ref, v.Reveal())
	}
}

func TestResolveFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	write("plain", sample, 0o600)
	write("readonly", sample, 0o400)
	write("newline", sample+"\n", 0o600)
	write("windows", sample+"\r\n", 0o600)
	write("two", sample+"\n\n", 0o600)
	write("empty", "", 0o600)
	write("blank", "\n", 0o600)
	write("group", sample, 0o640)
	write("world", sample, 0o604)
	write("execute", sample, 0o601)
	write("big", strings.Repeat("x", secret.MaxValue+1), 0o600)
	if err := os.Symlink("plain", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		code parley.Code
		says string
		unix bool
	}{
		{name: "plain"},
		{name: "readonly"},
		{name: "newline"},
		{name: "windows"},
		{name: "link"},
		{name: "missing", code: parley.CodeNotFound, says: "does not exist; write the secret into it"},
		{name: "empty", code: parley.CodeNotFound, says: "is empty"},
		{name: "blank", code: parley.CodeNotFound, says: "is empty"},
		{name: "group", code: parley.CodeInvalid, says: "chmod 600", unix: true},
		{name: "world", code: parley.CodeInvalid, says: "mode 0604", unix: true},
		{name: "execute", code: parley.CodeInvalid, says: "chmod 600", unix: true},
		{name: "big", code: parley.CodeTooLarge, says: "more than 65536 bytes"},
		{name: ".", code: parley.CodeInvalid, says: "is a folder"},
		{name: "plain/below", code: parley.CodeUnavailable, says: "cannot use", unix: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if test.unix && runtime.GOOS == "windows" {
				t.Skip("Windows has no such modes")
			}
			resolve(t, "file:"+test.name, secret.Sources{Dir: dir}, test.code, test.says)
			resolve(t, "file:"+filepath.Join(dir, test.name), secret.Sources{Dir: "elsewhere"}, test.code, test.says)
		})
	}
	ref, err := secret.Parse("file:two")
	if err != nil {
		t.Fatal(err)
	}
	if v, err := ref.Resolve(t.Context(), secret.Sources{Dir: dir}); err != nil || v.Reveal() != sample+"\n" {
		t.Errorf("of two newlines, one is the secret's: %q, %v", v.Reveal(), err)
	}
}

func TestResolveNothing(t *testing.T) {
	t.Parallel()
	_, err := secret.Ref{}.Resolve(t.Context(), secret.Sources{})
	wantCode(t, err, parley.CodeInvalid)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, text := range []string{"env:HOME", "file:x", "keyring:x"} {
		ref, err := secret.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		v, err := ref.Resolve(ctx, secret.Sources{})
		wantCode(t, err, parley.CodeUnavailable)
		wantText(t, err, context.Canceled.Error())
		if v.Reveal() != "" {
			t.Errorf("%s was resolved although the context had ended", text)
		}
	}
}

func TestResolveTellsTheScrubber(t *testing.T) {
	t.Parallel()
	var s secret.Scrubber
	from := secret.Sources{Scrubber: &s, LookupEnvFunc: func(string) (string, bool) { return sample, true }}
	resolve(t, "env:X", from, "", "")
	if got := s.Text("it is " + sample); got != "it is [secret]" {
		t.Errorf("got %q", got)
	}
}

func TestCheckPlain(t *testing.T) {
	t.Parallel()
	// Put together here, so that no scanner takes them for real ones.
	r := func(n int) string { return strings.Repeat("aB3x9Zq-", 20)[:n] }
	w := func(n int) string { return strings.Repeat("aB3x9Zqk", 20)[:n] }
	for name, text := range map[string]string{
		"provider":        "sk-" + r(24),
		"payments":        "sk_live_" + w(24),
		"forge":           "ghp_" + w(36),
		"forge, long":     "github_pat_" + w(60),
		"forge, other":    "glpat-" + r(20),
		"chat":            "xoxb-" + r(30),
		"chat, app":       "xapp-" + r(30),
		"cloud":           "AKIA" + strings.Repeat("Z9", 8),
		"search":          "AIza" + w(35),
		"hub":             "hf_" + w(34),
		"mail":            "SG." + w(22) + "." + w(43),
		"web token":       "eyJ" + w(20) + ".eyJ" + w(20) + "." + w(20),
		"bot":             "123456789:" + w(35),
		"bot, other":      w(26) + "." + w(6) + "." + w(38),
		"private key":     "-----BEGIN " + "PRIVATE KEY-----\nMII",
		"header":          "Authorization: Bearer " + w(20),
		"address":         "postgres://me:" + "hunter2@db/x",
		"random word":     "the token is " + w(32) + ", keep it",
		"in an argument":  "--token=sk-" + r(24),
		"in a longer one": "first line\nkey: 'ghp_" + w(36) + "'\n",
	} {
		err := secret.CheckPlain(text)
		if parley.CodeOf(err) != parley.CodeInvalid {
			t.Errorf("%s was taken for harmless", name)
			continue
		}
		wantCode(t, err, parley.CodeInvalid, text, w(10))
	}
	for _, text := range []string{
		"", "Berlin", "env:TOKEN", "Answer in short sentences, and never use the word ask-me-anything-about-sklearn.",
		"https://example.org/a/b?c=d#e", "https://me@example.org/", "postgres://me:$PASSWORD@db/x", "mailto:someone@example.org",
		"8f14e45fceea167a5a36dedd4bea2543", strings.Repeat("0123456789abcdef", 4), "550e8400-e29b-41d4-a716-446655440000",
		"01ARZ3NDEKTSV4RRFFQ69G5FAV01ARZ3NDEKTSV4RRFFQ69G5FAV", "aVeryLongNameInCamelCaseThatHas123DigitsInIt", "/home/User1/Documents/Projects2024/Notes",
		"2024-01-02T03:04:05Z", "12:30", "the basic idea", "risk-assessment-of-the-whole-department-in-2024", "v1.2.3-rc.1+build.20240102",
	} {
		if err := secret.CheckPlain(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}
