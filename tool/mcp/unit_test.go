package mcp_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/secret"
	"github.com/parley-run/parley/tool/mcp"
)

func TestNew(t *testing.T) {
	t.Parallel()
	tests := map[string]mcp.Config{
		"no name":         {Command: []string{"x"}},
		"odd name":        {Name: "a b", Command: []string{"x"}},
		"long name":       {Name: strings.Repeat("a", 33), Command: []string{"x"}},
		"neither":         {Name: "a"},
		"both":            {Name: "a", Command: []string{"x"}, URL: "https://example.com"},
		"empty command":   {Name: "a", Command: []string{""}},
		"odd variable":    {Name: "a", Command: []string{"x"}, Env: map[string]mcp.Setting{"A=B": {}}},
		"no scheme":       {Name: "a", URL: "example.com"},
		"another scheme":  {Name: "a", URL: "ftp://example.com"},
		"no host":         {Name: "a", URL: "https:///x"},
		"user in it":      {Name: "a", URL: "https://me:" + hidden + "@example.com"},
		"not an address":  {Name: "a", URL: "https://" + hidden + "\x7f"},
		"odd header":      {Name: "a", URL: "https://example.com", Headers: map[string]mcp.Setting{"A: B": {}}},
		"header of ours":  {Name: "a", URL: "https://example.com", Headers: map[string]mcp.Setting{"mcp-session-id": {}}},
		"header of HTTP":  {Name: "a", URL: "https://example.com", Headers: map[string]mcp.Setting{"host": {}}},
		"an empty header": {Name: "a", URL: "https://example.com", Headers: map[string]mcp.Setting{"": {}}},
	}
	for name, cfg := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := mcp.New(cfg)
			wantError(t, err, parley.CodeInvalid)
			if s != nil {
				t.Error("there is a server all the same")
			}
		})
	}
	s, err := mcp.New(mcp.Config{Name: "a", URL: "https://example.com", Headers: map[string]mcp.Setting{"Authorization": {}}})
	if err != nil || s.Name() != "a" || s.Close() != nil || s.Close() != nil {
		t.Errorf("one that was never used: %v", err)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("l", 70)
	tests := []struct {
		raw  []string
		want map[string]string
	}{
		{nil, map[string]string{}},
		{[]string{"get", "Get", "g-e_t"}, map[string]string{"get": "s_get", "Get": "s_Get", "g-e_t": "s_g-e_t"}},
		{[]string{"a.b"}, map[string]string{"a.b": "s_a_b"}},
		{[]string{"a.b", "a_b"}, map[string]string{"a.b": "s_a_b_2e7336dc", "a_b": "s_a_b"}},
		{[]string{"a.b", "a/b"}, map[string]string{"a.b": "s_a_b_2e7336dc", "a/b": "s_a_b_c14cddc0"}},
		{[]string{"ü", "\xff"}, map[string]string{"ü": "s___607474ca", "\xff": "s___a8100ae6"}},
		{[]string{long}, map[string]string{long: "s_" + long[:53] + "_c1d94830"}},
	}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, mcp.Names("s", test.raw)); diff != "" {
			t.Errorf("%q: %s", test.raw, diff)
		}
	}
}

var usable = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

func FuzzNames(f *testing.F) {
	f.Add("get\na.b\na/b\na_b\n" + strings.Repeat("x", 80))
	f.Add("a.b\na_b_2e7336dc\na_b\na:b")
	f.Add("\xff\nü\n\n ")
	f.Fuzz(func(t *testing.T, text string) {
		raw := strings.Split(text, "\n")
		got := mcp.Names("server", raw)
		seen := map[string]string{}
		for r, name := range got {
			if !usable.MatchString(name) || !strings.HasPrefix(name, "server_") {
				t.Errorf("%q became %q", r, name)
			}
			if other, ok := seen[name]; ok {
				t.Errorf("%q and %q both became %q", r, other, name)
			}
			seen[name] = r
			if !slices.Contains(raw, r) {
				t.Errorf("%q is not there", r)
			}
		}
		for _, r := range raw {
			if own := "server_" + r; usable.MatchString(own) && got[r] != own {
				t.Errorf("%q needs no change and became %q", r, got[r])
			}
		}
		slices.Reverse(raw)
		if again := mcp.Names("server", append(raw, raw[0])); !maps.Equal(got, again) {
			t.Errorf("in another order %v became %v", got, again)
		}
	})
}

func FuzzSchema(f *testing.F) {
	for _, text := range []string{
		`null`, `true`, `false`, `{}`, `[]`, `7`, `{"type":"object"}`, `{"type":["null","object"]}`, `{"type":"string"}`, `{"type":{}}`,
		`{"properties":null}`, `{"type":"object","x":"\u0000"}`, strings.Repeat(`{"a":`, 70) + `1` + strings.Repeat(`}`, 70),
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var given any
		if json.Unmarshal([]byte(text), &given) != nil {
			return
		}
		before := fmt.Sprint(given)
		got, err := mcp.SchemaOf(given)
		if fmt.Sprint(given) != before {
			t.Errorf("what was given has changed: %s", text)
		}
		if err != nil {
			if got != nil {
				t.Errorf("refused, but gave %s", got)
			}
			return
		}
		var schema map[string]any
		if json.Unmarshal(got, &schema) != nil || schema["type"] != "object" || len(got) > mcp.MaxSchema {
			t.Errorf("%s became %s", text, got)
		}
		if object, ok := given.(map[string]any); ok && object["type"] != "object" && object["type"] != nil {
			if list, ok := object["type"].([]any); !ok || !slices.Contains(list, any("object")) {
				t.Errorf("%s is no object's and became %s", text, got)
			}
		}
	})
}

// TestSaid looks for secrets of one line and of several in what is put on one.
func TestSaid(t *testing.T) {
	t.Parallel()
	var known secret.Scrubber
	known.Add(secret.NewValue("one two three"), secret.NewValue("-----BEGIN-----\nabcdef\n-----END-----"))
	for text, want := range map[string]string{
		"a\nb\x1bc": "a b c", "it is one two three.": "it is [secret].", "one\ntwo\tthree": "[secret]", "one \x00two three": "[secret]",
		"-----BEGIN-----\nabcdef\n-----END-----\n": "[secret]", "-----BEGIN----- abcdef -----END-----": "[secret]",
		"-----BEGIN-----\tabcdef\t-----END-----":             "[secret]",
		strings.Repeat("x", mcp.MaxSaid-4) + "one two three": strings.Repeat("x", mcp.MaxSaid-4) + "[sec",
	} {
		if got := mcp.Said(&known, text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

func TestMessages(t *testing.T) {
	t.Parallel()
	const one = `{"jsonrpc":"2.0","method":"m"}`
	tests := map[string]struct {
		text     string
		messages int
		stray    int
		want     error
	}{
		"nothing":           {"", 0, 0, io.EOF},
		"one":               {one + "\n", 1, 0, io.EOF},
		"without an end":    {one, 1, 0, io.EOF},
		"Windows":           {one + "\r\n" + one + "\r\n", 2, 0, io.EOF},
		"empty lines":       {"\n\n \n" + one + "\n\n", 1, 0, io.EOF},
		"several in a line": {"[" + one + "," + one + "]\n" + one, 3, 0, io.EOF},
		"stray":             {"hello\n" + one + "\nhello\n{}\n[]\n[1]\n\x00\xff", 1, 1, io.EOF},
		"two in a line":     {one + one + "\n" + one, 1, 1, io.EOF},
		"the limit":         {strings.Repeat(" ", mcp.MaxMessage-len(one)-1) + one + "\n" + one, 2, 0, io.EOF},
		"beyond it":         {one + "\n" + strings.Repeat(" ", mcp.MaxMessage-len(one)) + one + "\n" + one, 1, 0, parley.ErrTooLarge},
		"many stray":        {strings.Repeat("x\n", 999) + one + "\n" + strings.Repeat("x\n", 1001) + one, 1, 1, parley.ErrInvalid},
		"large stray":       {one + "\n" + strings.Repeat("x", 1<<20+1) + "\n" + one, 1, 1, parley.ErrInvalid},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, stray, err := mcp.Messages(strings.NewReader(test.text))
			if len(got) != test.messages || stray != test.stray || !errors.Is(err, test.want) {
				t.Errorf("got %d messages, %d times told, %v; want %d, %d, %v", len(got), stray, err, test.messages, test.stray, test.want)
			}
		})
	}
}
