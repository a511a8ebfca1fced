package main

import (
	"os"
	"strings"
	"testing"

	"github.com/parley-run/parley/internal/terminal"
)

// TestChannelsAdd_TokenNotShown: a token is not shown while it is typed, and the terminal
// is as before afterwards, also if that is interrupted. Keys that would stop or kill the program
// while it hides are not heard.
func TestChannelsAdd_TokenNotShown(t *testing.T) {
	t.Parallel()
	for keys, want := range map[string]string{
		"Enter": "no token of a Telegram bot", "C-c": "interrupted",
		"C-z Enter": "no token of a Telegram bot", `C-\ Enter`: "no token of a Telegram bot",
	} {
		t.Run(keys, func(t *testing.T) {
			t.Parallel()
			// The shell stays when the program has ended, and with it the terminal.
			term := terminal.Start(t, 80, 24, []string{"PROGRAM=" + os.Getenv("PARLEY_TEST_PROGRAM"), "DATA=" + t.TempDir()},
				"sh", "-c", `trap : INT; "$PROGRAM" channels add telegram --data "$DATA"; echo "it ended with $?"; read -r line`)
			term.WaitFor("The bot's token (it is not shown):")
			if !term.State().Raw {
				t.Error("what is typed is not hidden")
			}
			term.Type("very-secret-words")
			for key := range strings.FieldsSeq(keys) {
				term.Send(key)
			}
			term.WaitFor("it ended with")
			if s := term.Screen(); strings.Contains(s, "very-secret") || !strings.Contains(s, want) {
				t.Errorf("the screen has\n%s", s)
			}
			if term.State().Raw {
				t.Error("what is typed stays hidden")
			}
		})
	}
}
