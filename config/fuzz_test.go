package config_test

import (
	"strings"
	"testing"

	"github.com/parley-run/parley/config"
)

func FuzzLoad(f *testing.F) {
	f.Add(contract, "")
	f.Add(config.Template(), "x")
	for _, text := range []string{
		"a: &x [*x]\nb: *x", "? a\n: b", "<<: {a: b}", "session: {busy: |\n x}", "- - - a", "a: b: c", "{", "[", "'", "\"", "---\n---\n", "%TAG", "!!map {}",
		"session:\n\tbusy: x", "\ufeffa: 1", "a: >-\n  x\n b", "serve: {drain: 1d1d}", "limits: {blob: 1 }", "session: {identity_links: {a: [1, 2.5, true, ~]}}", "&a", "*a", "a: !<x> b", "\x00", "? [a]: b", "{a, b}",
	} {
		f.Add(text, text)
	}
	for _, text := range []string{`{"main":{"model":"a/b"}}`, `[`, `{"a":`, `[1,2,{}]`, `"\ud800"`, `nul`, "[]]"} {
		f.Add("", text)
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		if strings.ContainsRune(value, 0) {
			return // no variable has it
		}
		path := write(t, text)
		l, err := config.Load(config.Options{File: path, Environ: []string{
			"PARLEY_AGENTS=" + value, "PARLEY_SESSION_BUSY=" + value, "PARLEY_LIMITS_BLOB=" + value, "PARLEY_SERVE_DRAIN=" + value,
		}})
		for _, p := range append(l.Warnings, problemsOf(t, err)...) {
			if p.Line < 1 || p.Column < 1 || (p.File == "") == (p.Variable == "") || p.Message == "" {
				t.Fatalf("a problem without a place: %+v", p)
			}
			if p.File != "" && p.Line > 1+strings.Count(text, "\n")+strings.Count(text, "\r") {
				t.Fatalf("a problem after the end of the file: %+v", p)
			}
		}
		if l.Config.Agents[config.MainAgent].Access == "" {
			t.Fatal("the agent main is missing")
		}
		_ = l.Config.Policies()
		if err == nil && len(l.Values()) == 0 {
			t.Fatal("there are no values")
		}
	})
}
