package editor_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/rivo/uniseg"

	"github.com/parley-run/parley/chat/editor"
	"github.com/parley-run/parley/internal/soak"
)

// oracle is an editor that is plain enough to be right: a list of graphemes, cut
// anew after each change, by another library.
type oracle struct {
	graphemes []string
	cursor    int // an index
	killed    string
	killing   bool
}

func cut(text string) (graphemes []string) {
	for g := uniseg.NewGraphemes(text); g.Next(); {
		graphemes = append(graphemes, g.Str())
	}
	return graphemes
}

// replace puts text in the place of some graphemes. The cursor goes after it, to the
// next place where one may stand.
func (o *oracle) replace(from, to int, text string) {
	left := strings.Join(o.graphemes[:from], "") + text
	o.graphemes = cut(left + strings.Join(o.graphemes[to:], ""))
	o.cursor = 0
	for n := 0; n < len(left); o.cursor++ {
		n += len(o.graphemes[o.cursor])
	}
}

func (o *oracle) kill(from, to int) {
	part := strings.Join(o.graphemes[from:to], "")
	switch {
	case part == "":
		return
	case !o.killing:
		o.killed = part
	case from < o.cursor:
		o.killed = part + o.killed
	default:
		o.killed += part
	}
	o.replace(from, to, "")
}

func (o *oracle) start() int {
	at := o.cursor
	for at > 0 && o.graphemes[at-1] != "\n" {
		at--
	}
	return at
}

func (o *oracle) end() int {
	at := o.cursor
	for at < len(o.graphemes) && o.graphemes[at] != "\n" {
		at++
	}
	return at
}

func (o *oracle) word() int {
	at := o.cursor
	space := func(at int) bool {
		r, _ := utf8.DecodeRuneInString(o.graphemes[at])
		return unicode.IsSpace(r)
	}
	for at > 0 && space(at-1) {
		at--
	}
	for at > 0 && !space(at-1) {
		at--
	}
	return at
}

func (o *oracle) key(key string) {
	left, right := max(o.cursor-1, 0), min(o.cursor+1, len(o.graphemes))
	switch key {
	case "left":
		o.cursor = left
	case "right":
		o.cursor = right
	case "home":
		o.cursor = o.start()
	case "end":
		o.cursor = o.end()
	case "ctrl+home":
		o.cursor = 0
	case "ctrl+end":
		o.cursor = len(o.graphemes)
	case "backspace":
		o.replace(left, o.cursor, "")
	case "delete":
		o.replace(o.cursor, right, "")
	case "ctrl+k":
		if end := o.end(); end > o.cursor {
			right = end
		}
		o.kill(o.cursor, right)
	case "ctrl+u":
		if start := o.start(); start < o.cursor {
			left = start
		}
		o.kill(left, o.cursor)
	case "ctrl+w":
		o.kill(o.word(), o.cursor)
	case "ctrl+y":
		o.replace(o.cursor, o.cursor, o.killed)
	case "ctrl+j":
		o.replace(o.cursor, o.cursor, "\n")
	default:
		o.replace(o.cursor, o.cursor, key)
	}
	o.killing = key == "ctrl+k" || key == "ctrl+u" || key == "ctrl+w"
}

// TestRandomKeys presses random keys in the editor and in its oracle.
func TestRandomKeys(t *testing.T) {
	t.Parallel()
	seed := soak.Seed(t)
	random := rand.New(rand.NewPCG(seed, 0))
	keys := []string{
		"left", "left", "right", "right", "home", "end", "ctrl+home", "ctrl+end", "backspace", "delete", "ctrl+k", "ctrl+u", "ctrl+w", "ctrl+y", "ctrl+j",
		"a", "b", " ", " ", "é", "e\u0301", "\u0301", "\u200d", "世", "界", "👩", "👩‍👧", "🇩", "🇪", "🇫", "각", "\u1100", "\u1161", "\u0600", "नि", "👍🏽", "🏽", "\ufe0f",
	}
	for range soak.Count(200, 20_000) {
		e := editor.New(editor.Config{})
		var o oracle
		var pressed []string
		for range random.IntN(80) {
			key := keys[random.IntN(len(keys))]
			pressed = append(pressed, key)
			if len(key) > 4 && random.IntN(4) == 0 && !slices.Contains(keys[:15], key) {
				e.Update(tea.PasteMsg{Content: key})
			} else {
				e.Update(press(key))
			}
			o.key(key)
			if got, want := e.Value(), strings.Join(o.graphemes, ""); got != want {
				t.Fatalf("after %q the text is %q, want %q", pressed, got, want)
			}
		}
		view(t, e, 1+random.IntN(30), random.IntN(6))
		e.Update(tea.PasteMsg{Content: "|"})
		if got, want := e.Value(), strings.Join(o.graphemes[:o.cursor], "")+"|"+strings.Join(o.graphemes[o.cursor:], ""); got != want {
			t.Fatalf("after %q the text with the cursor is %q, want %q", pressed, got, want)
		}
	}
}

// TestRandomUndo undoes everything, and finds each text on the way back that was
// there before a step.
func TestRandomUndo(t *testing.T) {
	t.Parallel()
	seed := soak.Seed(t)
	random := rand.New(rand.NewPCG(seed, 0))
	keys := []string{"backspace", "delete", "ctrl+k", "ctrl+u", "ctrl+w", "ctrl+y", "ctrl+j", "left", "home", "up", "down", "ctrl+r", "esc", "a", "b", " "}
	for range soak.Count(200, 20_000) {
		e := editor.New(editor.Config{History: []string{"ab a", "b\nb"}})
		seen := []string{""}
		for range random.IntN(60) {
			e.Update(press(keys[random.IntN(len(keys))]))
			seen = append(seen, e.Value())
		}
		e.Update(press("esc"))
		for range 100 {
			e.Update(press("ctrl+z"))
			value := e.Value()
			at := slices.Index(seen, value)
			if at < 0 {
				t.Fatalf("undo gives %q, which never was there: %q", value, seen)
			}
		}
		if got := e.Value(); got != "" {
			t.Fatalf("after all is undone the text is %q", got)
		}
	}
}

// FuzzEditor takes any bytes as keys and pastes, and looks that what comes out can
// be shown.
func FuzzEditor(f *testing.F) {
	f.Add("hello<ctrl+j>w\u00f6rld<left><ctrl+r>x", "pasted\x1b[31m\r\n\xff", 20, 5)
	f.Add("/<tab><down><enter>@<esc>", strings.Repeat("line\n", 20), 1, 1)
	f.Add("e\u0301🇩🇪<up><up><ctrl+k><ctrl+y><ctrl+z>", strings.Repeat("\u0301", 2000), 7, 3)
	f.Add("<ctrl+y><ctrl+w>\u0600", "\U0010ffff\u2028\t", 0, 0)
	f.Fuzz(func(t *testing.T, keys, pasted string, width, height int) {
		if len(keys) > 500 || len(pasted) > 5000 {
			t.Skip("longer ones find nothing more")
		}
		width, height = width%200, height%50
		e := editor.New(editor.Config{Prompt: pasted[:min(len(pasted), 3)], Placeholder: pasted, History: []string{pasted, keys}, CompleteFunc: many})
		enter(t, e, keys)
		view(t, e, width, height)
		e.Update(tea.PasteMsg{Content: pasted})
		view(t, e, width, height)
		enter(t, e, keys)
		view(t, e, width, height)
		if e.Unfold() {
			view(t, e, width, height)
		}
		value := e.Value()
		if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r >= 0x100000 }) {
			t.Errorf("the text has control characters: %q", value)
		}
		e.Remember(value)
		e.Reset()
		e.SetValue(value)
		if got := e.Value(); got != value {
			t.Errorf("given its own text %q it has %q", value, got)
		}
	})
}
