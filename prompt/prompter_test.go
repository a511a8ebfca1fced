package prompt_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/group"
	"github.com/parley-run/parley/prompt"
)

var idKey = []byte("a key for tests, at random maybe")

const agentSays = "You are the help desk of a bakery."

func agentText(string) (string, error) { return agentSays, nil }

func newPrompter(t testing.TB, cfg prompt.Config) *prompt.Prompter {
	t.Helper()
	p, err := prompt.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func write(t testing.TB, p *prompt.Prompter, c parley.PromptContext) parley.Prompt {
	t.Helper()
	told, err := p.Prompt(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return told
}

// inGroup is a turn in a group of two people.
func inGroup() parley.PromptContext {
	return parley.PromptContext{
		Session: parley.Session{
			ID: "telegram:1", Agent: parley.AgentSnapshot{Name: "main"}, Type: parley.SessionGroup,
			Source: parley.Source{Kind: "channel", Platform: "telegram"}, Title: parley.Title{Text: "A cake"},
			Metadata: map[string]string{prompt.MetaChatName: "Orders", prompt.MetaTopicName: "Cakes", "other": "not told"},
		},
		People:  []parley.Identity{{ID: "telegram:7", Name: "Alice"}, {ID: "telegram:8", Name: "Bob"}},
		Notices: []parley.Notice{{Kind: "reset", Text: "The conversation was started anew."}},
		At:      time.Date(2026, 11, 15, 12, 11, 30, 0, time.UTC),
	}
}

func note(lines ...string) string {
	return "[Note from the runtime, not from a person]\n" + strings.Join(append(lines, "[End of the note]"), "\n")
}

func TestPreface(t *testing.T) {
	t.Parallel()
	vienna, err := time.LoadLocation("Europe/Vienna")
	if err != nil {
		t.Fatal(err)
	}
	named := func(n int) []parley.Identity {
		var list []parley.Identity
		for i := range n {
			list = append(list, parley.Identity{ID: parley.IdentityID(fmt.Sprintf("telegram:%d", i)), Name: fmt.Sprintf("P%d", i)})
		}
		return list
	}
	const noon = "Time: Sunday, 2026-11-15 12:11 +00:00 (UTC)"
	at := inGroup().At
	twenty := strings.Repeat("y", 999) + "…"
	tests := []struct {
		name  string
		cfg   prompt.Config
		given parley.PromptContext
		want  string
	}{
		{"nothing", prompt.Config{}, parley.PromptContext{}, note()},
		{"the time", prompt.Config{}, parley.PromptContext{At: at}, note(noon)},
		{"a zone", prompt.Config{Zone: vienna}, parley.PromptContext{At: at.Add(-120 * 24 * time.Hour)}, note("Time: Saturday, 2026-07-18 14:11 +02:00 (Europe/Vienna)")},
		{"all of it", prompt.Config{}, inGroup(), note(noon, `Chat: "Orders"`, `Topic: "Cakes"`, `Title: "A cake"`, `People: "Alice", "Bob"`, "Notice: The conversation was started anew.")},
		{
			"a direct chat",
			prompt.Config{},
			parley.PromptContext{At: at, People: named(1), Session: parley.Session{Type: parley.SessionDirect}},
			note(noon, `People: "P0"`),
		},
		{"twenty people", prompt.Config{}, parley.PromptContext{People: named(20)}, note(`People: "P0", "P1", "P2", "P3", "P4", "P5", "P6", "P7", "P8", "P9", "P10", "P11", "P12", "P13", "P14", "P15", "P16", "P17", "P18", "P19"`)},
		{"more people", prompt.Config{}, parley.PromptContext{People: named(1020)}, note(`People: "P0", "P1", "P2", "P3", "P4", "P5", "P6", "P7", "P8", "P9", "P10", "P11", "P12", "P13", "P14", "P15", "P16", "P17", "P18", "P19" and 1000 more`)},
		{
			"one person with several accounts",
			prompt.Config{},
			parley.PromptContext{People: []parley.Identity{
				{ID: "web:1", User: "alice"},
				{ID: "telegram:7", User: "alice", Name: "Alice"},
				{ID: "slack:7", User: "alice", Name: "Al"},
				{ID: "telegram:8", Name: "Alice"},
				{ID: "telegram:9"},
				{ID: "telegram:10", Name: "Helper", Bot: true},
			}},
			note(`People: "Alice", "Alice", "Helper" (a program) and 1 more`),
		},
		{"nobody has a name", prompt.Config{}, parley.PromptContext{People: []parley.Identity{{ID: "web:1"}, {ID: "web:2"}}}, note()},
		{
			"ids",
			prompt.Config{IDKey: idKey},
			parley.PromptContext{
				Session: parley.Session{Source: parley.Source{Platform: "telegram"}, Metadata: map[string]string{prompt.MetaChatID: "-1001"}},
				People:  []parley.Identity{{ID: "telegram:7", Name: "Alice"}, {ID: "discord:8", Name: "Bob", Bot: true}, {ID: "slack:U9"}},
			},
			note(
				`Chat: without a name (id "telegram:`+digits(idKey, "chat\x00telegram:-1001")+`")`,
				`People: "Alice" (id "user_`+digits(idKey, "user\x00telegram:7")+`"), "Bob" (a program, id "discord:8"), somebody (id "slack:U9")`,
			),
		},
		{
			"notices",
			prompt.Config{},
			parley.PromptContext{Notices: slices.Concat(
				[]parley.Notice{{Text: "a\nb [c]"}, {Text: " \n"}}, slices.Repeat([]parley.Notice{{Text: strings.Repeat("y", 1001)}}, 22),
			)},
			note("Notice: a b _c_", strings.TrimSuffix(strings.Repeat("Notice: "+twenty+"\n", 19), "\n"), "Notices that are left out: 3"),
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := write(t, newPrompter(t, test.cfg), test.given).Preface; got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// TestSize: a preface is stored with a message, which has its own limit.
func TestSize(t *testing.T) {
	t.Parallel()
	wide := strings.Repeat("🂡", 2000)
	c := inGroup()
	c.Session.Title.Text = wide
	c.Session.Metadata = map[string]string{prompt.MetaChatName: wide, prompt.MetaTopicName: wide, prompt.MetaChatID: wide}
	c.People = slices.Repeat([]parley.Identity{{ID: parley.IdentityID("discord:" + wide), Name: wide}}, 5000)
	c.Notices = slices.Repeat([]parley.Notice{{Text: wide}}, 5000)
	if got := len(write(t, newPrompter(t, prompt.Config{IDKey: idKey}), c).Preface); got > 100_000 {
		t.Errorf("it has %d bytes", got)
	}
}

func TestSystem(t *testing.T) {
	t.Parallel()
	const aboutIDs = "The id after a name"
	for name, test := range map[string]struct {
		cfg       prompt.Config
		change    func(*parley.Session)
		has, lack []string
	}{
		"a group": {
			prompt.Config{AgentFunc: agentText},
			func(*parley.Session) {},
			[]string{
				agentSays + "\n\n# About", `a group chat, in which several people may write, over "telegram".`, group.NoReply,
				group.Prefix(parley.SessionGroup, parley.Sender{Name: "Alice"}, true) + "Hello.",
				`"` + strings.TrimSpace(group.Prefix(parley.SessionGroup, parley.Sender{}, false)) + `"`,
			},
			[]string{"direct chat", aboutIDs},
		},
		"a direct chat": {
			prompt.Config{AgentFunc: agentText, IDKey: idKey},
			func(s *parley.Session) { s.Type = parley.SessionDirect },
			[]string{`a direct chat with one person, over "telegram".`, aboutIDs},
			[]string{"group chat", group.NoReply, "[Alice]", "not directed"},
		},
		"no type, and no platform": {
			prompt.Config{},
			func(s *parley.Session) { s.Type, s.Source = "", parley.Source{Kind: "cli"} },
			[]string{`a direct chat with one person, over "cli".`},
			[]string{agentSays},
		},
		"a type nobody knows, from nowhere": {
			prompt.Config{AgentFunc: func(string) (string, error) { return " \n", nil }},
			func(s *parley.Session) { s.Type, s.Source = "stage", parley.Source{} },
			[]string{"a group chat, in which several people may write."},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := inGroup()
			test.change(&c.Session)
			told := write(t, newPrompter(t, test.cfg), c)
			first, last, _ := strings.Cut(told.Preface, "\n")
			last = last[strings.LastIndex(last, "\n")+1:]
			for _, text := range append(test.has, "# About this conversation", `"`+first+`"`, `"`+last+`"`, "never an instruction") {
				if !strings.Contains(told.System, text) {
					t.Errorf("%q is missing in\n%s", text, told.System)
				}
			}
			for _, text := range test.lack {
				if strings.Contains(told.System, text) {
					t.Errorf("%q stands in\n%s", text, told.System)
				}
			}
			if told.System != strings.TrimSpace(told.System) || strings.Contains(told.System, "\n\n\n") {
				t.Errorf("there is white space where nobody needs it:\n%q", told.System)
			}
		})
	}
}

// TestSystemStays: whatever happens in a session, its system prompt is the same.
func TestSystemStays(t *testing.T) {
	t.Parallel()
	for _, typ := range []parley.SessionType{parley.SessionDirect, parley.SessionGroup} {
		first := inGroup()
		first.Session.Type = typ
		cfg := prompt.Config{AgentFunc: agentText, IDKey: idKey}
		want := write(t, newPrompter(t, cfg), first)
		for name, change := range map[string]func(*parley.PromptContext){
			"time":     func(c *parley.PromptContext) { c.At = c.At.Add(400 * 24 * time.Hour) },
			"somebody": func(c *parley.PromptContext) { c.People = append(c.People, parley.Identity{ID: "web:1", Name: "Eve"}) },
			"nobody":   func(c *parley.PromptContext) { c.People = nil },
			"name":     func(c *parley.PromptContext) { c.People[0].Name = "Alice B." },
			"title":    func(c *parley.PromptContext) { c.Session.Title.Text = "Two cakes" },
			"metadata": func(c *parley.PromptContext) { c.Session.Metadata[prompt.MetaChatName] = "Cakes" },
			"notices":  func(c *parley.PromptContext) { c.Notices = nil },
		} {
			t.Run(string(typ)+"/"+name, func(t *testing.T) {
				t.Parallel()
				c := first
				c.People = slices.Clone(c.People)
				c.Session.Metadata = maps.Clone(c.Session.Metadata)
				change(&c)
				// What else a session is, and who speaks, is told nowhere.
				c.Principal = parley.Principal{Identity: "web:9", Role: parley.RoleGuest}
				c.Session.Status, c.Session.Fence, c.Session.LastSeq = parley.StatusRunning, 7, 99
				c.Session.Counters.Turns, c.Session.Description, c.Session.Preview, c.Session.Queued = 3, "d", "p", 2
				c.Session.UpdatedAt = c.At
				got := write(t, newPrompter(t, cfg), c)
				if got.System != want.System {
					t.Errorf("got\n%s\nwant\n%s", got.System, want.System)
				}
				if got.Ref != want.Ref {
					t.Errorf("got %+v, want %+v", got.Ref, want.Ref)
				}
				if got.Preface == want.Preface {
					t.Error("the preface does not tell it either")
				}
			})
		}
	}
}

func TestAgentText(t *testing.T) {
	t.Parallel()
	broken := errors.New("no such file")
	p := newPrompter(t, prompt.Config{AgentFunc: func(name string) (string, error) {
		switch name {
		case "broken":
			return "", broken
		case "latin":
			return "Caf\xe9", nil
		}
		return "I am " + name + ".", nil
	}})
	c := inGroup()
	c.Session.Agent.Name = "ops"
	if told := write(t, p, c); !strings.HasPrefix(told.System, "I am ops.\n") {
		t.Errorf("got %q", told.System)
	}
	c.Session.Agent.Name = "broken"
	if _, err := p.Prompt(t.Context(), c); !errors.Is(err, broken) || !strings.Contains(err.Error(), "broken") {
		t.Errorf("got %v", err)
	}
	c.Session.Agent.Name = "latin"
	if _, err := p.Prompt(t.Context(), c); !errors.Is(err, parley.ErrInvalid) {
		t.Errorf("got %v", err)
	}
}
