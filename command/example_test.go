package command_test

import (
	"fmt"

	"github.com/parley-run/parley/command"
)

// What somebody writes is a command, nearly one, or a text.
func ExampleRead() {
	for _, text := range []string{"/undo 2", "/rest", "/etc/passwd is missing", "//reset is a command"} {
		switch r := command.Read(text); r.Kind {
		case command.Known:
			turns, err := command.ParseUndo(r.Command.Args)
			fmt.Println("command:", r.Command.Name, turns, err)
		case command.Unknown:
			fmt.Println("unknown:", r.Command.Name, "- perhaps", r.Near)
		case command.Text:
			fmt.Println("text:", r.Text)
		}
	}
	// Output:
	// command: undo 2 <nil>
	// unknown: rest - perhaps reset
	// text: /etc/passwd is missing
	// text: /reset is a command
}

// A menu of a chat platform is made from the table.
func ExampleAll() {
	for _, s := range command.All()[:2] {
		fmt.Println(s.Name, "-", s.Help)
	}
	// Output:
	// new - start another session; this one is kept
	// reset - start this conversation over; what was said is kept
}
