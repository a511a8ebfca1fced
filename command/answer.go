package command

import (
	"errors"
	"strings"

	"github.com/parley-run/parley"
)

// join makes one text of sentences, without the empty ones.
func join(sentences ...string) string {
	var some []string
	for _, s := range sentences {
		if s != "" {
			some = append(some, s)
		}
	}
	return strings.Join(some, " ")
}

// dropped says that waiting messages went.
func dropped(n int) string {
	switch {
	case n <= 0:
		return ""
	case n == 1:
		return "A message that waited was dropped."
	}
	return number(int64(n)) + " messages that waited were dropped."
}

// kept says how to go back.
func kept(old parley.SessionID) string {
	if old == "" {
		return ""
	}
	return "The one before is kept as " + line(string(old), parley.MaxIDBytes) + "; /resume goes on in it."
}

// NewText is the answer to /new: the session that was started, the one before, and
// how many waiting messages were dropped with it.
func NewText(s parley.Session, old parley.SessionID, gone int) string {
	what := "A new session."
	if title := line(s.Title.Text, titleShown); title != "" {
		what = "A new session, called " + quoted(title, titleShown) + "."
	}
	return join(what, kept(old), dropped(gone))
}

// ResetText is the answer to /reset: the session before, and how many waiting
// messages were dropped with it.
func ResetText(old parley.SessionID, gone int) string {
	return join("Started over.", kept(old), dropped(gone))
}

// StopView is what /stop did.
type StopView struct {
	Stopped   bool // there was a turn
	Suspended bool // the session was suspended with it
	Waiting   int  // how many messages wait, which are answered next
}

// StopText is the answer to /stop.
func StopText(v StopView) string {
	what, next := "There is nothing to stop.", ""
	if v.Stopped {
		what = "Stopped. What was said so far stays."
	}
	switch {
	case v.Suspended:
		next = "The session is suspended: your next message starts another, and /resume goes on in this one."
	case v.Waiting == 1:
		next = "The message that waits is answered next; /queue shows it."
	case v.Waiting > 1:
		next = "The " + number(int64(v.Waiting)) + " messages that wait are answered next; /queue shows them."
	}
	return join(what, next)
}

// ResumeText is the answer to /resume: the session that goes on, and how many
// messages were dropped that waited in the other.
func ResumeText(s parley.Session, gone int) string {
	return join("You are back in "+called(&s)+", which has "+count(s.Counters.Messages, "message", "messages")+".", dropped(gone))
}

// ResumedText is the answer to /resume for the session that is current anyway.
func ResumedText(s parley.Session) string {
	return "You are in " + called(&s) + " already. /sessions shows the others."
}

// NoneBeforeText is the answer to /resume alone where there is no session before.
func NoneBeforeText() string {
	return "There is no session before this one. /sessions shows those you can resume."
}

// called gives what a session is called inside a sentence.
func called(s *parley.Session) string {
	if line(s.Title.Text, titleShown) != "" {
		return quoted(s.Title.Text, titleShown)
	}
	return "session " + line(string(s.ID), parley.MaxIDBytes)
}

// TitleText is the answer to /title without a text.
func TitleText(title string) string {
	if line(title, MaxTitle) == "" {
		return "This session has no title. /title and a text gives it one."
	}
	return "This session is called " + quoted(title, MaxTitle) + "."
}

// TitledText is the answer to /title with a text.
func TitledText(title string) string {
	return "This session is called " + quoted(title, MaxTitle) + " from here on."
}

// busyWords says what becomes of a message in each mode.
var busyWords = map[parley.BusyMode]string{
	parley.BusyQueue:     "each message waits for its turn",
	parley.BusyCollect:   "messages are gathered and answered together",
	parley.BusySteer:     "the agent sees messages at once",
	parley.BusyInterrupt: "a message stops it and is answered instead",
	parley.BusyReject:    "messages are turned away",
}

func busySentence(m parley.BusyMode) string {
	words, ok := busyWords[m]
	if !ok {
		words = "messages are treated as configured"
	}
	return "While the agent works, " + words + " (" + label(string(m), 32) + ")."
}

// BusyText is the answer to /busy without a mode: the one that holds, and whether
// it was configured or chosen.
func BusyText(m parley.BusyMode, chosen bool) string {
	if chosen {
		return busySentence(m) + " /busy default takes that back."
	}
	return busySentence(m) + " /busy and one of " + oneOf(busyChoices()[:len(busyModes)]) + " changes it."
}

// BusySetText is the answer to /busy with a mode: the one that holds from then on.
func BusySetText(m parley.BusyMode) string { return "Done. " + busySentence(m) }

// UndoText is the answer to /undo: how many turns were taken back, and what people
// had said in the first of them.
func UndoText(turns int, text string) string {
	what := "The last turn was taken back; the agent no longer sees it."
	if turns != 1 {
		what = "The last " + number(int64(turns)) + " turns were taken back; the agent no longer sees them."
	}
	from := ""
	if line(text, textShown) != "" {
		from = "You are where it said " + quoted(text, textShown) + "; say it again in other words, or something else."
	}
	return join(what, from)
}

// RetryText is the answer to /retry: what is asked again.
func RetryText(text string) string {
	if line(text, textShown) == "" {
		return "Trying again."
	}
	return "Trying again: " + quoted(text, textShown)
}

// ForkText is the answer to /fork: the copy, which shares the events up to its fork
// point.
func ForkText(s parley.Session) string {
	upto := ""
	if s.Parent != nil {
		upto = ", which shares this one up to event " + number(int64(s.Parent.Seq))
	}
	id := line(string(s.ID), parley.MaxIDBytes)
	return "There is a copy, " + id + upto + ". /resume " + id + " goes on in it; here all stays as it is."
}

// ModelSetText is the answer to /model with a name.
func ModelSetText(model string) string {
	return "From the next message on " + label(model, 64) + " answers, until the next reset."
}

// ErrorText is the answer to a command that failed: the message of a
// [parley.Error], which is written for people, on one line, and for everything else
// nothing that only the log should know.
func ErrorText(err error) string {
	if e, ok := errors.AsType[*parley.Error](err); ok && e.Code != parley.CodeInternal && e.Message != "" {
		return sentence(line(e.Message, 1000))
	}
	return "Something went wrong, and it did not work. Try again; the log says more."
}
