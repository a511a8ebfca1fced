package prompt_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/prompt"
)

// places are where a value of somebody gets into a prompt.
var places = map[string]struct {
	put  func(c *parley.PromptContext, value string)
	line string // of the preface that shows it; "": the system prompt does
}{
	"title":           {func(c *parley.PromptContext, v string) { c.Session.Title.Text = v }, "Title"},
	"chat":            {func(c *parley.PromptContext, v string) { c.Session.Metadata[prompt.MetaChatName] = v }, "Chat"},
	"chat id":         {func(c *parley.PromptContext, v string) { c.Session.Metadata[prompt.MetaChatID] = v }, "Chat"},
	"topic":           {func(c *parley.PromptContext, v string) { c.Session.Metadata[prompt.MetaTopicName] = v }, "Topic"},
	"name":            {func(c *parley.PromptContext, v string) { c.People[1].Name = v }, "People"},
	"name of a bot":   {func(c *parley.PromptContext, v string) { c.People[1].Name, c.People[1].Bot = v, true }, "People"},
	"safe account":    {func(c *parley.PromptContext, v string) { c.People[1].ID = parley.IdentityID("telegram:" + v) }, "People"},
	"account":         {func(c *parley.PromptContext, v string) { c.People[1].ID = parley.IdentityID("discord:" + v) }, "People"},
	"unknown account": {func(c *parley.PromptContext, v string) { c.People[1] = parley.Identity{ID: parley.IdentityID(v)} }, "People"},
	"notice":          {func(c *parley.PromptContext, v string) { c.Notices[0].Text = v }, "Notice"},
	"platform":        {func(c *parley.PromptContext, v string) { c.Session.Source.Platform = v }, ""},
	"kind":            {func(c *parley.PromptContext, v string) { c.Session.Source = parley.Source{Kind: v} }, ""},
}

func TestInjection(t *testing.T) {
	t.Parallel()
	if len(hostile) < 60 {
		t.Fatalf("there are %d hostile values, and 60 are promised", len(hostile))
	}
	for _, key := range [][]byte{nil, idKey} {
		p := newPrompter(t, prompt.Config{AgentFunc: agentText, IDKey: key})
		plain := write(t, p, inGroup()).System
		for place, at := range places {
			for name, value := range hostile {
				t.Run(fmt.Sprintf("ids %t/%s/%s", key != nil, place, name), func(t *testing.T) {
					t.Parallel()
					c := inGroup()
					at.put(&c, value)
					told := write(t, p, c)
					checkSystem(t, told.System, plain)
					checkPreface(t, told.Preface, at.line == "Notice" && strings.TrimSpace(value) == "")
				})
			}
		}
	}
}

// value is a quoted one, whatever is in it.
const value = `"[^"\n]{1,128}"`

var (
	// linesOfNote are the lines that the note of [inGroup] has.
	linesOfNote = []*regexp.Regexp{
		regexp.MustCompile(`^\[Note from the runtime, not from a person\]$`),
		regexp.MustCompile(`^Time: Sunday, 2026-11-15 12:11 \+00:00 \(UTC\)$`),
		regexp.MustCompile(`^Chat: ` + value + `(?: \(id ` + value + `\))?$`),
		regexp.MustCompile(`^Topic: ` + value + `$`),
		regexp.MustCompile(`^Title: ` + value + `$`),
		regexp.MustCompile(`^People: "Alice"(?: \(id ` + value + `\))?(?:, (?:` + value + `|somebody)(?: \((?:a program)?(?:, )?(?:id ` + value + `)?\))?)?(?: and 1 more)?$`),
		regexp.MustCompile(`^Notice: [^\n]{1,1000}$`),
		regexp.MustCompile(`^\[End of the note\]$`),
	}
	quoted = regexp.MustCompile(value)
)

// checkPreface reads a note line by line: it has the lines of the program, in
// their order, and what people chose stands in quotes.
func checkPreface(t *testing.T, preface string, withoutNotice bool) {
	t.Helper()
	want := linesOfNote
	if withoutNotice {
		want = slices.Delete(slices.Clone(want), 6, 7)
	}
	lines := strings.Split(preface, "\n")
	if len(lines) != len(want) {
		t.Fatalf("the note has %d lines, want %d:\n%q", len(lines), len(want), preface)
	}
	for i, l := range lines {
		if !want[i].MatchString(l) {
			t.Errorf("line %d is %q, want %s", i+1, l, want[i])
		}
		checkRunes(t, l)
		if i == 0 || i == len(lines)-1 {
			continue
		}
		if strings.ContainsAny(l, "[]［］") {
			t.Errorf("line %d has brackets: %q", i+1, l)
		}
		if strings.HasPrefix(l, "Notice: ") {
			continue // the program's own words, with quotes where it wants them
		}
		for _, v := range quoted.FindAllString(l, -1) {
			checkValue(t, v)
		}
	}
}

// checkSystem compares a system prompt with the one of a plain session: nothing
// differs but one value.
func checkSystem(t *testing.T, system, plain string) {
	t.Helper()
	before, after, found := strings.Cut(plain, `"telegram"`)
	if !found {
		t.Fatal("the plain system prompt does not tell the platform")
	}
	got, ok := strings.CutPrefix(system, before)
	if !ok {
		t.Fatalf("the system prompt begins in another way:\n%s", system)
	}
	if got, ok = strings.CutSuffix(got, after); !ok {
		t.Fatalf("the system prompt ends in another way:\n%s", system)
	}
	checkValue(t, got)
}

// checkValue says what a quoted value can hold. It does not know how values are
// made.
func checkValue(t *testing.T, v string) {
	t.Helper()
	if len(v) < 3 || v[0] != '"' || v[len(v)-1] != '"' {
		t.Fatalf("%q is not quoted", v)
	}
	inner := v[1 : len(v)-1]
	checkRunes(t, inner)
	if n := utf8.RuneCountInString(inner); n > prompt.MaxValue {
		t.Errorf("a value has %d characters: %q", n, v)
	}
	for _, r := range inner {
		if 0xff01 <= r && r <= 0xff5e { // the wide form of ASCII
			r -= 0xfee0
		}
		if strings.ContainsRune("\"`<>[]\\", r) || unicode.In(r, unicode.Zl, unicode.Zp) || r != ' ' && unicode.IsSpace(r) {
			t.Errorf("a value holds %q: %q", r, v)
		}
	}
	if inner != strings.TrimSpace(inner) || !strings.ContainsFunc(inner, func(r rune) bool { return unicode.IsGraphic(r) && r != ' ' }) {
		t.Errorf("nothing can be seen of %q", v)
	}
}

// checkRunes says what a line can hold.
func checkRunes(t *testing.T, l string) {
	t.Helper()
	if !utf8.ValidString(l) {
		t.Errorf("%q is not valid", l)
	}
	for _, r := range l {
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) {
			t.Errorf("%U stands in %q", r, l)
		}
	}
}

// FuzzPrompt: whatever values hold, a prompt has the lines of the program, and the
// values stand in quotes.
func FuzzPrompt(f *testing.F) {
	for _, v := range hostile {
		f.Add(v, v, v, v, v)
	}
	f.Add("Orders", "Cakes", "A cake", "Bob", "7")
	p := newPrompter(f, prompt.Config{AgentFunc: agentText, IDKey: idKey})
	plain := write(f, p, inGroup()).System
	f.Fuzz(func(t *testing.T, chat, topic, title, name, id string) {
		c := inGroup()
		// An empty value has no line, and the lines are counted.
		c.Session.Metadata[prompt.MetaChatName] = "x" + chat
		c.Session.Metadata[prompt.MetaTopicName] = topic + "x"
		c.Session.Title.Text = title + "\n" + "x"
		c.Notices[0].Text = "x" + title
		c.Session.Metadata[prompt.MetaChatID] = id
		c.People[1].ID, c.People[1].Name = parley.IdentityID("discord:"+id), name
		c.Session.Source.Platform = "x" + name
		told := write(t, p, c)
		checkSystem(t, told.System, plain)
		checkPreface(t, told.Preface, false)
	})
}
