package command_test

import (
	"strings"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/command"
)

func TestParse(t *testing.T) {
	t.Parallel()
	type result struct {
		value any
		show  bool
	}
	two := func(v any, err error) (result, error) { return result{value: v}, err }
	three := func(v any, show bool, err error) (result, error) { return result{v, show}, err }
	parsers := map[string]func(string) (result, error){
		"help":   func(a string) (result, error) { v, err := command.ParseHelp(a); return two(v, err) },
		"new":    func(a string) (result, error) { v, err := command.ParseNew(a); return two(v, err) },
		"title":  func(a string) (result, error) { v, show, err := command.ParseTitle(a); return three(v, show, err) },
		"resume": func(a string) (result, error) { v, err := command.ParseResume(a); return two(v, err) },
		"undo":   func(a string) (result, error) { v, err := command.ParseUndo(a); return two(v, err) },
		"fork":   func(a string) (result, error) { v, err := command.ParseFork(a); return two(v, err) },
		"busy":   func(a string) (result, error) { v, show, err := command.ParseBusy(a); return three(v, show, err) },
		"model":  func(a string) (result, error) { v, show, err := command.ParseModel(a); return three(v, show, err) },
		"steer":  func(a string) (result, error) { v, err := command.ParseSteer(a); return two(v, err) },
	}
	for _, c := range []struct {
		text string // as it stands after the slash
		want result
	}{
		{"help", result{value: ""}},
		{"help reset", result{value: "reset"}},
		{"help /reset", result{value: "reset"}},
		{"new", result{value: ""}},
		{"new Trip\n to \x1b[31mRome\u202e", result{value: "Trip to [31mRome"}},
		{"title", result{value: "", show: true}},
		{"title  a  b ", result{value: "a b"}},
		{"title " + strings.Repeat("ü", 200), result{value: strings.Repeat("ü", 200)}},
		{"resume", result{value: ""}},
		{"resume 2", result{value: "2"}},
		{"resume cli:work", result{value: "cli:work"}},
		{"resume 20261115", result{value: "20261115"}},
		{"undo", result{value: 1}},
		{"undo 3", result{value: 3}},
		{"undo 1000", result{value: 1000}},
		{"fork", result{value: uint64(0)}},
		{"fork 40", result{value: uint64(40)}},
		{"busy", result{value: parley.BusyMode(""), show: true}},
		{"busy default", result{value: parley.BusyMode("")}},
		{"busy queue", result{value: parley.BusyQueue}},
		{"busy Collect", result{value: parley.BusyCollect}},
		{"busy steer", result{value: parley.BusySteer}},
		{"busy interrupt", result{value: parley.BusyInterrupt}},
		{"busy REJECT", result{value: parley.BusyReject}},
		{"model", result{value: "", show: true}},
		{"model anthropic/claude", result{value: "anthropic/claude"}},
		{"steer left", result{value: "left"}},
	} {
		cmd := command.Read("/" + c.text).Command
		if got, err := parsers[cmd.Name](cmd.Args); err != nil || got != c.want {
			t.Errorf("/%s: got %+v and %v, want %+v", c.text, got, err, c.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"/help a b", "/help takes one word, not 2; usage: /help [command], such as /help resume"},
		{"/new \u200b", "nothing of that title can be seen; usage: /new [title], such as /new Trip to Rome"},
		{"/title " + strings.Repeat("ü", 201), "a title has at most 200 characters, not 201; usage: /title [text], such as /title Trip to Rome"},
		{"/resume a b", "/resume takes one word, not 2; usage: /resume [id or number], such as /resume 2"},
		{"/resume 0", "0 is not a number of /sessions, which begin with 1; usage: /resume [id or number], such as /resume 2"},
		{"/resume -1", "-1 is not a number of /sessions, which begin with 1; usage: /resume [id or number], such as /resume 2"},
		{"/resume a\x00b", "that is not the id of a session; usage: /resume [id or number], such as /resume 2"},
		{"/resume a\xffb", "that is not the id of a session; usage: /resume [id or number], such as /resume 2"},
		{"/resume " + strings.Repeat("a", 257), "an id has at most 256 bytes, not 257; usage: /resume [id or number], such as /resume 2"},
		{"/undo 0", `"0" is not a number of turns from 1 to 1000; usage: /undo [turns], such as /undo 2`},
		{"/undo -1", `"-1" is not a number of turns from 1 to 1000; usage: /undo [turns], such as /undo 2`},
		{"/undo 1001", `"1001" is not a number of turns from 1 to 1000; usage: /undo [turns], such as /undo 2`},
		{"/undo 99999999999999999999", `"99999999999999999999" is not a number of turns from 1 to 1000; usage: /undo [turns], such as /undo 2`},
		{"/undo the \"last\"\none", `"the 'last' one" is not a number of turns from 1 to 1000; usage: /undo [turns], such as /undo 2`},
		{"/fork 0", `"0" is not the number of an event; usage: /fork [seq], such as /fork 40`},
		{"/fork x", `"x" is not the number of an event; usage: /fork [seq], such as /fork 40`},
		{"/fork 9223372036854775808", `"9223372036854775808" is not the number of an event; usage: /fork [seq], such as /fork 40`},
		{"/busy later", `"later" is not a mode; it must be queue, collect, steer, interrupt, reject or default; usage: /busy [mode], such as /busy collect`},
		{"/busy queue please", `"queue please" is not a mode; it must be queue, collect, steer, interrupt, reject or default; usage: /busy [mode], such as /busy collect`},
		{"/model a b", "/model takes one word, not 2; usage: /model [name], such as /model 2"},
		{"/steer", "there is nothing to tell the agent; usage: /steer text, such as /steer leave the tests alone"},
		{"/reset now", "/reset takes nothing after it; usage: /reset"},
		{"/retry 2", "/retry takes nothing after it; usage: /retry"},
		{"/sessions all", "/sessions takes nothing after it; usage: /sessions"},
		{"/status x", "/status takes nothing after it; usage: /status"},
		{"/usage x", "/usage takes nothing after it; usage: /usage"},
	} {
		wantInvalid(t, parse(command.Read(c.text).Command), c.want)
	}
	if err := parse(command.Read("/stop right now!").Command); err != nil {
		t.Errorf("/stop has to work in a hurry: %v", err)
	}
}

func TestNumber(t *testing.T) {
	t.Parallel()
	for ref, want := range map[string]int{
		"1": 1, "20": 20, "999": 999, "": 0, "0": 0, "1000": 0, "20261115": 0, "-1": 0, "+1": 0, "cli:1": 0, "1a": 0, "２": 0,
	} {
		if got, ok := command.Number(ref); got != want || ok != (want > 0) {
			t.Errorf("%q: got %d and %t, want %d", ref, got, ok, want)
		}
	}
}

func TestPickModel(t *testing.T) {
	t.Parallel()
	chain := []string{"anthropic/claude-large", "anthropic/claude-small", "openai/gpt-2"}
	for name, want := range map[string]string{
		"anthropic/claude-small": "anthropic/claude-small",
		"OpenAI/GPT-2":           "openai/gpt-2",
		"small":                  "anthropic/claude-small",
		"GPT":                    "openai/gpt-2",
		"1":                      "anthropic/claude-large",
		"3":                      "openai/gpt-2",
		"default":                "anthropic/claude-large",
	} {
		if got, err := command.PickModel(chain, name); err != nil || got != want {
			t.Errorf("%q: got %q and %v, want %q", name, got, err, want)
		}
	}
	for _, c := range []struct {
		chain      []string
		name, want string
	}{
		{chain, "claude", `"claude" fits several models: anthropic/claude-large, anthropic/claude-small; write more of the name`},
		{chain, "llama", `this agent has no model "llama"; it has anthropic/claude-large, anthropic/claude-small, openai/gpt-2`},
		{chain, "4", `this agent has no model "4"; it has anthropic/claude-large, anthropic/claude-small, openai/gpt-2`},
		{chain, "", `this agent has no model ""; it has anthropic/claude-large, anthropic/claude-small, openai/gpt-2`},
		{nil, "x", `this agent has no model "x"; it has none to choose from`},
		{nil, "default", `this agent has no model "default"; it has none to choose from`},
	} {
		wantInvalid(t, second(command.PickModel(c.chain, c.name)), c.want)
	}
}
