package editor_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/parley-run/parley/chat/editor"
	"github.com/parley-run/parley/internal/terminal"
)

const asProgram = "PARLEY_TEST_EDITOR_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) == "" {
		os.Exit(m.Run())
	}
	p := program{editor: editor.New(editor.Config{Placeholder: "ready", History: []string{"from history"}, CompleteFunc: offered})}
	if _, err := tea.NewProgram(&p).Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("sent %d bytes, %.8x\n%s\n", len(p.sent), sha256.Sum256([]byte(p.sent)), p.sent[:min(len(p.sent), 100)])
	os.Exit(0)
}

// program is an editor, and ends when its text is sent.
type program struct {
	editor        *editor.Editor
	width, height int
	sent          string
}

func (p *program) Init() tea.Cmd { return nil }

func (p *program) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if size, ok := msg.(tea.WindowSizeMsg); ok {
		p.width, p.height = size.Width, size.Height
	}
	if key, ok := msg.(tea.KeyPressMsg); !p.editor.Update(msg) && ok && key.String() == "enter" {
		p.sent = p.editor.Value()
		p.editor.Reset()
		return p, tea.Quit
	}
	return p, nil
}

func (p *program) View() tea.View {
	lines, x, y := p.editor.View(p.width, p.height)
	view := tea.NewView(strings.Join(lines, "\n"))
	view.Cursor = tea.NewCursor(x, y)
	view.AltScreen = true // as the program has it that the editor is for
	return view
}

func startProgram(t *testing.T, cols, rows int) *terminal.Terminal {
	t.Helper()
	term := terminal.Start(t, cols, rows, []string{asProgram + "=1"}, os.Args[0])
	term.WaitFor("ready")
	return term
}

// TestInATerminal sends keys as a terminal encodes them.
func TestInATerminal(t *testing.T) {
	t.Parallel()
	term := startProgram(t, 40, 12)
	term.Type("hello wrold")
	term.Send("BSpace", "BSpace", "BSpace", "BSpace", "o", "C-a", "M-f", "C-k", "C-y")
	term.WaitFor("> hello wo")
	term.Send("C-u", "C-_")
	term.WaitFor("> hello wo")
	term.Send("C-e", "M-Enter")
	term.Type("世界 e\u0301")
	term.Send("S-Enter")
	term.Type(`three\`)
	term.Send("Enter")
	term.Send("@", "m")
	term.WaitFor("> main.go")
	term.Send("Tab", "Left", "Up", "Up", "End")
	term.WaitUntil("all is there, and the cursor after wide characters", func(screen string) bool {
		state := term.State()
		return screen == "> hello wo\n  世界 é\n  three\n  @main.go" && state.X == 8 && state.Y == 1
	})
	term.Send("C-r")
	term.Type("hist")
	term.WaitFor("search history: hist", "> from history")
	term.Send("Escape")
	term.WaitGone("search history")
	term.Resize(10, 12)
	term.WaitFor("> hello\n  wo\n  世界 é\n  three")
	term.Resize(40, 12)
	term.Send("Enter")
	if status := term.WaitExit(); status != 0 {
		t.Errorf("the program ends with %d", status)
	}
	term.WaitFor("hello wo\n世界 e\u0301\nthree\n@main.go")
}

// TestPasteInATerminal pastes 10,000 lines, and 5 MB.
func TestPasteInATerminal(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"[pasted 10,000 lines]":         strings.Repeat("a line of text, 世界\n", 10_000),
		"[pasted 5,000,000 characters]": strings.Repeat("x", 5_000_000),
	} {
		term := startProgram(t, 60, 10)
		term.Type("see ")
		term.Paste(text)
		term.Type(" end")
		term.WaitFor("> see " + name + " end")
		term.Send("Enter")
		sent := "see " + text + " end"
		term.WaitFor(fmt.Sprintf("sent %d bytes, %.8x", len(sent), sha256.Sum256([]byte(sent))))
	}
}
