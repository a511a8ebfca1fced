package scripted_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/model/scripted"
)

// everything is a script that has every key.
const everything = `
pace: 1ms
rules:
  - {when: {equals: [a, x], turn: 1}, times: 1, say: [{reasoning: "${user}", pace: 0}, {call: {tool: "${user}", arguments: "${user}"}}]}
  - {when: {starts: b, media: true}, say: ["${media}", {delay: 1s}, {stop: length}]}
  - {when: {contains: c, offers: [t]}, times: 2, say: [{words: 30, pace: 5ms}, {call: t}]}
  - {when: {matches: '(?s)^d(?P<rest>.*)(.)$', offers: "${2}"}, say: [{call: {tool: "${2}", arguments: {k: ["${rest}", 1, true, ~, 2.5]}}}]}
  - {when: {after_tool: [t, any], failed: true, round: 2}, say: [{error: {code: rate_limited, message: "${result}", retry_after: 1m}}]}
  - {when: {after_tool: any}, say: "${tool} ${result} ${tools} ${turn} ${round}"}
  - {when: {starts: e}, say: [{error: {code: unavailable, tries: 1}}, "${said}"]}
  - {when: {starts: f}, say: []}
`

// instant is a clock whose time passes at once.
type instant struct{}

func (instant) Now() time.Time { return time.Time{} }

func (instant) AfterFunc(_ time.Duration, f func()) func() bool {
	f()
	return func() bool { return false }
}

var located = regexp.MustCompile(`^f:(\d+):(\d+): .`)

func FuzzParse(f *testing.F) {
	demo, err := os.ReadFile("demo.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(demo), "help")
	f.Add(everything, "dx")
	for _, text := range []string{
		"", "rules:", "rules: [{say: x}]", "rules: &a [*a]", "rules: [{say: [{call: {tool: t, arguments: {a: 1e3, b: .nan, c: 0o7, d: 1_000, e: 18446744073709551616}}}]}]",
		"{\n\t\"rules\": [{\"say\": \"\\ud83d\\ude00\"}]}", "rules: [{say: \"\\ud800\"}]", "? a\n: b", "<<: {}", "a: b: c", "[", "{", "'", "---\n---", "%TAG", "!!map {}", "- - - a", "rules: |\n x", "rules: [{say: '${user}${'}]",
		"rules: [{when: {matches: '(?P<user>.*)'}, say: '${user}'}]", "rules: [{when: {matches: '[\\x00-\\xff]'}, say: x}]", "\ufeffrules: []", "rules: [{say: \"\\x00\"}]", "rules: [{? [a] : b}]", "rules: [{: b}]",
	} {
		f.Add(text, text)
	}
	f.Fuzz(func(t *testing.T, text, said string) {
		s, err := scripted.Parse("f", []byte(text))
		if err != nil {
			checkProblems(t, text, err)
			return
		}
		m := modelOf(t, scripted.Config{Script: s, MaxOutput: 2000, Clock: instant{}})
		check(t, m, request(user(said)))
		check(t, m, request(user(said), calls("t"), results(ok(said))))
	})
}

// checkProblems holds that each problem has a place in the text.
func checkProblems(t *testing.T, text string, err error) {
	t.Helper()
	if parley.CodeOf(err) != parley.CodeInvalid {
		t.Fatalf("got %v", err)
	}
	lines := strings.Split(strings.TrimPrefix(err.Error(), "the script cannot be used: "), "\nf:")
	for i, line := range lines {
		if i > 0 {
			line = "f:" + line
		}
		if strings.HasPrefix(line, "f: and ") && i == len(lines)-1 {
			continue
		}
		match := located.FindStringSubmatch(line)
		if match == nil {
			t.Fatalf("a problem without a place: %q", line)
		}
		if n, err := strconv.Atoi(match[1]); err != nil || n < 1 || n > 1+strings.Count(text, "\n")+strings.Count(text, "\r") {
			t.Fatalf("there is no such line: %q", line)
		}
	}
}

// check asks twice and holds what [parley.Model] promises.
func check(t *testing.T, m *scripted.Model, req parley.ModelRequest) {
	t.Helper()
	first := checked(t, m, req)
	if first.err != nil {
		return // the script may say that it passes
	}
	again := checked(t, m, req)
	if diff := cmp.Diff(first.pieces, again.pieces); diff != "" || first.String() != again.String() {
		t.Fatalf("the same request gets another answer: %s", diff)
	}
}

func checked(t *testing.T, m *scripted.Model, req parley.ModelRequest) reply {
	t.Helper()
	var r reply
	ends, size := 0, 0
	for p, err := range m.Stream(t.Context(), req) {
		if ends > 0 {
			t.Fatalf("after the end comes %+v, %v", p, err)
		}
		if err != nil {
			ends++
			r.err = err
			codes := []parley.Code{parley.CodeUnavailable, parley.CodeRateLimited, parley.CodeUnauthorized, parley.CodeTooLarge, parley.CodeInvalid}
			if code := parley.CodeOf(err); !slices.Contains(codes, code) || !utf8.ValidString(err.Error()) {
				t.Fatalf("the error is %s: %q", code, err)
			}
			continue
		}
		r.pieces = append(r.pieces, p)
		size += len(p.Text)
		if !utf8.ValidString(p.Text) || strings.ContainsRune(p.Text, 0) {
			t.Fatalf("%q cannot be stored", p.Text)
		}
		switch {
		case p.Done != nil:
			ends++
			if p.Done.Usage.OutputTokens != int64(size+3)/4 || req.MaxTokens > 0 && p.Done.Usage.OutputTokens > int64(req.MaxTokens) || p.Done.Usage.CostMicroUSD != 0 {
				t.Fatalf("%d bytes, of %d tokens, have the usage %+v", size, req.MaxTokens, p.Done.Usage)
			}
		case p.Call != nil:
			size += len(p.Call.Name) + len(p.Call.Arguments)
			if !json.Valid(p.Call.Arguments) || !utf8.Valid(p.Call.Arguments) || p.Call.Name == "" || len(p.Call.Name) > 64 || !utf8.ValidString(p.Call.Name) {
				t.Fatalf("the call is %q %q", p.Call.Name, p.Call.Arguments)
			}
		case p.Opaque == nil && (p.Text == "" || len(p.Text) > 16):
			t.Fatalf("a piece is %q", p.Text)
		}
	}
	if ends != 1 {
		t.Fatalf("the answer ends %d times", ends)
	}
	return r
}

// tape makes requests from bytes.
type tape []byte

func (tp *tape) next() int {
	if len(*tp) == 0 {
		return 0
	}
	b := (*tp)[0]
	*tp = (*tp)[1:]
	return int(b)
}

var vocabulary = []string{"", "a", "x", "b!", "c", "dt", "e", "f", "help", "two tools", "tool", `call t {"a":1}`, "call t {", "flaky", "fail", "long", "what did I say", "describe", "[Bob] approve", "\xff\x00"}

func (tp *tape) text() string {
	if n := tp.next(); n < 200 {
		return vocabulary[n%len(vocabulary)]
	}
	n := min(tp.next(), len(*tp))
	text := string((*tp)[:n])
	*tp = (*tp)[n:]
	return text
}

func (tp *tape) part() parley.ModelPart {
	id := parley.CallID(strconv.Itoa(tp.next() % 3))
	m := &parley.Media{Type: "image/png", Name: vocabulary[tp.next()%len(vocabulary)], Size: int64(tp.next()) - 1}
	switch tp.next() % 6 {
	case 0:
		return parley.ModelPart{Part: parley.Part{Kind: parley.PartMedia, Media: m}}
	case 1:
		return parley.ModelPart{Part: parley.Part{Kind: parley.PartToolCall, Call: &parley.ToolCall{ID: id, Name: tp.text(), Arguments: []byte(tp.text())}}}
	case 2:
		return parley.ModelPart{Part: parley.Part{Kind: parley.PartToolResult, Result: &parley.ToolResult{CallID: id, Text: tp.text(), Media: m, IsError: tp.next()%2 == 0}}}
	case 3:
		return parley.ModelPart{Part: parley.Part{Kind: parley.PartReasoning, Text: tp.text()}, Opaque: []byte("x")}
	}
	return parley.ModelPart{Part: parley.TextPart(tp.text())}
}

func (tp *tape) request() parley.ModelRequest {
	req := parley.ModelRequest{System: tp.text(), CacheKey: tp.text(), MaxTokens: tp.next() - 100}
	for range tp.next() % 4 {
		req.Tools = append(req.Tools, offered([]string{"t", "list_files", "git_commit", "http_request"}[tp.next()%4])...)
	}
	roles := []parley.MessageRole{parley.MessageUser, parley.MessageAssistant, parley.MessageTool, parley.MessageSystem, "else"}
	for range tp.next() % 20 {
		m := parley.ModelMessage{Role: roles[tp.next()%len(roles)]}
		for range tp.next() % 4 {
			m.Parts = append(m.Parts, tp.part())
		}
		req.Messages = append(req.Messages, m)
	}
	return req
}

func FuzzStream(f *testing.F) {
	for i := range vocabulary {
		word := byte(i)
		f.Add([]byte{0, 0, byte(i * 12), 1, 0, 1, 0, 1, 0, 0, 0, 5, word})
		f.Add([]byte{0, 0, 0, 2, 0, 1, 3, 0, 1, 0, 0, 0, 5, word, 1, 1, 0, 0, 0, 1, 1, 11, 2, 1, 0, 0, 0, 2, word, word})
	}
	s, err := scripted.Parse("f", []byte(everything))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		tp := tape(data)
		req := tp.request()
		check(t, modelOf(t, scripted.Config{Clock: instant{}}), req)
		check(t, modelOf(t, scripted.Config{Script: s, Clock: instant{}, Context: 3000, MaxOutput: 200}), req)
	})
}
