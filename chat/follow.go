package chat

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/parley-run/parley"
)

// frame is how long what comes from a stream is gathered: nobody sees more frames.
const frame = 16 * time.Millisecond

// pageSize is how many messages are read at a time.
const pageSize = 60

// following is a session that is read, and then followed.
type following struct {
	id     parley.SessionID
	clock  parley.Clock
	ctx    context.Context //nolint:containedctx // how long it is followed
	stop   context.CancelFunc
	stream chan streamed
	over   chan struct{} // closed when nothing more comes
	last   time.Time     // when the last batch was given
}

// streamed is one thing that a stream brought.
type streamed struct {
	update parley.Update
	link   *linkChange
	err    error  // it is over
	panic  string // with the stack of where it was
}

// linkChange says that the connection was lost, or is back.
type linkChange struct{ lost error }

// What a following tells the model. Those of one that was given up are left alone.
type (
	loadedMsg struct {
		from      *following
		session   parley.Session
		page      Page
		approvals []parley.Approval
		waiting   []parley.Input
		people    []parley.Identity
		err       error
	}
	streamMsg struct {
		from  *following
		batch []streamed
		over  bool
	}
)

// load reads a session as it is.
func (f *following) load(ctx context.Context, b Backend) loadedMsg {
	msg := loadedMsg{from: f}
	if msg.session, msg.err = b.Session(ctx, f.id); msg.err != nil {
		return msg
	}
	// After the session: what is newer than it comes as an event again.
	if msg.page, msg.err = b.Messages(ctx, f.id, "", pageSize); msg.err != nil {
		return msg
	}
	if msg.people, msg.err = b.Participants(ctx, f.id); msg.err != nil {
		return msg
	}
	if msg.session.Queued > 0 {
		if msg.waiting, msg.err = b.Waiting(ctx, f.id); msg.err != nil {
			return msg
		}
	}
	if msg.session.Status == parley.StatusAwaitingApproval {
		msg.approvals, msg.err = b.Approvals(ctx)
	}
	return msg
}

// run brings what happens in the session after a seq, until ctx ends.
func (f *following) run(ctx context.Context, b Backend, after uint64) {
	defer close(f.over)
	defer func() {
		// The terminal is restored where the program is drawn, so that is where it ends.
		if r := recover(); r != nil {
			f.push(ctx, streamed{panic: fmt.Sprintf("%v\n\n%s", r, debug.Stack())})
		}
	}()
	b.Watch(func(lost error) { f.push(ctx, streamed{link: &linkChange{lost}}) })
	for u, err := range b.Events(ctx, f.id, parley.Position{Seq: after}) {
		if !f.push(ctx, streamed{update: u, err: err}) || err != nil {
			return
		}
	}
}

// push hands something on. The backend may still tell of its connection when the following
// is over; that is left alone.
func (f *following) push(ctx context.Context, s streamed) bool {
	select {
	case f.stream <- s:
		return true
	case <-f.over:
		return false
	case <-ctx.Done():
		return false
	}
}

// mostGathered bounds what one message holds.
const mostGathered = 4096

// next waits for what comes, and gives it together with what comes until the next frame
// is due.
func (f *following) next(ctx context.Context) tea.Msg {
	msg := streamMsg{from: f}
	take := func(s streamed) (more bool) {
		msg.batch = append(msg.batch, s)
		return len(msg.batch) < mostGathered
	}
	// rest takes what is left when nothing more comes.
	rest := func() {
		for more := true; more; {
			select {
			case s := <-f.stream:
				more = take(s)
			default:
				msg.over, more = true, false
			}
		}
	}
	select {
	case s := <-f.stream:
		if !take(s) {
			return msg
		}
	case <-f.over:
		rest()
		return msg
	case <-ctx.Done():
		return nil
	}
	due := make(chan struct{})
	stop := f.clock.AfterFunc(max(f.last.Add(frame).Sub(f.clock.Now()), 0), func() { close(due) })
	defer stop()
	for {
		select {
		case s := <-f.stream:
			if take(s) {
				continue
			}
		case <-f.over:
			rest()
		case <-due:
		case <-ctx.Done():
			return nil
		}
		f.last = f.clock.Now()
		return msg
	}
}
