package group_test

import (
	"fmt"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/group"
)

// Three messages in a group: only the first is not for the agent at all.
func ExampleDecide() {
	for _, m := range []struct {
		name      string
		role      parley.Role
		mentioned bool
		text      string
	}{
		{"Bob", parley.RoleUser, false, "lunch at 12?"},
		{"Bob", parley.RoleUser, true, "summarise this"},
		{"Alice", parley.RoleOwner, false, "lunch at 12?"},
	} {
		a := group.Arrival{Session: parley.SessionGroup, Role: m.role, Mentioned: &m.mentioned}
		v := group.Decide(a, group.Config{})
		prompt := group.Prefix(a.Session, parley.Sender{Name: m.name}, a.Directed()) + m.text
		fmt.Printf("%s, as %s: %s\n", v.Mode, v.Why, prompt)
	}
	// Output:
	// store_only, as it does not mention the agent: [Bob] [not directed at you] lunch at 12?
	// turn, as it mentions the agent: [Bob] summarise this
	// turn, as an owner wrote it: [Alice] [not directed at you] lunch at 12?
}

func ExampleStrip() {
	for _, text := range []string{"ok, sounds good.\n<NO_REPLY>", "`<NO_REPLY>`", "..."} {
		shown, silent := group.Strip(text)
		fmt.Printf("%q %t\n", shown, silent)
	}
	// Output:
	// "ok, sounds good." false
	// "" true
	// "..." false
}

// A model writes, and half a marker never flashes up.
func ExampleFilter() {
	var f group.Filter
	for _, delta := range []string{"Noted", ". <NO_", "REPLY>", " Port 80", "80 <it is"} {
		fmt.Printf("%q ", f.Write(delta))
	}
	rest, silent := f.Flush()
	fmt.Printf("%q %t\n", rest, silent)
	// Output:
	// "Noted" "." "" "  Port 80" "80 <it is" "" false
}
