package termsvg_test

import (
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-run/parley/internal/terminal"
	"github.com/parley-run/parley/internal/termsvg"
)

var update = flag.Bool("update", false, "write the pictures in testdata anew")

// element is a part of a picture: its name, its attributes, and its text.
type element struct {
	name       string
	attributes map[string]string
	text       string
}

// elements reads a picture, which has to be well-formed. Those of the window are
// left out.
func elements(t testing.TB, svg string) (list []element) {
	t.Helper()
	decoder := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("the picture is not well-formed: %v\n%s", err, svg)
		}
		switch token := token.(type) {
		case xml.StartElement:
			e := element{name: token.Name.Local, attributes: make(map[string]string)}
			for _, a := range token.Attr {
				e.attributes[a.Name.Local] = a.Value
			}
			list = append(list, e)
		case xml.CharData:
			if n := len(list); n > 0 && strings.TrimSpace(string(token)) != "" {
				list[n-1].text += string(token)
			}
		}
	}
	window := 5 // svg, its background, and three circles
	if strings.Contains(svg, "<title>") {
		window = 7
	}
	if len(list) < window {
		t.Fatalf("the picture has no window:\n%s", svg)
	}
	return list[window:]
}

// look draws a line and says what is in the picture, as name@column+columns and what
// is special about it.
func look(t *testing.T, screen string) string {
	t.Helper()
	var parts []string
	for _, e := range elements(t, termsvg.Render(screen, termsvg.Config{})) {
		var x, width int
		if _, err := fmt.Sscan(e.attributes["x"], &x); err != nil {
			t.Fatal(err)
		}
		length := e.attributes["width"] + e.attributes["textLength"]
		if _, err := fmt.Sscan(length, &width); err != nil {
			t.Fatal(err)
		}
		part := fmt.Sprintf("%s@%d+%d", e.name, (x-14)/9, width/9)
		for _, key := range []string{"fill", "font-weight", "font-style", "fill-opacity", "text-decoration"} {
			if value := e.attributes[key]; value != "" && value != "#d8dee9" {
				part += " " + value
			}
		}
		if e.text != "" {
			part += fmt.Sprintf(" %q", e.text)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "; ")
}

func TestRender(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, screen, want string }{
		{"nothing", "", ""},
		{"plain", "hello world", `text@0+11 "hello world"`},
		{"blanks around", "  hello  ", `text@2+5 "hello"`},
		{"marks", `<a href="x">&amp;</a>`, `text@0+21 "<a href=\"x\">&amp;</a>"`},
		{"bold, faint, italic", "\x1b[1ma\x1b[22;2mb\x1b[22;3mc\x1b[23md", `text@0+1 bold "a"; text@1+1 .6 "b"; text@2+1 italic "c"; text@3+1 "d"`},
		{"lines", "\x1b[4ma b\x1b[24;9mc\x1b[4md\x1b[4:0me\x1b[29mf", `text@0+3 underline "a b"; text@3+1 line-through "c"; text@4+1 underline line-through "d"; text@5+1 line-through "e"; text@6+1 "f"`},
		{"an underlined blank", "\x1b[4m  ", `text@0+2 underline`},
		{"curly and double lines", "\x1b[4:3ma\x1b[0m\x1b[21mb", `text@0+2 underline "ab"`},
		{"reverse", "\x1b[7mab\x1b[27mc", `rect@0+2; text@0+2 #16181d "ab"; text@2+1 "c"`},
		{"hidden", "\x1b[8msecret\x1b[28m!", `text@6+1 "!"`},
		{"16 colours", "\x1b[31ma\x1b[92mb\x1b[39mc", `text@0+1 #e06c75 "a"; text@1+1 #b1d996 "b"; text@2+1 "c"`},
		{"16 colours behind", "\x1b[41m \x1b[102m \x1b[49m ", `rect@0+1 #e06c75; rect@1+1 #b1d996`},
		{"256 colours", "\x1b[38;5;9ma\x1b[38;5;16mb\x1b[38;5;208mc\x1b[38;5;231md\x1b[38;5;232me\x1b[38:5:255mf", `text@0+1 #f08a92 "a"; text@1+1 #000000 "b"; text@2+1 #ff8700 "c"; text@3+1 #ffffff "d"; text@4+1 #080808 "e"; text@5+1 #eeeeee "f"`},
		{"true colours", "\x1b[38;2;1;2;3;48;2;250;251;252ma\x1b[38:2::4:5:6mb\x1b[38:2:7:8:9mc", `rect@0+3 #fafbfc; text@0+1 #010203 "a"; text@1+1 #040506 "b"; text@2+1 #070809 "c"`},
		{"the colour of a line is left out", "\x1b[58;2;1;2;3;1ma\x1b[58:5:1mb\x1b[59mc", `text@0+3 bold "abc"`},
		{"reset", "\x1b[1;31;44ma\x1b[mb\x1b[31m\x1b[0mc", `rect@0+1 #61afef; text@0+1 #e06c75 bold "a"; text@1+2 "bc"`},
		{"wrong colours", "\x1b[38;5;256ma\x1b[38;2;1mb\x1b[38mc\x1b[48;5;xd\x1b[1x2me", `text@0+7 "abcd2me"`},
		{"wide", "a世b界c", `text@0+1 "a"; text@1+2 "世"; text@3+1 "b"; text@4+2 "界"; text@6+1 "c"`},
		{"combining", "ae\u0301b", "text@0+1 \"a\"; text@1+1 \"e\u0301\"; text@2+1 \"b\""},
		{"a mark on a blank", "a  \u0301", "text@0+1 \"a\"; text@2+1 \" \u0301\""},
		{"a family", "👩‍👩‍👧‍👦!", `text@0+2 "👩\u200d👩\u200d👧\u200d👦"; text@2+1 "!"`},
		{"a frame", "╭──╮", `text@0+1 "╭"; text@1+2 "──"; text@3+1 "╮"`},
		{"other sequences", "\x1b[2Ja\x1b]0;title\ab\x1b]8;;http://x\x1b\\c\x1b(Bd\x0ee\x0ff", `text@0+6 "abcdef"`},
		{"open sequences", "a\x1b[12", `text@0+4 "a[12"`},
		{"open strings", "a\x1b]8;;b", `text@0+6 "a]8;;b"`},
		{"an escape at the end", "a\x1b", `text@0+1 "a"`},
		{"a tab", "a\tb", `text@0+9 "a       b"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, look(t, test.screen)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestStyleCrossesLines is how tmux gives a screen.
func TestStyleCrossesLines(t *testing.T) {
	t.Parallel()
	list := elements(t, termsvg.Render("\x1b[31ma\nb\n\x1b[39mc\n", termsvg.Config{}))
	if len(list) != 3 {
		t.Fatalf("there are %d parts, want 3", len(list))
	}
	for i, want := range []element{{text: "a"}, {text: "b"}, {text: "c"}} {
		y := fmt.Sprint(34 + 18*i + 14)
		if got := list[i]; got.text != want.text || got.attributes["y"] != y || (got.attributes["fill"] == "#e06c75") != (i < 2) {
			t.Errorf("line %d is %+v, want %s at %s", i, got, want.text, y)
		}
	}
}

func TestSize(t *testing.T) {
	t.Parallel()
	size := func(screen string, cfg termsvg.Config) string {
		svg := termsvg.Render(screen, cfg)
		elements(t, svg)
		_, rest, _ := strings.Cut(svg, `viewBox="0 0 `)
		box, _, _ := strings.Cut(rest, `"`)
		return box
	}
	tests := []struct {
		screen string
		cfg    termsvg.Config
		want   string
	}{
		{"", termsvg.Config{}, "37 66"},
		{"ab世\nabc", termsvg.Config{}, "64 84"},
		{"ab世\nabc\n", termsvg.Config{}, "64 84"},
		{"ab世\nabc", termsvg.Config{Cols: 10, Rows: 5}, "118 138"},
		{"ab世\nabc", termsvg.Config{Cols: 3, Rows: 1}, "55 66"},
	}
	for _, test := range tests {
		if got := size(test.screen, test.cfg); got != test.want {
			t.Errorf("%q with %+v has the size %s, want %s", test.screen, test.cfg, got, test.want)
		}
	}
	// What does not fit is not drawn, not even a half of it.
	list := elements(t, termsvg.Render("ab世\nabc", termsvg.Config{Cols: 3, Rows: 1}))
	if len(list) != 1 || list[0].text != "ab" {
		t.Errorf("in a smaller window there is %+v", list)
	}
}

// TestGolden compares whole pictures, dark and light, of a screen with everything.
func TestGolden(t *testing.T) {
	t.Parallel()
	capture, err := os.ReadFile(filepath.Join("testdata", "screen.ansi"))
	if err != nil {
		t.Fatal(err)
	}
	for name, cfg := range map[string]termsvg.Config{
		"dark.svg":  {Title: "a terminal & its <title>"},
		"light.svg": {Title: "a terminal & its <title>", Light: true, Cols: 60, Rows: 16},
	} {
		got := termsvg.Render(string(capture), cfg)
		elements(t, got)
		file := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s is another picture; see go test -update:\n%s", name, diff)
		}
	}
}

// TestOfATerminal draws what a real terminal gives.
func TestOfATerminal(t *testing.T) {
	t.Parallel()
	term := terminal.Start(t, 30, 4, nil, "printf", `\033[1;38;2;10;20;30mtitle\033[0m\n世界 \033[7mchosen\033[0m\nlast`)
	term.WaitFor("last")
	list := elements(t, termsvg.Render(term.Colored(), termsvg.Config{Cols: 30, Rows: 4}))
	var texts []string
	for _, e := range list {
		texts = append(texts, strings.TrimSpace(e.name+" "+e.attributes["x"]+" "+e.attributes["fill"]+" "+e.text))
	}
	want := []string{
		"text 14 #0a141e title",
		"rect 59 #d8dee9", "text 14 #d8dee9 世", "text 32 #d8dee9 界", "text 59 #16181d chosen",
		"text 14 #d8dee9 last",
	}
	if diff := cmp.Diff(want, texts); diff != "" {
		t.Error(diff)
	}
}

// FuzzRender looks that every picture is well-formed, within its window, and the same
// twice.
func FuzzRender(f *testing.F) {
	f.Add("\x1b[1;31mred\x1b[0m\n世界\t\x1b]8;;x\a", 10, 3)
	f.Add("\x1b[38;2;1;2;3m\x1b[48:5:7m\xff\x00\u0301", 0, 0)
	f.Add("\x1b[38;5", 1, 1)
	f.Fuzz(func(t *testing.T, screen string, cols, rows int) {
		if len(screen) > 10_000 {
			t.Skip("longer ones find nothing more")
		}
		cfg := termsvg.Config{Title: screen, Cols: max(cols%300, 0), Rows: max(rows%100, 0)}
		svg := termsvg.Render(screen, cfg)
		if termsvg.Render(screen, cfg) != svg {
			t.Error("the same screen gives another picture")
		}
		if screen == "" {
			return
		}
		for _, e := range elements(t, svg) {
			var x, width int
			if _, err := fmt.Sscan(e.attributes["x"], &x); err != nil {
				t.Fatal(err)
			}
			if _, err := fmt.Sscan(e.attributes["width"]+e.attributes["textLength"], &width); err != nil {
				t.Fatal(err)
			}
			if cfg.Cols > 0 && (x < 14 || width <= 0 || x+width > 14+9*cfg.Cols) {
				t.Errorf("a part is outside of its window: %+v", e)
			}
		}
	})
}
