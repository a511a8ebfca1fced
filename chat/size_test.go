package chat_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/chat"
)

// fits fails if what is drawn is not exactly the window.
func (p *program) fits(width, height int) {
	p.t.Helper()
	lines := p.Lines()
	if len(lines) != height {
		p.t.Errorf("%dx%d: there are %d lines", width, height, len(lines))
	}
	for i, l := range lines {
		if w := ansi.StringWidth(l); w > width || strings.ContainsAny(l, "\n\t\r") {
			p.t.Errorf("%dx%d: line %d has %d cells: %q", width, height, i, w, l)
		}
	}
}

// TestSizes: every screen fits every window, also with wide and combining characters,
// and with text that tries to control the terminal.
func TestSizes(t *testing.T) {
	t.Parallel()
	hostile := "\x1b[31mred\x1b]0;title\x07 \u202eturned\u202c \u009b31m " + strings.Repeat("long", 100)
	wide := "漢字かな交じり文 👩‍👩‍👧‍👦 e\u0301\u0323 🇩🇪 " + strings.Repeat("한국어", 60)
	f := newFake()
	s := f.add("cli:a")
	s.Title.Text = wide
	f.says("cli:a", "t1", "web-1", wide+"\n\n"+hostile)
	f.event("cli:a", "t1", "", &parley.Message{ID: "r1", Role: parley.MessageAssistant, Model: "test/" + strings.Repeat("model", 30), Parts: []parley.Part{
		{Kind: parley.PartReasoning, Text: wide},
		parley.TextPart("# " + wide + "\n\n| a | b |\n|---|---|\n| " + wide + " | " + hostile + " |\n\n```go\n" + wide + "\n```\n"),
		{Kind: parley.PartToolCall, Call: &parley.ToolCall{ID: "c1", Name: "shell", Arguments: []byte(fmt.Sprintf("{%q:%q,\"n\":1}", wide, wide))}},
	}})
	f.event("cli:a", "t1", "", &parley.ApprovalRequested{Call: "c1", Tool: "shell", Default: parley.ApprovalDenied})
	f.event("cli:a", "", "", &parley.DeliveryFailed{Delivery: "d", Channel: "telegram", Reason: hostile})
	f.event("cli:a", "", "", &parley.Message{ID: "told", Role: parley.MessageSystem, Hidden: true, Parts: []parley.Part{parley.TextPart(hostile + wide)}})
	f.event("cli:a", "", me, &parley.Admitted{ID: "c", Origin: "x", Kind: parley.InputCommand, Parts: []parley.Part{parley.TextPart(hostile)}})
	for i := range 9 {
		s.waiting = append(s.waiting, parley.Input{Ref: parley.InputRef{ID: fmt.Sprint(i)}, Parts: []parley.Part{parley.TextPart(wide)}})
	}
	p := start(t, f)
	p.shows("needs your approval")
	p.press("tab", "shift+tab", "enter", "up", "enter")
	views := map[string]func(){
		"conversation": func() {}, "up": func() { p.press("pgup") }, "help": func() { p.press("f1") }, "list": func() { p.press("esc", "ctrl+p"); p.settle() },
	}
	for _, name := range []string{"conversation", "up", "help", "list"} {
		views[name]()
		for _, size := range [][2]int{{60, 15}, {80, 24}, {300, 100}, {40, 10}, {41, 11}, {61, 16}} {
			p.Send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
			p.fits(size[0], size[1])
			for _, l := range p.Lines() {
				if strings.Contains(l, "\x1b]") || strings.ContainsAny(l, "\u202e\u009b\x07") {
					t.Fatalf("%s: the text controls the terminal: %q", name, l)
				}
			}
		}
	}
	p.Send(tea.WindowSizeMsg{Width: 30, Height: 5})
	p.shows("too small")
}

// TestLongTalk: of 10,000 messages only what is seen is read and drawn; scrolling up
// reads on, and stays where it was.
func TestLongTalk(t *testing.T) {
	t.Parallel()
	f := newFake()
	f.add("cli:a")
	for i := range 10_000 {
		f.event("cli:a", "t", me, &parley.Message{ID: fmt.Sprint("m", i), Role: parley.MessageUser, Parts: []parley.Part{parley.TextPart(fmt.Sprintf("message %d.", i))}})
	}
	p := start(t, f)
	p.shows("message 9999.")
	p.settle()
	if drawn, all := p.Drawn(); all > 100 || drawn > 30 {
		t.Errorf("%d items of %d were drawn", drawn, all)
	}
	for range 20 {
		p.press("pgup")
		p.settle()
	}
	p.shows("there is more below")
	top := func() string { return strings.SplitN(strings.TrimLeft(p.Screen(), "\n"), "\n", 2)[0] }
	before := top()
	f.event("cli:a", "t", me, &parley.Message{ID: "more", Role: parley.MessageUser, Parts: []parley.Part{parley.TextPart("one more")}})
	p.settle()
	if top() != before {
		t.Errorf("what was seen moved from %q to %q", before, top())
	}
	if strings.Contains(p.Screen(), "one more") {
		t.Error("it went to the end by itself")
	}
	p.press("esc")
	p.shows("one more")
	for range 1000 {
		if strings.Contains(p.Screen(), "message 0.") {
			break
		}
		p.press("ctrl+home")
		p.until("older messages", func() bool { return true })
		p.settle()
	}
	p.shows("message 0.")
}

// TestLongTalk_Live: what is far above is let go, so that hours of talk cost no more
// memory than minutes; it can be read again.
func TestLongTalk_Live(t *testing.T) {
	t.Parallel()
	p := start(t, newFake())
	for i := range 3100 {
		p.event("cli:a", "t", me, &parley.Message{ID: fmt.Sprint("m", i), Role: parley.MessageUser, Parts: []parley.Part{parley.TextPart(fmt.Sprintf("message %d.", i))}})
	}
	p.shows("message 3099.")
	p.until("fewer items", func() bool { _, all := p.Drawn(); return all <= 100 })
	p.says("cli:a", "t1", "chat-x", "and on")
	p.shows("▌ and on")
	p.press("ctrl+home")
	p.until("older messages", func() bool { _, all := p.Drawn(); return all > 100 })
}

// TestLongMessage: a long message is folded, and opened like a call.
func TestLongMessage(t *testing.T) {
	t.Parallel()
	p := start(t, newFake())
	var text strings.Builder
	for i := range 40 {
		fmt.Fprintf(&text, "line %d.\n", i+1)
	}
	p.event("cli:a", "t", me, &parley.Message{ID: "m1", Role: parley.MessageUser, Parts: []parley.Part{parley.TextPart(text.String() + "the end")}})
	p.shows("▌ line 15.", "▌ ▸ 26 more lines")
	p.press("shift+tab", "enter")
	p.shows("▌ line 20.")
	p.press("ctrl+end")
	p.shows("▌ the end")
	p.event("cli:a", "t", me, &parley.Message{ID: "m2", Role: parley.MessageUser, Parts: []parley.Part{parley.TextPart(strings.Repeat("漢字", 2000))}})
	p.shows("▌ ▸ 10.0 kB more")
}

// TestScroll: scrolling up and down by the same comes back, whatever is in the way, and
// windows change their size meanwhile.
func TestScroll(t *testing.T) {
	t.Parallel()
	f := newFake()
	f.add("cli:a")
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range 40 {
		f.event("cli:a", "t", me, &parley.Message{ID: fmt.Sprint("m", i), Role: parley.MessageUser, Parts: []parley.Part{
			parley.TextPart(strings.Repeat(fmt.Sprintf("line %d\n", i), 1+r.IntN(40))),
		}})
	}
	p := start(t, f)
	p.shows("line 39")
	for range 300 {
		switch r.IntN(4) {
		case 0:
			p.Send(tea.WindowSizeMsg{Width: 40 + r.IntN(100), Height: 10 + r.IntN(50)})
		case 1:
			p.press([]string{"pgup", "pgdown"}[r.IntN(2)])
		case 2:
			p.Send(tea.MouseWheelMsg{Button: []tea.MouseButton{tea.MouseWheelUp, tea.MouseWheelDown}[r.IntN(2)]})
		case 3:
			before := p.Screen()
			p.press("pgup")
			if moved := p.Screen(); moved != before && !strings.Contains(moved, "line 0\n") {
				p.press("pgdown")
				if after := p.Screen(); after != before && strings.Contains(after, "there is more below") {
					t.Fatalf("it was\n%s\nand is\n%s", before, after)
				}
			}
		}
		p.Screen()
	}
}

// TestBackground: colours follow the background, and what is written stays.
func TestBackground(t *testing.T) {
	t.Parallel()
	p := start(t, newFake())
	p.says("cli:a", "t1", "chat-x", "hello")
	p.answers("cli:a", "t1", "r1", "some `code` here")
	p.types("draft")
	p.shows("some code here")
	dark := strings.Join(p.Lines(), "\n")
	p.Send(tea.BackgroundColorMsg{Color: ansi.HexColor("#ffffff")})
	light := strings.Join(p.Lines(), "\n")
	if dark == light || ansi.Strip(dark) != ansi.Strip(light) {
		t.Errorf("dark\n%s\nlight\n%s", dark, light)
	}
}

// TestSmall: in a small window the answer to a key, what the agent asks and its keys, and
// the message that is chosen come before the rest; and no text is cut off.
func TestSmall(t *testing.T) {
	t.Parallel()
	f := newFake()
	p := start(t, f, func(c *chat.Config) { c.Width, c.Height = 60, 15 })
	p.says("cli:a", "t1", "chat-x", "do it")
	p.calls("cli:a", "t1", "c1", "shell", `{"command":"`+strings.Repeat(`line\n`, 60)+`the end"}`)
	p.event("cli:a", "t1", "", &parley.ApprovalRequested{Call: "c1", Tool: "shell", Default: parley.ApprovalDenied})
	for i := range 8 {
		id := fmt.Sprint("waiting ", i)
		parts := []parley.Part{parley.TextPart(id)}
		f.with("cli:a", func(s *fakeSession) {
			s.waiting = append(s.waiting, parley.Input{Ref: parley.InputRef{ID: id}, Parts: parts})
		})
		p.event("cli:a", "", me, &parley.Admitted{ID: id, Origin: "x", Kind: parley.InputMessage, Parts: parts})
	}
	p.shows("y once · a always · n no · Esc stop · Tab write", "8 messages waiting, the first 3 of them below", "◦ waiting 2")
	p.press("ctrl+c")
	p.shows("press Ctrl-C again to leave", "y once")
	p.press("ctrl+q")
	p.shows("◦ waiting 7")
	p.press("esc", "tab", "f1")
	var seen strings.Builder
	for range 8 {
		seen.WriteString(p.Screen())
		p.press("pgdown")
	}
	if strings.Contains(seen.String(), "…") || !strings.Contains(seen.String(), "this help") {
		t.Errorf("the help is\n%s", seen.String())
	}
	p.press("esc", "ctrl+p")
	p.shows("1 found · Ctrl-F fork · Ctrl-N new · Tab not ended · Esc")
}
