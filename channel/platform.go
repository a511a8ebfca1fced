package channel

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/parley-run/parley"
)

// Platform is a chat platform, under one account: what an adapter implements. Inbounds
// come from it, and deliveries go to it.
//
// Its methods may be called from many goroutines. Send, Edit and Typing are called by
// the outbox, which keeps to the pace that [Capabilities] ask for and has at most one
// of them under way in a chat; they do not repeat by themselves.
type Platform interface {
	// Name is the channel's name in scopes, identities and targets: "telegram".
	Name() string
	// Account tells several accounts on one platform apart; often empty.
	Account() string
	// Capabilities says what the platform can do. It never changes.
	Capabilities() Capabilities
	// Run receives until ctx ends, which is no error. The platform may forget
	// something only after the receiver has returned nil for it.
	Run(ctx context.Context, to Receiver) error
	// Send brings a message to its chat and gives the platform's id for it.
	//
	// Its errors say what is known: [parley.ErrOutcomeUnknown] in the chain, that the
	// platform may have the message; a [*RetryError], when to try again;
	// [parley.CodeInvalid], [parley.CodeForbidden], [parley.CodeNotFound] and
	// [parley.CodeTooLarge], that this message is refused for good. With every other
	// error nothing has arrived, and it is tried again.
	Send(ctx context.Context, m Outgoing) (platformID string, err error)
	// Edit makes a message that was sent into m. That it is so already is no error;
	// [parley.CodeNotFound] says that it is not there any more. Other errors are those
	// of Send. An edit may be repeated.
	Edit(ctx context.Context, platformID string, m Outgoing) error
	// Typing shows in a chat that an answer is on its way, for a few seconds or until
	// the next message.
	Typing(ctx context.Context, to parley.Target) error
}

// Finder is a [Platform] whose chats can be read back.
type Finder interface {
	// Find looks for a message that may have been sent: the one with m's key, or else
	// the one that says the same, not older than since. found is false if it is
	// certain that it is not there.
	Find(ctx context.Context, m Outgoing, since time.Time) (platformID string, found bool, err error)
}

// Capabilities are what a platform can do. The zero value is one that takes text of
// any length and nothing else.
type Capabilities struct {
	// MaxUnits is how long a message can be, counted in Units; 0: as long as it likes.
	MaxUnits int
	Units    Units
	// MaxMedia is how many bytes a medium can have; 0: the platform takes none.
	// MaxCaption is how long the text beside one can be.
	MaxMedia   int64
	MaxCaption int
	// Edits says that messages can be changed after they were sent: then answers are
	// shown while they are written. EditEvery is the time between two edits of a
	// message at least; 0: three seconds.
	Edits     bool
	EditEvery time.Duration
	// Typing says that the platform can show that an answer is on its way;
	// TypingEvery is how often that is to be repeated; 0: four seconds.
	Typing      bool
	TypingEvery time.Duration
	// Buttons says that messages can have buttons; MaxData is how many bytes one can
	// carry.
	Buttons bool
	MaxData int
	// Idempotent is for how long the platform knows [Outgoing.Key] again: what is sent
	// twice within it arrives once. 0: it does not.
	Idempotent time.Duration
	// Limits are how much may be sent; edits count.
	Limits Limits
	// GroupFunc says whether a target is a group, for which PerGroup holds; nil: none is.
	GroupFunc func(parley.Target) bool
}

// Outgoing is a message on its way to a chat.
type Outgoing struct {
	// Key names the message for platforms that know again what was sent before; see
	// [Capabilities.Idempotent].
	Key     string
	Target  parley.Target
	Text    Rich
	Buttons [][]Button // rows of them
	// Media is what the message shows, and Text, which may be empty, stands beside it;
	// nil: it is text alone. What has media is not edited.
	Media *Medium
}

// Medium is a picture, a voice message or some other file on its way to a chat.
type Medium struct {
	Type string // its media type
	Name string // empty: it has none
	Size int64  // in bytes; 0: not known
	// Body are its bytes, for [Platform].Send alone.
	Body io.Reader
}

// Button is one below a message. Who presses it sends Data back.
type Button struct {
	Text string
	Data string
}

// RetryError says that a platform took nothing and wants to be left alone for a while.
type RetryError struct {
	After time.Duration
	// Everything says that it is about the whole account; else about the chat.
	Everything bool
	Err        error
}

// Error says when to try again, and why.
func (e *RetryError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("the platform asks to try again in %s", e.After)
	}
	return fmt.Sprintf("try again in %s: %v", e.After, e.Err)
}

// Unwrap gives the cause.
func (e *RetryError) Unwrap() error { return e.Err }

// Is says that it is [parley.ErrRateLimited].
func (*RetryError) Is(target error) bool { return target == parley.ErrRateLimited }

// Receiver takes what a platform's people do. Both methods return when it is durable,
// or need not be; after an error the platform gives it again.
type Receiver interface {
	// Receive takes a message.
	Receive(ctx context.Context, m Received) error
	// Press takes the press of a button, and gives what to tell the person who did.
	Press(ctx context.Context, p Press) (answer string, err error)
}

// Received is a message as a platform gave it.
type Received struct {
	// Inbound is the message, normalised. Its parts are text; media are in Media.
	parley.Inbound
	// At is when it was written.
	At time.Time
	// Target is where an answer goes.
	Target parley.Target
	// Edit names a later wording of a message, different for each; empty: the first.
	Edit string
	// Album is common to messages that were sent as one; empty: it stands alone.
	Album string
	// Forwarded says that somebody else wrote it first.
	Forwarded bool
	// Mentioned says that the account was spoken to: by name, by an answer to one of
	// its messages, or because nobody else is in the chat.
	Mentioned bool
	// Full says that it is as long as the platform allows, so the rest may follow.
	Full bool
	// Media are what came with it.
	Media []Attachment
}

// Attachment is a medium that has not been fetched yet.
type Attachment struct {
	Type string // its media type, as far as it is known
	Name string
	Size int64 // 0: not known
	// Most is how many bytes the platform gives of a medium; 0: of any as many as it has.
	Most int64
	// FetchFunc gives its bytes.
	FetchFunc func(ctx context.Context) (io.ReadCloser, error)
}

// Press is that somebody pressed a button of a message.
type Press struct {
	Target    parley.Target
	Sender    parley.Sender
	MessageID string // the platform's id of the message
	Data      string // of the button
	At        time.Time
}
