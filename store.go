package parley

import (
	"context"
	"time"
)

// Store keeps everything. Commit is the only way to change it; what it has
// acknowledged survives any crash. All methods may be called from many
// goroutines; after Close they fail with [CodeUnavailable].
//
// Reads see what was committed before they began, or before the first of their view did;
// see View. They take a [Visibility], and give [CodeNotFound] for what it hides as for
// what is not there.
type Store interface {
	// Commit applies the batch, all or nothing, and returns when it is durable.
	//
	// It fails with [CodeInvalid] or [CodeTooLarge] for a batch that cannot be
	// stored, [CodeNotFound] or [CodeConflict] if the store is not in the state
	// the batch needs (an [*ExpectError] has the actual value), and
	// [CodeUnavailable] if the store cannot write. In all these cases nothing is
	// written, unless [ErrOutcomeUnknown] is in the chain: then the batch was in
	// the transaction when the context ended or the disk failed.
	Commit(ctx context.Context, b Batch) (Result, error)

	// View calls f with a context, and gives its error. All that f reads from this store with
	// that context is of one moment, that of the first read, and costs less than reads on their
	// own. It fails with [CodeUnavailable], and does not call f, if the store is closed or ctx
	// has ended.
	//
	// f makes a few short reads, one at a time: others may have to wait for a view. It does
	// not commit, and nobody uses its context after it. A View inside of another is part of
	// that.
	View(ctx context.Context, f func(ctx context.Context) error) error

	SessionReader
	LogReader
	WorkReader
	PeopleReader
	CredentialReader
	UsageReader
	BlobReader

	// Close waits for commits under way and frees what the store holds. It may
	// be called twice.
	Close() error
}

// SessionReader reads sessions and the names that lead to them.
type SessionReader interface {
	// Session gives one session.
	Session(ctx context.Context, v Visibility, id SessionID) (Session, error)
	// Sessions gives a page of sessions, the most recently active first.
	Sessions(ctx context.Context, v Visibility, q SessionQuery) (SessionPage, error)
	// Lookup finds a key by its name or by an alias of it. If a key is called
	// like an alias, the alias counts, unless the name is that of a scope; see
	// [Key.OfScope].
	Lookup(ctx context.Context, v Visibility, name string) (KeyEntry, error)
	// Aliases gives the aliases of a key, sorted. A key that v does not find
	// has none to be seen.
	Aliases(ctx context.Context, v Visibility, key Key) ([]Alias, error)
	// Participants gives the identities that take part, sorted.
	Participants(ctx context.Context, v Visibility, id SessionID) ([]IdentityID, error)
}

// SessionQuery narrows a list of sessions.
type SessionQuery struct {
	Status          Status
	Source          string // the source's kind
	Agent           string
	Key             Key
	ActiveSince     time.Time
	Metadata        map[string]string // all of these
	IncludeInactive bool
	Limit           int    // rows of a page, see [PageSize]
	Cursor          string // of the page before; empty for the first
}

// SessionPage is one page of a list. A page looks at a bounded number of rows,
// so it may be short, even empty, while its cursor goes on. An empty cursor is
// the end.
type SessionPage struct {
	Sessions []Session
	Cursor   string
}

// KeyEntry is a key, what it stands for, and where it leads. Current is empty
// if it leads nowhere; who may not see the current session does not find the
// key.
type KeyEntry struct {
	Key     Key
	Current SessionID
	Scope   *Scope
}

// LogReader reads events.
type LogReader interface {
	// Events gives events of one session in the order of their seq. The slice is
	// the caller's, who may change it, but not the Data of an event.
	Events(ctx context.Context, v Visibility, id SessionID, q EventQuery) ([]Event, error)
	// Log gives events of all sessions in the order of their pos: those after
	// the position, at most limit (see [PageSize]) of them, and the position to
	// go on from. Each event comes once, under the session that wrote it. There
	// is no more when next is after.
	Log(ctx context.Context, v Visibility, after uint64, limit int) (events []Event, next uint64, err error)
	// Head says which life of the store this is, and how far it has come.
	Head(ctx context.Context) (Head, error)
}

// Head is where the log of all sessions ends.
type Head struct {
	// Epoch names the present life of the store. It changes when the store is
	// restored from a backup: then a seq or pos that was read before may mean
	// another event.
	Epoch string
	// Pos is the highest position that an event was ever given.
	Pos uint64
}

// EventQuery chooses events of a session: the first Limit after After, or, if
// Last is set, the last Limit before Before (0: the end). Types narrows both.
// The result is in ascending order either way.
type EventQuery struct {
	After  uint64
	Last   bool
	Before uint64
	Types  []EventType
	Limit  int // see [PageSize]
}

// WorkReader reads what is to be done or was done: inputs, turns and what
// belongs to them.
type WorkReader interface {
	// Input gives one input. A redacted one has no content: no parts, sender,
	// reply-to and platform id. If its session is gone, it has no principal and
	// decision either; it is still compared with what comes again.
	Input(ctx context.Context, v Visibility, ref InputRef) (Input, error)
	// OpenInputs gives the queued and running inputs of a session, or of all
	// sessions if id is empty: by session, the one created first at the front,
	// and within a session as they were admitted. It starts behind after, which
	// may have been closed since; its zero value is the beginning.
	OpenInputs(ctx context.Context, v Visibility, id SessionID, after InputRef, limit int) ([]Input, error)
	// Turn gives one turn.
	Turn(ctx context.Context, v Visibility, id SessionID, turn TurnID) (Turn, error)
	// OpenTurns gives the turns that are not completed, of one session or of all
	// if id is empty: by session, the one created first at the front, and within
	// a session by turn id. Work under way bounds their number.
	OpenTurns(ctx context.Context, v Visibility, id SessionID) ([]Turn, error)
	// Calls gives the journal of an open turn, in the order the calls started.
	Calls(ctx context.Context, v Visibility, id SessionID, turn TurnID) ([]Call, error)
	// Approvals gives the approvals of a session, or all pending ones if id is
	// empty, in the order they were asked for.
	Approvals(ctx context.Context, v Visibility, id SessionID) ([]Approval, error)
	// Deliveries gives a part of the outbox, oldest first, the parts of one together
	// and in their order. It starts behind [DeliveryQuery].After, which may have been
	// settled since; one that is not there is [CodeNotFound].
	Deliveries(ctx context.Context, v Visibility, q DeliveryQuery) ([]Delivery, error)
	// Notices gives the notices of a session that nobody has consumed, oldest
	// first.
	Notices(ctx context.Context, v Visibility, id SessionID) ([]Notice, error)
}

// DeliveryQuery chooses deliveries. The zero value gives the open ones of all
// sessions.
type DeliveryQuery struct {
	ID      DeliveryID    // this one alone, whatever its state; then the other fields do not count
	Session SessionID     // empty: all
	State   DeliveryState // empty: the open ones
	// Chat chooses by the channel, account and chat of targets; zero: all.
	Chat Target
	// Draft chooses drafts, or what is none; nil: both.
	Draft *bool
	Due   time.Time  // only those whose next attempt is not later; zero: all
	After DeliveryID // empty: from the first
	Limit int        // see [PageSize]
}

// PeopleReader reads users and identities. Who may do that is decided above the
// store.
type PeopleReader interface {
	// User gives one user.
	User(ctx context.Context, id UserID) (User, error)
	// Users gives users by id, those after the given one.
	Users(ctx context.Context, after UserID, limit int) ([]User, error)
	// Identity gives one identity.
	Identity(ctx context.Context, id IdentityID) (Identity, error)
	// Identities gives the identities of a user, sorted.
	Identities(ctx context.Context, user UserID) ([]Identity, error)
	// AllIdentities gives identities by id, those after the given one, whosever
	// they are.
	AllIdentities(ctx context.Context, after IdentityID, limit int) ([]Identity, error)
}

// CredentialReader reads tokens, passcodes and the audit. Who may do that is decided
// above the store.
type CredentialReader interface {
	// TokenByHash gives the token with a hash, also one that is over.
	TokenByHash(ctx context.Context, hash [32]byte) (Token, error)
	// Tokens gives tokens by id, those after the given one, also those that are
	// over: of one identity, or of all if it is empty.
	Tokens(ctx context.Context, of IdentityID, after TokenID, limit int) ([]Token, error)
	// Passcode gives the passcode with a hash, unless it is over at the instant.
	Passcode(ctx context.Context, hash [32]byte, at time.Time) (Passcode, error)
	// Audit gives lines of the audit, the newest first.
	Audit(ctx context.Context, q AuditQuery) ([]AuditEntry, error)
}

// UsageReader reads what was consumed. Who may do that is decided above the
// store.
type UsageReader interface {
	// Spent adds up the usage of completed turns. A store takes it from each
	// session:turn_completed event, in the commit that appends the event: for the
	// day (UTC) of the event's time, the agent of its session and the event's
	// identity. It stays when the session is deleted; it was spent.
	Spent(ctx context.Context, q SpentQuery) (Usage, error)
}

// SpentQuery chooses whose usage is added up, and of which days. Fields that are
// not set choose all.
type SpentQuery struct {
	// User chooses the identities that belong to the user when the query is made.
	User     UserID
	Identity IdentityID
	Agent    string
	// From and Until choose days in UTC: that of From, and those after it up to
	// but without that of Until.
	From, Until time.Time
}
