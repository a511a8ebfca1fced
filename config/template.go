package config

import (
	"fmt"
	"slices"
	"strings"
)

const templateHead = `# Configuration of Parley. Every key is here, with its default behind a #: take
# the # away to change it. 'parley config check' says what is wrong, 'parley
# config show' what holds and why.
#
# Each key can also be set by a variable, which counts more than this file:
# session.busy is PARLEY_SESSION_BUSY. Lists and maps are JSON there.
#
# Durations are written 90s, 30m, 1h30m, 7d; sizes 512KiB, 25MiB. A secret is
# never written down here but referred to: env:NAME, file:PATH or keyring:NAME.
`

// Template gives a configuration file with every key commented out at its
// default, and what it is for. It loads as the defaults, and so it does when the
// # before the keys are taken away.
func Template() string {
	var b strings.Builder
	b.WriteString(templateHead)
	fields := Fields()
	for i, f := range fields {
		if f.entry() {
			continue // shown with the map or list it is in
		}
		indent := strings.Repeat("  ", strings.Count(f.Path, "."))
		b.WriteByte('\n')
		writeComment(&b, indent+"#", f.sentence())
		if f.Section {
			fmt.Fprintf(&b, "%s%s:\n", indent, f.name())
			continue
		}
		if f.Example != "" {
			fmt.Fprintf(&b, "%s# For example:\n%s#   %s:\n", indent, indent, f.name())
			for line := range strings.SplitSeq(f.Example, "\n") {
				fmt.Fprintf(&b, "%s#     %s\n", indent, line)
			}
		}
		writeEntry(&b, indent+"#   ", f.Path, fields[i+1:])
		fmt.Fprintf(&b, "%s#%s: %s\n", indent, f.name(), f.Default)
	}
	return b.String()
}

// entry reports whether a field is one of the entries of a map or list.
func (f Field) entry() bool {
	return strings.Contains(f.Path, ".NAME") || strings.Contains(f.Path, "[]")
}

// name gives the key alone.
func (f Field) name() string { return f.Path[strings.LastIndexByte(f.Path, '.')+1:] }

// writeEntry lists what an entry of a map or list can have. All of it stays a
// comment when the # before the keys are taken away.
func writeEntry(b *strings.Builder, indent, path string, fields []Field) {
	for i, f := range fields {
		rest, ok := strings.CutPrefix(f.Path, path)
		if !ok || !f.entry() {
			return
		}
		if i == 0 {
			fmt.Fprintf(b, "%s\n%sEach can have:\n", strings.TrimRight(indent, " "), strings.TrimSuffix(indent, "  "))
		}
		inner := indent + strings.Repeat("  ", strings.Count(strings.ReplaceAll(rest, ".NAME", ""), ".")-1)
		writeComment(b, inner+"#", f.sentence())
		value := " " + f.Default
		if f.Section && f.Like == "" {
			value = ""
		}
		fmt.Fprintf(b, "%s%s:%s\n", inner, f.name(), strings.TrimRight(value, " "))
		if i+1 < len(fields) && !f.Section && strings.HasPrefix(fields[i+1].Path, f.Path) {
			fmt.Fprintf(b, "%s  # Each can have:\n", inner)
		}
	}
}

// sentence gives what a key is for and what it can be.
func (f Field) sentence() string {
	text := f.Doc
	values := slices.DeleteFunc(slices.Clone(f.Values), func(v string) bool { return strings.Contains(f.Doc, v) })
	switch {
	case len(values) > 0:
		text += " Can be " + either(f.Values) + "."
	case f.Least != "" && f.Most != "":
		text += fmt.Sprintf(" From %s to %s.", f.Least, f.Most)
	case f.Least != "" && strings.Trim(f.Least, "0s") != "":
		text += fmt.Sprintf(" At least %s.", f.Least)
	}
	if f.Like != "" {
		text += " The keys are those of " + f.Like + "."
	}
	return text
}

// writeComment writes text in lines of a readable length, each after the mark.
func writeComment(b *strings.Builder, mark, text string) {
	const width = 78
	line := mark
	for word := range strings.FieldsSeq(text) {
		if len(line)+1+len(word) > width {
			b.WriteString(line + "\n")
			line = mark
		}
		line += " " + word
	}
	b.WriteString(line + "\n")
}
