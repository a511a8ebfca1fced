package scripted_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/model/scripted"
)

// TestDemo: what a stranger can try without a key.
func TestDemo(t *testing.T) {
	t.Parallel()
	type messages = []parley.ModelMessage
	files := []string{"list_files", "write_file"}
	for _, test := range []struct {
		name     string
		messages messages
		tools    []string
		want     string // in the answer, as reply.String gives it
	}{
		{"anything", messages{user("Good morning. How long is the Nile?")}, nil, "I am Parley's offline model"},
		{"nothing", nil, nil, "Write help to see what you can try"},
		{"in a group", messages{user("[Bob] @parley help")}, nil, "Start a message with one of these"},
		{"help names the tools", messages{user("help")}, files, "The tools I was offered: list_files, write_file ~stop"},
		{"help without tools", messages{user("Help!")}, nil, "The tools I was offered: (none) ~stop"},
		{"reasoning", messages{user("think")}, nil, "(Somebody wants to see reasoning."},
		{"a tool", messages{user("use a tool")}, files, `[list_files {"path":"."}] ~stop`},
		{"another tool", messages{user("tool")}, []string{"http_request"}, `[http_request {"method":"GET","url":"https://example.com"}] ~stop`},
		{"no tool", messages{user("tool")}, []string{"look"}, "I have no such tool. The tools I was offered: look"},
		{"no tool to approve", messages{user("approve")}, nil, "I have no such tool"},
		{"no tool twice", messages{user("two tools")}, nil, "I have no such tool"},
		{"the first of two", messages{user("two tools")}, files, `This is the first.[list_files {"path":"."}] ~stop`},
		{"the second of two", messages{user("two tools"), calls("list_files"), results(ok("a.txt"))}, files, `This is the second.[list_files {"path":"."}] ~stop`},
		{"after the second", messages{user("two tools"), calls("list_files"), results(ok("a.txt")), calls("list_files"), results(ok("b.txt"))}, files, "This came back from list_files:\n\nb.txt ~stop"},
		{"two of the other tool", messages{user("two calls"), calls("http_request"), results(ok("200"))}, []string{"http_request"}, `This is the second.[http_request {`},
		{"two, again", messages{user("two tools"), calls("list_files"), results(ok("")), calls("list_files"), results(ok("")), assistant("done"), user("two tools")}, files, "This is the first.[list_files"},
		{"approval", messages{user("approve")}, []string{"git_commit", "write_file"}, `you can refuse.[git_commit {"message":"A commit that Parley's offline model asked for"}] ~stop`},
		{"approval of a file", messages{user("approve")}, files, `[write_file {"path":"parley-demo.txt",`},
		{"refused", messages{user("approve"), calls("git_commit"), results(parley.ToolResult{IsError: true, Text: "a person said no"})}, []string{"git_commit"}, "git_commit did not do all of what I asked for. This came back:\n\na person said no ~stop"},
		{"unknown", messages{user("tool"), calls("list_files"), results(parley.ToolResult{Unknown: true})}, files, "nobody knows what it did"},
		{"a call", messages{user(`call look {"at": ["the", "sky"]}`)}, []string{"look"}, `I call look.[look {"at": ["the", "sky"]}] ~stop`},
		{"a call without arguments", messages{user("Call look")}, []string{"look"}, `[look {}] ~stop`},
		{"a call with bad arguments", messages{user(`call look {"a"`)}, []string{"look"}, `[look "{\"a\""] ~stop`},
		{"a call of nothing", messages{user("call look")}, files, "I have no tool called look. The tools I was offered: list_files, write_file ~stop"},
		{"failure", messages{user("fail")}, nil, ` !invalid "The offline model fails on purpose. Trying again will not help."`},
		{"flaky", messages{user("flaky")}, nil, ` !unavailable "The offline model fails on purpose. This passes when it is tried again." after 1s`},
		{"memory", messages{user("I like tea"), assistant("x"), user("and milk"), assistant("x"), user("So what did I say?")}, nil, "the latest first:\n\n1. “and milk”\n2. “I like tea” ~stop"},
		{"no memory", messages{user("what did I say")}, nil, "(nothing) ~stop"},
		{"a picture", messages{media("describe this", []byte("123"), parley.Media{Type: "image/png", Name: "cat.png"})}, nil, "cat.png: image/png, 3 bytes"},
		{"a picture without a word", messages{media("", nil, parley.Media{Type: "image/png", Size: 7})}, nil, "image/png, 7 bytes"},
		{"no picture", messages{user("describe")}, nil, "There is no picture and no file"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			req := request(test.messages...)
			req.Tools = offered(test.tools...)
			if got := ask(t.Context(), modelOf(t, scripted.Config{}), req).String(); !strings.Contains(got, test.want) {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// TestDemoTakesTime: what is slow on purpose is.
func TestDemoTakesTime(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		say   string
		took  time.Duration
		words int
	}{{"slow", 5 * time.Second, 20}, {"long", 5 * time.Second, 260}, {"help", 0, 100}} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			r := ask(t.Context(), modelOf(t, scripted.Config{}), request(user(test.say)))
			if took := time.Since(start).Round(time.Second); took != test.took {
				t.Errorf("%s took %s", test.say, took)
			}
			if n := len(strings.Fields(r.text())); n < test.words-10 || r.err != nil {
				t.Errorf("%s gave %d words, %v", test.say, n, r.err)
			}
		})
	}
}

// TestDemoPasses: the error that passes does at the third try.
func TestDemoPasses(t *testing.T) {
	t.Parallel()
	m := modelOf(t, scripted.Config{})
	for try := 1; try <= 3; try++ {
		if r := ask(t.Context(), m, request(user("flaky"))); (r.err == nil) != (try == 3) {
			t.Errorf("try %d: %s", try, r)
		}
	}
}
