package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/parley-run/parley"
)

// queueLimit is how many inputs may wait in a session, as the daemon has it by
// default.
const queueLimit = 32

// inbox is a session that inputs are admitted to. One goroutine at a time.
type inbox struct {
	conversation
	base     time.Time
	made     int // admissions handed out
	admitted int // admissions acknowledged
	settled  int // of these, done
}

// openInbox starts a session for an inbox of this name, with key, alias and
// participant like any other.
func openInbox(ctx context.Context, store parley.Store, name string, base time.Time) (*inbox, error) {
	c := newInbox(name, base)
	b := parley.Batch{At: base, Expect: []parley.Expectation{parley.KeyIs{Key: c.key}}}
	c.add(&b, 0)
	if _, err := store.Commit(ctx, b); err != nil {
		return nil, fmt.Errorf("open inbox %s: %w", name, err)
	}
	return c, nil
}

// newInbox makes an inbox of this name that is not stored.
func newInbox(name string, base time.Time) *inbox {
	return &inbox{base: base, conversation: conversation{
		id: parley.SessionID("telegram:" + name), key: parley.Key("sk_v1_bench_" + name), kind: parley.SessionDirect, at: base,
		people:  []parley.IdentityID{parley.IdentityID("telegram:" + name)},
		aliases: [2]parley.Alias{parley.Alias("bench:" + name), parley.Alias("bench:default:" + name)},
		scope:   parley.Scope{Version: 1, Agent: "main", Channel: "telegram", Account: "default"},
	}}
}

// input makes the n-th message to it: some 450 bytes of text.
func (c *inbox) input(n int) parley.Input {
	id := strconv.Itoa(n)
	return parley.Input{
		Ref:       c.ref(n),
		Kind:      parley.InputMessage,
		Parts:     []parley.Part{parley.TextPart(text(uint32(n), 450))},
		Sender:    parley.Sender{ID: string(c.people[0])[len("telegram:"):], Name: "Ada Example"},
		MessageID: id,
		Principal: parley.Principal{Identity: c.people[0], User: "ada", Role: parley.RoleUser, Via: "channel"},
		State:     parley.InputQueued,
		Decision:  "waits for its turn",
	}
}

func (c *inbox) ref(n int) parley.InputRef {
	return parley.InputRef{Origin: "telegram/default/" + string(c.id), ID: strconv.Itoa(n)}
}

// admissions makes the next n admissions of messages that come while a turn
// runs, as the engine commits them: one commit each, which expects that the
// session is still its key's current one and that its queue has room.
func (c *inbox) admissions(n int) []parley.Batch {
	batches := make([]parley.Batch, n)
	for i := range batches {
		c.made++
		batches[i] = parley.Batch{
			At: c.base.Add(time.Duration(c.made) * time.Millisecond),
			Expect: []parley.Expectation{
				parley.KeyIs{Key: c.key, Session: c.id},
				parley.QueuedAtMost{Session: c.id, Max: queueLimit - 1},
			},
			Sessions: []parley.SessionChange{{Session: c.id, Admit: []parley.Input{c.input(c.made)}}},
		}
	}
	return batches
}

// admit commits an admission.
func (c *inbox) admit(ctx context.Context, store parley.Store, b parley.Batch) error {
	res, err := store.Commit(ctx, b)
	if err != nil {
		return err
	}
	if res.Duplicate != nil {
		return parley.Errorf(parley.CodeInternal, "a message that was sent once was taken for a repeat")
	}
	c.admitted++
	return nil
}

// settle marks what waits in the inboxes as done, and forgets admissions that
// were made and not committed because their time was over.
func settle(ctx context.Context, store parley.Store, inboxes ...*inbox) error {
	var b parley.Batch
	for _, c := range inboxes {
		change := parley.SessionChange{Session: c.id}
		for n := c.settled + 1; n <= c.admitted; n++ {
			change.Inputs = append(change.Inputs, parley.InputChange{Ref: c.ref(n), State: parley.InputDone})
		}
		c.settled, c.made = c.admitted, c.admitted
		b.At = c.base.Add(time.Duration(c.made) * time.Millisecond)
		if len(change.Inputs) > 0 {
			b.Sessions = append(b.Sessions, change)
		}
	}
	if len(b.Sessions) == 0 {
		return nil
	}
	if _, err := store.Commit(ctx, b); err != nil {
		return fmt.Errorf("mark inputs as done: %w", err)
	}
	return nil
}

// recordBytes is how much content an admission makes the store keep: the body
// of its event, and who sent it.
func (c *inbox) recordBytes() (int, error) {
	in := c.input(1)
	body, err := parley.EncodeBody(in.Admitted())
	if err != nil {
		return 0, err
	}
	principal, err := json.Marshal(in.Principal)
	if err != nil {
		return 0, err
	}
	return len(body) + len(principal), nil
}

// openDeep starts an inbox and gives it a log with n messages.
func openDeep(ctx context.Context, store parley.Store, name string, base time.Time, n int, progress func(done, total int64)) (*inbox, error) {
	c, err := openInbox(ctx, store, name, base)
	if err != nil {
		return nil, err
	}
	const perBatch = 2_000
	for from := 1; from < n; from += perBatch { // it begins with one
		change := parley.SessionChange{Session: c.id}
		for i := from; i < min(from+perBatch, n); i++ {
			role := parley.MessageUser
			if i%2 == 1 {
				role = parley.MessageAssistant
			}
			change.Events = append(change.Events, parley.NewEvent{Body: &parley.Message{
				ID: "m" + strconv.Itoa(i+1), Role: role, Parts: []parley.Part{parley.TextPart(text(uint32(i), 300))},
			}})
		}
		if _, err := store.Commit(ctx, parley.Batch{At: base, Sessions: []parley.SessionChange{change}}); err != nil {
			return nil, fmt.Errorf("write a long log: %w", err)
		}
		progress(int64(from), int64(n))
	}
	return c, nil
}
