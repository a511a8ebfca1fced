package command

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/parley-run/parley"
)

// How much of what people wrote is shown.
const (
	titleShown = 60
	textShown  = 80
)

// name gives a session's title and id.
func name(s *parley.Session) string {
	id := line(string(s.ID), parley.MaxIDBytes)
	if title := line(s.Title.Text, titleShown); title != "" {
		return quoted(title, titleShown) + " (" + id + ")"
	}
	return "Session " + id
}

// SessionsView is what /sessions tells.
type SessionsView struct {
	// Sessions are shown in this order, and numbered from 1: what /resume 2 means.
	Sessions []parley.Session
	More     bool // there are others
	Current  parley.SessionID

	Now  time.Time
	Zone *time.Location // nil: UTC
}

// SessionsText is the answer to /sessions.
func SessionsText(v SessionsView) string {
	if len(v.Sessions) == 0 {
		return "There are no sessions yet. Write a message to begin one."
	}
	var b strings.Builder
	b.WriteString("Your sessions:\n")
	for i := range v.Sessions {
		s := &v.Sessions[i]
		fmt.Fprintf(&b, "%d. %s, %s%s\n   %s\n", i+1, about(s), when(s.UpdatedAt, v.Now, v.Zone), remark(s, v.Current), line(string(s.ID), parley.MaxIDBytes))
	}
	if v.More {
		b.WriteString("There are others, which /resume finds by their id.\n")
	}
	b.WriteString("/resume and a number goes on in one of them; /new starts another.")
	return b.String()
}

// about gives what a session is called, or how it last went on.
func about(s *parley.Session) string {
	for _, text := range []string{s.Title.Text, s.Preview} {
		if line(text, titleShown) != "" {
			return quoted(text, titleShown)
		}
	}
	return "nothing said yet"
}

// remark says what is special about a session of a list.
func remark(s *parley.Session, current parley.SessionID) string {
	var words []string
	if s.ID == current {
		words = append(words, "this one")
	}
	switch {
	case s.Recovery.State == parley.RecoverySuspended:
		words = append(words, "suspended")
	case s.Status == parley.StatusRunning:
		words = append(words, "working")
	case s.Status == parley.StatusAwaitingApproval:
		words = append(words, "waits for an approval")
	case s.Status == parley.StatusInactive:
		words = append(words, "put away")
	}
	if len(words) == 0 {
		return ""
	}
	return " (" + strings.Join(words, ", ") + ")"
}

// queueShown is how many waiting messages are shown.
const queueShown = 10

// QueueText is the answer to /queue without a text: what waits, in order.
func QueueText(waiting []parley.Input) string {
	if len(waiting) == 0 {
		return "Nothing waits. /queue and a text sends a message that waits for its turn."
	}
	var b strings.Builder
	b.WriteString(count(len(waiting), "message waits", "messages wait") + ":\n")
	for i := range waiting[:min(len(waiting), queueShown)] {
		b.WriteString(strconv.Itoa(i+1) + ". " + said(&waiting[i]) + "\n")
	}
	if more := len(waiting) - queueShown; more > 0 {
		b.WriteString("and " + number(int64(more)) + " more.\n")
	}
	b.WriteString("They are answered in this order. /stop ends what the agent does now.")
	return b.String()
}

// said gives who says what in an input.
func said(in *parley.Input) string {
	what := "nothing"
	if text := parley.PlainText(in.Parts); line(text, textShown) != "" {
		what = quoted(text, textShown)
	}
	files := 0
	for _, p := range in.Parts {
		if p.Kind == parley.PartMedia {
			files++
		}
	}
	if files > 0 {
		what = strings.TrimPrefix(what+" and ", "nothing and ") + count(files, "file", "files")
	}
	switch who := line(in.Sender.Name, 32); {
	case in.Kind == parley.InputAutomation:
		return "An automation: " + what
	case who != "":
		return quoted(who, 32) + ": " + what
	}
	return what
}

// ModelText is the answer to /model: the models of the agent, in the order in which
// they are tried, and the one that is in use.
func ModelText(chain []string, current string) string {
	if len(chain) == 0 {
		if current == "" {
			return "This agent has no models to choose from."
		}
		return "This agent uses " + label(current, 64) + ", and has no others."
	}
	var b strings.Builder
	b.WriteString("The models of this agent:\n")
	for i, m := range chain {
		b.WriteString(strconv.Itoa(i+1) + ". " + label(m, 64))
		if m == current {
			b.WriteString(" (in use)")
		}
		b.WriteString("\n")
	}
	if len(chain) == 1 {
		return b.String() + "There is no other to choose."
	}
	return b.String() + "/model and a number or name chooses one, until the next reset."
}
