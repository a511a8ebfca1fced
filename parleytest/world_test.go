package parleytest_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/parleytest"
	"github.com/parley-run/parley/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSay(t *testing.T) {
	t.Parallel()
	w := parleytest.New(t, parleytest.Config{})
	id := w.Session("a")
	if got := w.Say(id, "hello there"); !strings.Contains(got, "offline") {
		t.Errorf("%q", got)
	}
	if got := w.Say(id, "what did I say"); !strings.Contains(got, "hello there") {
		t.Errorf("%q", got)
	}
}

type echo struct{}

func (echo) Spec() parley.ToolSpec {
	return parley.ToolSpec{Name: "echo", Description: "Says it again.", Schema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`)}
}

func (echo) Run(_ context.Context, _ parley.ToolCaller, call parley.ToolCall) (parley.ToolResult, error) {
	return parley.ToolResult{Text: string(call.Arguments)}, nil
}

func TestScriptAndTools(t *testing.T) {
	t.Parallel()
	w := parleytest.New(t, parleytest.Config{
		Tools: []tool.Group{{Name: "echo", Tools: []parley.Tool{echo{}}}},
		Script: `
rules:
  - when: {after_tool: echo}
    say: [{text: "The tool said ${result}"}]
  - when: {contains: echo}
    say: [{call: {tool: echo, arguments: {text: "hi"}}}]
  - when: {contains: wait}
    say: [{delay: 10s}, {text: "At last."}]
`,
	})
	id := w.Session("a")
	if got := w.Say(id, "echo, please"); got != `The tool said {"text":"hi"}` {
		t.Errorf("%q", got)
	}
	waiting := w.Post(id, "wait a little")
	w.Clock.WaitForTimer(10 * time.Second)
	w.Clock.Advance(10 * time.Second)
	if got := w.Answer(id, waiting); got != "At last." {
		t.Errorf("%q", got)
	}
}

func TestClock(t *testing.T) {
	t.Parallel()
	c := parleytest.NewClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	var fired []string
	c.AfterFunc(2*time.Second, func() {
		fired = append(fired, "two")
		c.AfterFunc(time.Second, func() { fired = append(fired, "three") })
	})
	c.AfterFunc(time.Second, func() { fired = append(fired, "one") })
	stop := c.AfterFunc(time.Second, func() { fired = append(fired, "never") })
	if !stop() || stop() {
		t.Error("a timer is stopped once")
	}
	c.Advance(2 * time.Second)
	c.WaitForTimer(time.Second)
	c.Advance(2 * time.Second)
	if got := strings.Join(fired, " "); got != "one two three" {
		t.Errorf("%s", got)
	}
}
