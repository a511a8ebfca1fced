package chat

import (
	"errors"
	"os"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// editedMsg is what was written in the person's own editor.
type editedMsg struct {
	text string
	err  error
}

// edit opens what is being written in the person's own editor. Others
// cannot read the file, and it goes when the editor ends.
func (m *model) edit() tea.Cmd {
	if m.cfg.EditorFunc == nil {
		m.say("set EDITOR to the editor that you like")
		return nil
	}
	f, err := os.CreateTemp("", "parley-*.md")
	if err != nil {
		m.tell(err)
		return nil
	}
	_, err = f.WriteString(m.input.Value())
	if err := errors.Join(err, f.Close()); err != nil {
		m.tell(err)
		_ = os.Remove(f.Name()) // what is wrong was told
		return nil
	}
	return tea.ExecProcess(m.cfg.EditorFunc(f.Name()), func(err error) tea.Msg {
		data, readErr := os.ReadFile(f.Name())
		return editedMsg{string(data), errors.Join(err, readErr, os.Remove(f.Name()))}
	})
}

func (m *model) edited(msg editedMsg) {
	if msg.err != nil {
		m.tell(msg.err)
		return
	}
	m.input.SetValue(strings.TrimRight(msg.text, "\n"))
}
