package chat_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-run/parley"
)

// asking is a program whose agent asks whether a tool may run.
func asking(t *testing.T, typed string) *program {
	t.Helper()
	p := start(t, newFake())
	p.types(typed)
	p.says("cli:a", "t1", "chat-x", "do it")
	p.calls("cli:a", "t1", "c1", "shell", `{"command":"rm -rf build\ngo build ./..."}`)
	p.event("cli:a", "t1", "", &parley.ApprovalRequested{Call: "c1", Tool: "shell", Default: parley.ApprovalDenied, Deadline: p.clock.Now().Add(5 * time.Minute)})
	p.shows("── shell needs your approval · denied in 5m 00s", "    rm -rf build", "    go build ./...")
	return p
}

// answered gives the answers that the backend was given.
func (p *program) answered() []string {
	return slices.DeleteFunc(p.requests(), func(r string) bool { return !strings.HasPrefix(r, "approve") })
}

// TestApproval: a key answers, and the whole call can be read before.
func TestApproval(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{"y": "approve c1 true false", "a": "approve c1 true true", "n": "approve c1 false false"} {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			p := asking(t, "")
			p.clock.move(time.Second)
			p.press(key)
			p.asks(want)
			p.gone("── shell needs")
			p.event("cli:a", "t1", me, &parley.ApprovalResolved{Call: "c1", State: parley.ApprovalApproved})
			p.event("cli:a", "t1", "", &parley.ToolStarted{Call: "c1", Tool: "shell"})
			p.shows("▸ shell rm -rf build go build ./... · running…")
			result := parley.ResultMessage(parley.ToolResult{CallID: "c1", Text: "built"})
			p.event("cli:a", "t1", "", &result)
			p.shows("▸ shell rm -rf build go build ./... · done")
		})
	}
}

// TestApproval_Typing: what somebody was typing when the question came is no answer.
func TestApproval_Typing(t *testing.T) {
	t.Parallel()
	p := asking(t, "")
	p.types("yay")
	p.settle()
	if got := p.answered(); len(got) > 0 {
		t.Fatalf("it was answered at once: %v", got)
	}
	p = asking(t, "hurr")
	p.shows("Tab on an empty line to answer")
	p.clock.move(time.Second)
	p.types("y up, ay")
	p.shows("> hurry up, ay")
	for range "hurry up, ay" {
		p.press("backspace")
	}
	p.press("y")
	p.settle()
	if got := p.answered(); len(got) > 0 {
		t.Fatalf("it was answered by typing: %v", got)
	}
	p.clock.move(time.Second)
	p.press("y")
	p.asks("approve c1 true false")
}

// TestApproval_Elsewhere: an answer on another surface takes the question away; writing
// goes on beside it, and Esc stops the turn.
func TestApproval_Elsewhere(t *testing.T) {
	t.Parallel()
	p := asking(t, "")
	p.press("tab")
	p.types("wait")
	p.shows("> wait")
	for range "wait" {
		p.press("backspace")
	}
	p.press("tab")
	p.shows("y once")
	p.event("cli:a", "t1", "telegram:7", &parley.ApprovalResolved{Call: "c1", State: parley.ApprovalDenied})
	p.gone("── shell needs")
	p.shows("▸ shell rm -rf build go build ./... · denied")
	p = asking(t, "")
	p.press("esc")
	p.asks("cancel cli:a t1")
}

// TestApproval_Long: a long call is scrolled through.
func TestApproval_Long(t *testing.T) {
	t.Parallel()
	p := start(t, newFake())
	p.says("cli:a", "t1", "chat-x", "do it")
	p.calls("cli:a", "t1", "c1", "shell", `{"command":"`+strings.Repeat(`line\n`, 60)+`the end"}`)
	p.event("cli:a", "t1", "", &parley.ApprovalRequested{Call: "c1", Tool: "shell", Default: parley.ApprovalDenied})
	p.shows("62 lines, these from 1")
	for range 20 {
		p.press("pgdown")
		p.Screen()
	}
	p.shows("the end")
	p.press("up")
	p.gone("the end")
}

// TestFolds: calls and thoughts are one line until they are opened.
func TestFolds(t *testing.T) {
	t.Parallel()
	p := start(t, newFake())
	p.press("shift+tab")
	p.shows("there is nothing to open here")
	p.says("cli:a", "t1", "chat-x", "do it")
	p.event("cli:a", "t1", "", &parley.Message{ID: "r1", Role: parley.MessageAssistant, Parts: []parley.Part{
		{Kind: parley.PartReasoning, Text: "first I think\nthen I act"},
		{Kind: parley.PartToolCall, Call: &parley.ToolCall{ID: "c1", Name: "read_file", Arguments: []byte(`{"path":"a.go","lines":[1,20]}`)}},
	}})
	result := parley.ResultMessage(parley.ToolResult{CallID: "c1", Text: "package a\n\nfunc main() {}"})
	p.event("cli:a", "t1", "", &result)
	p.answers("cli:a", "t1", "r2", "It is a program.")
	p.shows("▸ thinking: then I act", "▸ read_file path=a.go lines=[1,20] · done", "It is a program.")
	p.press("shift+tab", "enter")
	p.shows("▾ read_file · done", "  path: a.go", "  lines: [1,20]", "  │ func main() {}")
	p.gone("there is more below")
	p.press("up", "space")
	p.shows("▾ thinking", "  first I think")
	p.press("space")
	p.gone("  first I think")
	p.press("down", "down")
	p.types("ok")
	p.shows("> ok")
	p.press("alt+up", "enter")
	p.gone("  path: a.go")
}

// TestUnknownCall: a call that was cut off says that nobody knows what it did.
func TestUnknownCall(t *testing.T) {
	t.Parallel()
	p := start(t, newFake())
	p.says("cli:a", "t1", "chat-x", "do it")
	p.calls("cli:a", "t1", "c1", "shell", `{"command":"make"}`)
	p.event("cli:a", "t1", "", &parley.ToolStarted{Call: "c1", Tool: "shell"})
	p.event("cli:a", "t1", "", &parley.ToolCompleted{Call: "c1", Tool: "shell", State: parley.CallUnknown})
	p.shows("▸ shell make · nobody knows what it did")
}

// TestApproval_Another: when a question is answered elsewhere, the key that was meant for
// it does not answer the one that takes its place.
func TestApproval_Another(t *testing.T) {
	t.Parallel()
	p := asking(t, "")
	p.calls("cli:a", "t1", "c2", "shell", `{"command":"rm -rf /"}`)
	p.event("cli:a", "t1", "", &parley.ApprovalRequested{Call: "c2", Tool: "shell", Default: parley.ApprovalDenied})
	p.shows("1 more question after this")
	p.clock.move(time.Minute)
	p.event("cli:a", "t1", "telegram:7", &parley.ApprovalResolved{Call: "c1", State: parley.ApprovalApproved})
	p.shows("command: rm -rf /")
	p.press("y")
	p.settle()
	if got := p.answered(); len(got) > 0 {
		t.Fatalf("it was answered: %v", got)
	}
	p.shows("read it, then answer")
	p.clock.move(time.Second)
	p.press("n")
	p.asks("approve c2 false false")
}
