package chat

import (
	"context"
	"io"
	"time"

	"github.com/parley-run/parley"
)

// Backend is whom the program talks to, as one person.
type Backend interface {
	parley.Client
	Reader
	Changer
	// Watch has tell called when the connection of a stream is lost, with the error,
	// and when it is back, with nil: in the goroutine that reads the stream, before
	// what it brings next. The last one that was given counts.
	Watch(tell func(lost error))
}

// Reader reads what is stored.
type Reader interface {
	// Messages gives a page of a transcript: the newest, or the one that the cursor of
	// another leads to.
	Messages(ctx context.Context, id parley.SessionID, cursor string, limit int) (Page, error)
	// Waiting gives the inputs of a session that wait for their turn, in that order.
	Waiting(ctx context.Context, id parley.SessionID) ([]parley.Input, error)
	// Approvals gives the questions that wait for an answer, in all sessions.
	Approvals(ctx context.Context) ([]parley.Approval, error)
	// Participants gives who takes part in a session.
	Participants(ctx context.Context, id parley.SessionID) ([]parley.Identity, error)
}

// Changer changes sessions.
type Changer interface {
	// Enter gives the terminal's own conversation with an agent. Anew starts it over;
	// the one before is kept.
	Enter(ctx context.Context, agent string, anew bool) (parley.Session, error)
	// Withdraw takes back an input that still waits, and reports whether it did.
	Withdraw(ctx context.Context, id parley.SessionID, ref parley.InputRef) (bool, error)
	// Approve answers whether a call may run; always: the tool may from then on, in
	// this session.
	Approve(ctx context.Context, id parley.SessionID, call parley.CallID, allow, always bool) error
	// Fork makes a session that shares the events up to a seq; 0: all of them.
	Fork(ctx context.Context, id parley.SessionID, at uint64) (parley.Session, error)
	// RewindTo takes the turns that began after a seq out of the model's sight, and
	// gives what was said in the first of them.
	RewindTo(ctx context.Context, id parley.SessionID, seq uint64) (text string, err error)
	// Resume makes a session its key's current one again.
	Resume(ctx context.Context, id parley.SessionID) (parley.Session, error)
	// PutBlob stores media, for a part of a message to refer to.
	PutBlob(ctx context.Context, content io.Reader) (parley.Media, error)
}

// Page is a part of a transcript, oldest first.
type Page struct {
	Messages []Logged
	Cursor   string // leads to the page before this one; empty: this is the first
}

// Logged is a message as it stands in the log.
type Logged struct {
	Seq      uint64
	Turn     parley.TurnID
	At       time.Time
	Identity parley.IdentityID
	Message  parley.Message
	Redacted bool // its content was taken away
}
