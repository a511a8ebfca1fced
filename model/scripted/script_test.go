package scripted_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/model/scripted"
)

// TestScript: what a script can say, and when.
func TestScript(t *testing.T) {
	t.Parallel()
	type messages = []parley.ModelMessage
	const echo = "\n  - {say: other}\n  - {when: {after_tool: any}, say: other result}"
	tests := []struct {
		name, rules string
		messages    messages
		tools       []string
		maxTokens   int
		want        string
	}{
		{name: "no rule", rules: "[]", messages: messages{user("x")}, want: "This is the offline model. No rule of its script fits what was said. ~stop"},
		{name: "no rule, after a tool", rules: "[]", messages: messages{user("x"), calls("look"), results(ok("a cat"))}, want: "The tool look gave: a cat ~stop"},
		{name: "no message", rules: "[{say: hi}]", want: "hi ~stop"},
		{name: "the first that fits", rules: "[{when: {equals: a}, say: 1}, {when: {equals: b}, say: 2}, {when: {equals: b}, say: 3}]", messages: messages{user("b")}, want: "2 ~stop"},
		{name: "equals", rules: "[{when: {equals: [x, Hello There]}, say: yes}]", messages: messages{user(" hello there\n")}, want: "yes ~stop"},
		{name: "equals, and more", rules: "\n  - {when: {equals: hello}, say: yes}" + echo, messages: messages{user("hello!")}, want: "other ~stop"},
		{name: "starts", rules: "[{when: {starts: [x, two tools]}, say: yes}]", messages: messages{user("Two tools, please")}, want: "yes ~stop"},
		{name: "starts, but the word goes on", rules: "\n  - {when: {starts: tool}, say: yes}" + echo, messages: messages{user("tools")}, want: "other ~stop"},
		{name: "starts, in a group", rules: "[{when: {starts: help}, say: '${user}'}]", messages: messages{user("[Bob] [not directed at you] @bot help")}, want: "[Bob] [not directed at you] @bot help ~stop"},
		{name: "contains", rules: "[{when: {contains: [x, LL]}, say: yes}]", messages: messages{user("hello")}, want: "yes ~stop"},
		{name: "contains not", rules: "\n  - {when: {contains: [x, y]}, say: yes}" + echo, messages: messages{user("hello")}, want: "other ~stop"},
		{
			name: "matches", rules: `[{when: {matches: '^add (\d+) (?P<what>\w+)'}, say: '${1} ${what} ${2} of ${0}, $${1} costs 5$'}]`, messages: messages{user("add 3 apples now")},
			want: "3 apples apples of add 3 apples, ${1} costs 5$ ~stop",
		},
		{name: "matches not", rules: "\n  - {when: {matches: '^B'}, say: yes}" + echo, messages: messages{user("b")}, want: "other ~stop"},
		{name: "all conditions", rules: "\n  - {when: {contains: a, matches: b}, say: yes}" + echo, messages: messages{user("a")}, want: "other ~stop"},
		{name: "the last of several messages", rules: "[{when: {equals: b, turn: 1}, say: '${said}'}]", messages: messages{user("a"), user("b")}, want: "1. “a” ~stop"},
		{name: "turn", rules: "\n  - {when: {turn: 2}, say: second}" + echo, messages: messages{user("a"), assistant("other"), user("b")}, want: "second ~stop"},
		{name: "not that turn", rules: "\n  - {when: {turn: 2}, say: second}" + echo, messages: messages{user("a")}, want: "other ~stop"},
		{name: "media", rules: "\n  - {when: {media: true}, say: '${media}'}" + echo, messages: messages{media("", []byte("1234"), parley.Media{Type: "image/png", Name: "cat.png", Size: 9})}, want: "cat.png: image/png, 4 bytes ~stop"},
		{name: "media without bytes", rules: "[{when: {media: true}, say: '${media}'}]", messages: messages{media("", nil, parley.Media{Type: "text/plain", Size: 9}), user("and?")}, want: "text/plain, 9 bytes ~stop"},
		{name: "media of before", rules: "[{when: {media: false}, say: '${media}'}]", messages: messages{media("", nil, parley.Media{Type: "text/plain"}), assistant("x"), user("and?")}, want: "(nothing) ~stop"},
		{name: "after a tool", rules: "\n  - {when: {after_tool: [x, look]}, say: '${tool}: ${result}'}" + echo, messages: messages{user("a"), calls("look"), results(ok("a cat"))}, want: "look: a cat ~stop"},
		{name: "after another tool", rules: "\n  - {when: {after_tool: x}, say: '${result}'}" + echo, messages: messages{user("a"), calls("look"), results(ok("a cat"))}, want: "other result ~stop"},
		{name: "a rule for people, after a tool", rules: "\n  - {when: {equals: a}, say: again}" + echo, messages: messages{user("a"), calls("look"), results(ok("a cat"))}, want: "other result ~stop"},
		{name: "steered after a tool", rules: "\n  - {when: {equals: b, round: 1}, say: steered}" + echo, messages: messages{user("a"), calls("look"), results(ok("a cat")), user("b")}, want: "steered ~stop"},
		{name: "after a tool, with a note of the system", rules: "[{when: {after_tool: look}, say: yes}]", messages: messages{user("a"), calls("look"), results(ok("")), {Role: parley.MessageSystem}}, want: "yes ~stop"},
		{
			name: "several results", rules: "[{when: {after_tool: b, failed: true}, say: '${tool}; ${result}'}]",
			messages: messages{user("x"), calls("a", "b", "a", "c"), results(ok("1"), parley.ToolResult{IsError: true, Text: "no"}, parley.ToolResult{Unknown: true}, parley.ToolResult{Media: &parley.Media{Type: "image/png", Size: 3}})},
			want:     "a and b and c; a: 1\nb: no\na: nobody knows what it did, because the program ended while it ran\nc: (image/png, 3 bytes) ~stop",
		},
		{name: "an empty result", rules: "[{when: {after_tool: a, failed: false}, say: '${result}'}]", messages: messages{user("x"), calls("a"), results(ok(""))}, want: "(nothing) ~stop"},
		{name: "a long result", rules: "[{when: {after_tool: any}, say: '${result}'}]", messages: messages{user("x"), calls("a"), results(ok(strings.Repeat("ä", 500)))}, want: strings.Repeat("ä", 399) + "… ~stop"},
		{name: "a result after a message in between", rules: "[{when: {after_tool: look, equals: b}, say: '${tool} ${result}'}]", messages: messages{user("a"), calls("look"), user("b"), results(ok("y"))}, want: "look y ~stop"},
		{name: "a result of an older call", rules: "[{when: {after_tool: any}, say: '${tool} ${result}'}]", messages: messages{user("a"), calls("look"), assistant("b"), results(ok("y"))}, want: "unknown y ~stop"},
		{name: "a result of nobody's call", rules: "[{when: {after_tool: any}, say: '${tool} ${result}'}]", messages: messages{user("x"), results(ok("y"))}, want: "unknown y ~stop"},
		{name: "round", rules: "\n  - {when: {after_tool: any, round: 3}, say: third}" + echo, messages: messages{user("a"), calls("look"), results(ok("")), calls("look"), results(ok(""))}, want: "third ~stop"},
		{name: "not that round", rules: "\n  - {when: {after_tool: any, round: 3}, say: third}" + echo, messages: messages{user("a"), calls("look"), results(ok(""))}, want: "other result ~stop"},
		{name: "offers", rules: "[{when: {offers: [a, b]}, say: '${tools}'}]", messages: messages{user("x")}, tools: []string{"a", "b", "c"}, want: "a, b, c ~stop"},
		{name: "offers only one", rules: "[{when: {offers: [a, b]}, say: yes}, {say: '${tools}'}]", messages: messages{user("x")}, tools: []string{"b"}, want: "b ~stop"},
		{name: "offers what was said", rules: "[{when: {matches: '(.*)', offers: '${1}'}, say: yes}, {say: '${tools}'}]", messages: messages{user("b")}, tools: []string{"b"}, want: "yes ~stop"},
		{name: "times", rules: "\n  - {times: 1, when: {equals: a}, say: first}" + echo, messages: messages{user("a")}, want: "first ~stop"},
		{name: "times, used up", rules: "\n  - {times: 1, when: {equals: a}, say: first}" + echo, messages: messages{user("a"), assistant("first"), user("a")}, want: "other ~stop"},
		{name: "times, used elsewhere", rules: "\n  - {times: 2, when: {equals: a}, say: first}" + echo, messages: messages{user("a"), assistant("first"), user("b"), assistant("other"), user("a")}, want: "first ~stop"},
		{name: "times, one after the other", rules: "[{times: 1, say: 1}, {times: 2, say: 2}, {say: 3}]", messages: messages{user("a"), assistant("1"), user("a"), assistant("2"), user("a")}, want: "2 ~stop"},
		{
			name: "times after a tool", rules: "\n  - {when: {equals: x}, say: [{call: look}]}\n  - {times: 1, when: {after_tool: look}, say: [{call: look}]}" + echo,
			messages: messages{user("x"), calls("look"), results(ok("")), calls("look"), results(ok(""))}, want: "other result ~stop",
		},
		{name: "nothing to say", rules: "[{say: []}]", messages: messages{user("x")}, want: " ~stop"},
		{name: "text and reasoning", rules: "[{say: [{reasoning: 'thinking hard'}, {reasoning: again}, one, {text: ' ${turn} ${round}'}]}]", messages: messages{user("x")}, want: "(thinking hard)(again)one 1 1 ~stop"},
		{name: "words", rules: "[{say: [{words: 7}]}]", messages: messages{user("x")}, want: "A script has no opinion and no. ~stop"},
		{name: "a call", rules: "[{say: [{call: look}]}]", messages: messages{user("x")}, want: "[look {}] ~stop"},
		{
			name: "arguments", messages: messages{user(`say "<ä>"`)},
			rules: "\n  - say:\n    - call:\n        tool: look\n        arguments: {z: '${user}!', a: [1, -2.5, 0x10, true, ~, ''], m: {}, l: [], t: '1'}",
			want:  `[look {"z":"say \"<ä>\"!","a":[1,-2.5,16,true,null,""],"m":{},"l":[],"t":"1"}] ~stop`,
		},
		{name: "arguments as text", rules: `[{when: {matches: '^(\w+) (.*)'}, say: [{call: {tool: '${1}', arguments: '${2}'}}]}]`, messages: messages{user(`look {"a": 1}`)}, want: `[look {"a": 1}] ~stop`},
		{name: "arguments that are not JSON", rules: `[{say: [{call: {tool: t, arguments: '${user}'}}]}]`, messages: messages{user(`{"a`)}, want: `[t "{\"a"] ~stop`},
		{name: "arguments of nothing", rules: `[{say: [{call: {tool: '${user}', arguments: '${user}'}}]}]`, messages: messages{user("")}, want: `[unnamed {}] ~stop`},
		{name: "a very long name", rules: `[{say: [{call: '${user}'}]}]`, messages: messages{user(strings.Repeat("ä", 100))}, want: "[" + strings.Repeat("ä", 32) + " {}] ~stop"},
		{name: "two calls", rules: "[{say: [a, {call: x}, {call: y}]}]", messages: messages{user("x")}, want: "a[x {}][y {}] ~stop"},
		{name: "an error", rules: "[{say: [{error: rate_limited}]}]", messages: messages{user("x")}, want: ` !rate_limited "This is an error on purpose, from the script of the offline model."`},
		{name: "an error after text", rules: "[{say: [some text, {error: {code: unavailable, message: 'no ${user}', retry_after: 2s}}]}]", messages: messages{user("x")}, want: `some text !unavailable "no x" after 2s`},
		{name: "stop", rules: "[{say: [half, {stop: content_filter}]}]", messages: messages{user("x")}, want: "half ~content_filter"},
		{name: "as long as asked for", rules: "[{say: 'four five six'}]", messages: messages{user("x")}, maxTokens: 2, want: "four fiv ~length"},
		{name: "just as long as asked for", rules: "[{say: 'four fiv'}]", messages: messages{user("x")}, maxTokens: 2, want: "four fiv ~stop"},
		{name: "cut in whole characters", rules: "[{say: 'abcäää'}]", messages: messages{user("x")}, maxTokens: 1, want: "abc ~length"},
		{name: "a call that is too long", rules: "[{say: [{call: {tool: t, arguments: {a: '${user}'}}}]}]", messages: messages{user("abcdef")}, maxTokens: 3, want: " ~length"},
		{name: "reasoning that is too long", rules: "[{say: [{reasoning: 'abcdefgh'}, x]}]", messages: messages{user("x")}, maxTokens: 1, want: " ~length(abcd…"},
		{name: "what is not text", rules: "[{say: '${user}'}]", messages: messages{user("a\xff\x00b")}, want: "a\uFFFD\uFFFDb ~stop"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			req := request(test.messages...)
			req.Tools, req.MaxTokens = offered(test.tools...), test.maxTokens
			got := ask(t.Context(), scriptOf(t, "rules: "+test.rules), req)
			if got.String() != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// TestJSON: a script may be JSON, with its own escapes.
func TestJSON(t *testing.T) {
	t.Parallel()
	m := scriptOf(t, "\n{\n\t\"pace\": \"0s\",\n"+`	"rules": [
		{"when": {"equals": "x"}, "times": 3, "say": [{"text": "a\tb\n\u00e4 \ud83d\ude00 \"q\" \\"}, {"call": {"tool": "t", "arguments": {"n": [1e3, -2E-1, "1e3"]}}}]}
	]
}`)
	want := "a\tb\nä 😀 \"q\" \\[t {\"n\":[1e3,-2E-1,\"1e3\"]}] ~stop"
	if got := ask(t.Context(), m, request(user("x"))).String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       []string
	}{
		{"nothing", "", []string{"f:1:1: the script is nothing; write it with keys: pace, rules"}},
		{"no rules", "pace: 1ms\n", []string{"f:1:1: the script has no rules; write rules: and a list below it"}},
		{"a list", "- say: x\n", []string{"f:1:1: the script is a list; write it with keys: pace, rules"}},
		{"not YAML", "rules:\n  - say: [\n", []string{"f:2:10: this is not YAML: sequence end token ']' not found"}},
		{"a tab", "rules:\n\t- say: x\n", []string{"f:2:1: the line is indented with a tab; use spaces"}},
		{"not UTF-8", "rules:\n  - say: \xff\n", []string{"f:2:1: there is a byte that is not UTF-8; save the file as UTF-8"}},
		{"a control character", "rules:\n  - say: \x1b\n", []string{"f:2:10: there is a control character, U+001B; remove it"}},
		{"two documents", "rules: []\n---\nrules: []\n", []string{"f:3:6: a second document begins here; a script is one, so remove the line ---"}},
		{"an alias", "rules: &a []\n", []string{"f:1:8: anchors, aliases, tags and directives have no use here; write the value itself"}},
		{"deep", "rules: " + strings.Repeat("[", 40) + strings.Repeat("]", 40), []string{"f:1:40: maps and lists are nested more than 32 deep"}},
		{"a number for a key", "rules: [{say: [{call: {tool: t, arguments: {1: x}}}]}]\n", []string{"f:1:45: a key is a single word; put it in quotes if it looks like something else"}},
		{"twice", "rules:\n  - say: x\n    say: y\n", []string{`f:3:5: "say" is there twice, first in line 2; remove one of them`}},
		{"rules are no list", "rules:\n  say: x\n", []string{"f:2:3: rules is a map; write a list, each rule with a - in front"}},
		{"a rule is no map", "rules:\n  - x\n", []string{"f:2:5: a rule is text; write it with keys: when, times, say"}},
		{
			"unknown keys", "rulez: 1\nrules:\n  - wenn: x\n    say: [{txt: x}]\n    when: {contain: x}\n",
			[]string{
				`f:1:1: "rulez" is not known in the script; the keys are pace, rules`,
				`f:3:5: "wenn" is not known in a rule; the keys are when, times, say`,
				`f:4:12: "txt" is not known in a step; the keys are text, reasoning, words, call, delay, error, stop, pace`,
				"f:4:12: a step does one thing, and this does 0; give each a step of its own, with a - in front",
				`f:5:12: "contain" is not known in when; the keys are equals, starts, contains, matches, after_tool, failed, offers, media, turn, round`,
			},
		},
		{"a rule without an answer", "rules:\n  - when: {equals: x}\n", []string{"f:2:5: the rule says nothing; give it say: with a text or a list of steps"}},
		{"say is a map", "rules:\n  - say: {text: x}\n", []string{"f:2:11: say is a map; write a text, or a list of steps, each with a - in front"}},
		{"say is nothing", "rules:\n  - say:\n", []string{"f:2:10: say is nothing; a text is wanted"}},
		{"two things in a step", "rules:\n  - say: [{text: x, delay: 1s}]\n", []string{"f:2:12: a step does one thing, and this does 2; give each a step of its own, with a - in front"}},
		{"pace of a delay", "rules:\n  - say: [{delay: 1s, pace: 1s}]\n", []string{"f:2:12: pace has no use here; it belongs to text, reasoning or words"}},
		{
			"after the end", "rules:\n  - say: [{stop: length}, x]\n  - say: [{error: invalid}, x]\n",
			[]string{
				"f:2:12: the answer ends here, but steps follow; remove them, or give the error tries: n, after which it passes",
				"f:3:12: the answer ends here, but steps follow; remove them, or give the error tries: n, after which it passes",
			},
		},
		{
			"values", "pace: 5\nrules:\n  - times: 0\n    say: [{words: x}, {delay: -1s}, {stop: aborted}, {error: {code: 7, tries: 1}}, {call: {arguments: {a: .inf}}}, {error: {tries: 1}}, true]\n    when: {media: 'true', turn: 1.5, equals: true, contains: [], starts: {}, failed: true}\n",
			[]string{
				"f:1:7: pace must be a time up to 24h with a unit, such as 50ms, 2s or 1m",
				"f:3:12: times must be a whole number from 1 to 1000000, without quotes",
				"f:4:19: words must be a whole number from 1 to 10000000, without quotes",
				"f:4:31: delay must be a time up to 24h with a unit, such as 50ms, 2s or 1m",
				`f:4:44: stop is "aborted"; it must be one of stop, length, content_filter`,
				"f:4:69: code is a whole number; it must be one of unavailable, rate_limited, unauthorized, too_large, invalid",
				"f:4:92: the call names no tool; add tool: and its name",
				"f:4:107: .inf cannot be written as JSON; put it in quotes",
				"f:4:125: the error has no code; add code: unavailable, or another",
				"f:4:137: a step is true or false; write it with keys: text, reasoning, words, call, delay, error, stop, pace",
				"f:5:19: media is text; it must be true or false, without quotes",
				"f:5:33: turn must be a whole number from 1 to 1000000, without quotes",
				"f:5:46: equals is true, which is no text; put it in quotes if you mean it",
				"f:5:62: the list is empty, so nothing fits; write something into it, or remove it",
				"f:5:74: starts is a map; a text is wanted",
				"f:5:86: failed is about the result of a tool; add after_tool, such as after_tool: any",
			},
		},
		{"a regular expression", "rules: [{when: {matches: '('}, say: x}]\n", []string{"f:1:26: matches is not a regular expression: missing closing ): `(`; see https://pkg.go.dev/regexp/syntax"}},
		{
			"a template", "rules:\n  - say: 'a ${name} b'\n  - {when: {matches: '(?P<n>.)'}, say: '${m}'}\n  - say: 'a ${user'\n",
			[]string{
				"f:2:10: say: ${name} stands for nothing; there are user, said, media, tool, result, tools, turn, round; there are no groups, as the rule has no matches; write $${ for the signs themselves",
				"f:3:40: say: ${m} stands for nothing; there are user, said, media, tool, result, tools, turn, round; the groups of matches are 0, 1, n; write $${ for the signs themselves",
				`f:4:10: say: the ${ before "user" is not closed; write ${name}, or $${ for the signs themselves`,
			},
		},
		{"too large", strings.Repeat("#", scripted.MaxScriptBytes+1), []string{"f:1:1: the file has more than 1048576 bytes; is that a script?"}},
		{"a NUL", `rules: [{say: "\0"}]`, []string{"f:1:15: the text has a NUL, or half of a character; remove it"}},
		{"too many", "rules: [" + strings.Repeat("{}, ", 30) + "]", append(slices.Repeat([]string{""}, 20), "f: and 10 more")},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s, err := scripted.Parse("f", []byte(test.text))
			if s != nil || parley.CodeOf(err) != parley.CodeInvalid {
				t.Fatalf("got %v, %v", s, err)
			}
			got := strings.Split(strings.TrimPrefix(err.Error(), "the script cannot be used: "), "\n")
			for i, want := range test.want {
				if want == "" && i < len(got) { // any problem
					test.want[i] = got[i]
				}
			}
			if g, w := strings.Join(got, "\n"), strings.Join(test.want, "\n"); g != w {
				t.Errorf("got\n%s\nwant\n%s", g, w)
			}
		})
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	s, err := scripted.Load(write("good", "rules: [{say: hi}]"))
	if err != nil {
		t.Fatal(err)
	}
	if got := ask(t.Context(), modelOf(t, scripted.Config{Script: s}), request(user("x"))).String(); got != "hi ~stop" {
		t.Errorf("got %s", got)
	}
	bad := write("bad", "rules:\n  - {}\n")
	if _, err = scripted.Load(bad); parley.CodeOf(err) != parley.CodeInvalid || !strings.Contains(err.Error(), bad+":2:5: the rule says nothing") {
		t.Errorf("got %v", err)
	}
	if _, err = scripted.Load(write("large", strings.Repeat("# x\n", 1<<20))); parley.CodeOf(err) != parley.CodeInvalid || !strings.Contains(err.Error(), "is that a script?") {
		t.Errorf("got %v", err)
	}
	if _, err = scripted.Load(filepath.Join(dir, "none")); parley.CodeOf(err) != parley.CodeNotFound {
		t.Errorf("got %v", err)
	}
	if _, err = scripted.Load(dir); parley.CodeOf(err) != parley.CodeInvalid {
		t.Errorf("got %v", err)
	}
}
