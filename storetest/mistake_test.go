package storetest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/parley-run/parley"
)

// liar is a store with one mistake.
type liar struct {
	*handle
	batch   func(*parley.Batch)   // done to what is committed
	result  func(*parley.Result)  // done to what that gives
	session func(*parley.Session) // done to what is read
	blind   bool                  // lists do not look at the visibility
	forgets bool                  // the last event of a page
	retypes bool                  // codes of refusals

	showsBlobs bool // whoever asks

	spent   func(*parley.SpentQuery) // done to what is asked
	audit   func(*parley.AuditQuery) // the same
	anyone  bool                     // lists of tokens are those of all
	codesAt time.Time                // codes are always read at that instant
}

func (l *liar) Spent(ctx context.Context, q parley.SpentQuery) (parley.Usage, error) {
	if l.spent != nil {
		l.spent(&q)
	}
	return l.handle.Spent(ctx, q)
}

func (l *liar) Audit(ctx context.Context, q parley.AuditQuery) ([]parley.AuditEntry, error) {
	if l.audit != nil {
		l.audit(&q)
	}
	return l.handle.Audit(ctx, q)
}

func (l *liar) Tokens(
	ctx context.Context, of parley.IdentityID, after parley.TokenID, limit int,
) ([]parley.Token, error) {
	if l.anyone {
		of = ""
	}
	return l.handle.Tokens(ctx, of, after, limit)
}

func (l *liar) Passcode(ctx context.Context, hash [32]byte, at time.Time) (parley.Passcode, error) {
	if !l.codesAt.IsZero() {
		at = l.codesAt
	}
	return l.handle.Passcode(ctx, hash, at)
}

func (l *liar) Blob(ctx context.Context, v parley.Visibility, blob parley.BlobHandle) (parley.Blob, error) {
	if l.showsBlobs {
		v = parley.SeeAll()
	}
	return l.handle.Blob(ctx, v, blob)
}

func (l *liar) Commit(ctx context.Context, b parley.Batch) (parley.Result, error) {
	if l.batch != nil {
		b = deepEnough(b)
		l.batch(&b)
	}
	res, err := l.handle.Commit(ctx, b)
	if l.result != nil {
		l.result(&res)
	}
	if l.retypes && parley.CodeOf(err) == parley.CodeNotFound {
		err = parley.Errorf(parley.CodeConflict, "something else")
	}
	return res, err
}

func (l *liar) Session(ctx context.Context, v parley.Visibility, id parley.SessionID) (parley.Session, error) {
	s, err := l.handle.Session(ctx, v, id)
	if l.session != nil {
		l.session(&s)
	}
	return s, err
}

func (l *liar) Deliveries(ctx context.Context, v parley.Visibility, q parley.DeliveryQuery) ([]parley.Delivery, error) {
	if l.blind && q.Session == "" {
		v = parley.SeeAll()
	}
	return l.handle.Deliveries(ctx, v, q)
}

func (l *liar) Events(
	ctx context.Context, v parley.Visibility, id parley.SessionID, q parley.EventQuery,
) ([]parley.Event, error) {
	events, err := l.handle.Events(ctx, v, id, q)
	if l.forgets && q.Last && len(events) > 1 {
		events = events[1:]
	}
	return events, err
}

// deepEnough copies what a mistake may change.
func deepEnough(b parley.Batch) parley.Batch {
	b = cloneBatch(b)
	b.Aliases = append([]parley.AliasChange(nil), b.Aliases...)
	b.Tokens = append([]parley.TokenChange(nil), b.Tokens...)
	return b
}

// everySession makes a mistake in each session change.
func everySession(mistake func(*parley.SessionChange)) func(*parley.Batch) {
	return func(b *parley.Batch) {
		for i := range b.Sessions {
			mistake(&b.Sessions[i])
		}
	}
}

// everyToken makes a mistake in each change of a token.
func everyToken(mistake func(*parley.TokenChange)) func(*parley.Batch) {
	return func(b *parley.Batch) {
		for i := range b.Tokens {
			mistake(&b.Tokens[i])
		}
	}
}

// TestMistakesAreFound makes sure that random sequences tell a store with a
// mistake from one without, and that what they report is short.
func TestMistakesAreFound(t *testing.T) {
	t.Parallel()
	for name, mistake := range map[string]liar{
		"redactions are ignored": {batch: everySession(func(c *parley.SessionChange) { c.Redact = nil })},
		"deletions are ignored":  {batch: everySession(func(c *parley.SessionChange) { c.Delete = false })},
		"claims are ignored":     {batch: everySession(func(c *parley.SessionChange) { c.Claim = false })},
		"notices are lost":       {batch: everySession(func(c *parley.SessionChange) { c.Notices = nil })},
		"forks are ordinary sessions": {batch: everySession(func(c *parley.SessionChange) {
			if c.Create != nil && c.Create.Fork != nil {
				plain := *c.Create
				plain.Fork = nil
				c.Create = &plain
			}
		})},
		"expectations are ignored": {batch: func(b *parley.Batch) { b.Expect = nil }},
		"blobs are not removed": {batch: func(b *parley.Batch) {
			b.Blobs = slices.DeleteFunc(slices.Clone(b.Blobs), func(c parley.BlobChange) bool { return c.Remove })
		}},
		"blobs are for everyone":     {showsBlobs: true},
		"all days are one":           {spent: func(q *parley.SpentQuery) { q.From, q.Until = time.Time{}, time.Time{} }},
		"all agents are one":         {spent: func(q *parley.SpentQuery) { q.Agent = "" }},
		"users share what they have": {spent: func(q *parley.SpentQuery) { q.User = "" }},
		"the audit is lost":          {batch: func(b *parley.Batch) { b.Audit = nil }},
		"the audit is of all":        {audit: func(q *parley.AuditQuery) { q.Actor = "" }},
		"tokens are of all":          {anyone: true},
		"revocations are ignored":    {batch: everyToken(func(c *parley.TokenChange) { c.Revoke = false })},
		"uses are ignored":           {batch: everyToken(func(c *parley.TokenChange) { c.Used = time.Time{} })},
		"tokens are not removed":     {batch: everyToken(func(c *parley.TokenChange) { c.Remove = false })},
		"codes are used for ever": {batch: func(b *parley.Batch) {
			b.Passcodes = slices.DeleteFunc(slices.Clone(b.Passcodes), func(c parley.PasscodeChange) bool { return c.New == nil })
		}},
		"codes never end":            {codesAt: startOfTime.AddDate(-1, 0, 0)},
		"scopes are lost":            {batch: func(b *parley.Batch) { b.Keys = nil }},
		"clashes are not reported":   {result: func(r *parley.Result) { r.Clashes = nil }},
		"the fence is not reported":  {result: func(r *parley.Result) { r.Sessions = nil }},
		"previews are empty":         {session: func(s *parley.Session) { s.Preview = "" }},
		"the queue is not counted":   {session: func(s *parley.Session) { s.Queued = 0 }},
		"the outbox is for everyone": {blind: true},
		"a page lacks an event":      {forgets: true},
		"a code is another":          {retypes: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			honest := newShelf().harness()
			h := Harness{Open: func(t testing.TB, dir string) parley.Store {
				l := mistake
				l.handle = honest.Open(t, dir).(*handle)
				return &l
			}}
			for seed := range uint64(20) {
				failed := runSequence(t, h, seed, newCoverage())
				if failed == nil {
					continue
				}
				if failed.shrunk == nil || len(failed.history) > 12 {
					t.Errorf("the report is not short:\n%v", failed)
				}
				return
			}
			t.Error("20 sequences did not find it")
		})
	}
}

// TestCheckIsAsked: what a store finds below its reads fails a sequence, whose report is short.
func TestCheckIsAsked(t *testing.T) {
	t.Parallel()
	h := newShelf().harness()
	h.Check = func(ctx context.Context, s parley.Store) error {
		page, err := s.Sessions(ctx, parley.SeeAll(), parley.SessionQuery{IncludeInactive: true})
		if err == nil && len(page.Sessions) > 0 {
			err = errors.New("a row belongs to nothing")
		}
		return err
	}
	for seed := range uint64(20) {
		if failed := runSequence(t, h, seed, newCoverage()); failed != nil {
			if failed.found.method != "Check" || failed.shrunk == nil || len(failed.history) != 1 {
				t.Errorf("the report is not about one commit:\n%v", failed)
			}
			return
		}
	}
	t.Error("20 sequences did not find it")
}
