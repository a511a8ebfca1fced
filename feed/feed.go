package feed

import (
	"context"
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/parley-run/parley"
)

// Reader is what a feed needs of a [parley.Store].
type Reader interface {
	parley.LogReader
	// Participants gives the identities that take part in a session.
	Participants(ctx context.Context, v parley.Visibility, id parley.SessionID) ([]parley.IdentityID, error)
}

// Config says how far a reader may fall behind. The zero value is the default.
type Config struct {
	// Events and Bytes are how much of what was stored lately is kept for
	// readers that have not taken it yet, for each session that is followed
	// and for each view of all sessions. 0: 1,024 events, 4 MiB.
	Events int
	Bytes  int
	// Deltas is how many deltas of a reply may wait for a reader before it
	// gets a snapshot instead, and how many may wait for the store to be read.
	// 0: 64.
	Deltas int
}

const (
	defaultEvents = 1_024
	defaultBytes  = 4 << 20
	defaultDeltas = 64
)

// Feed is a [parley.Feed] over a store. See the package comment for what it
// promises.
type Feed struct {
	store Reader
	cfg   Config
	alls  atomic.Pointer[[]*allTopic]

	mu       sync.Mutex // guards what follows; taken before a topic's
	sessions map[parley.SessionID]*sessionTopic
	views    map[string]*allTopic
	inTurn   map[parley.SessionID]struct{} // sessions in a turn that an announced commit began

	life    sync.Mutex // guards what follows; taken last
	closed  bool
	pumps   map[uint64]context.CancelFunc
	started uint64
	running sync.WaitGroup
}

var (
	_ parley.Feed = (*Feed)(nil)
	_ turnWatcher = (*Feed)(nil)
)

// New makes a feed over a store whose commits wake it; see [Announce].
func New(store Reader, cfg Config) *Feed {
	for field, value := range map[*int]int{&cfg.Events: defaultEvents, &cfg.Bytes: defaultBytes, &cfg.Deltas: defaultDeltas} {
		if *field <= 0 {
			*field = value
		}
	}
	f := &Feed{
		store: store, cfg: cfg,
		sessions: map[parley.SessionID]*sessionTopic{},
		views:    map[string]*allTopic{},
		inTurn:   map[parley.SessionID]struct{}{},
		pumps:    map[uint64]context.CancelFunc{},
	}
	f.alls.Store(&[]*allTopic{})
	return f
}

// Close ends all subscriptions with [parley.CodeUnavailable] and waits for the
// goroutines of the feed. It does not close the store. It may be called twice.
func (f *Feed) Close() {
	f.life.Lock()
	f.closed = true
	for _, cancel := range f.pumps {
		cancel()
	}
	f.life.Unlock()
	f.mu.Lock()
	for _, t := range f.sessions {
		t.fail(errClosed())
	}
	for _, a := range f.views {
		a.fail(errClosed())
	}
	f.mu.Unlock()
	f.running.Wait()
}

// Subscribe implements [parley.Feed]. Each loop over the result is a
// subscription of its own.
func (f *Feed) Subscribe(ctx context.Context, v parley.Visibility, id parley.SessionID, from parley.Position) iter.Seq2[parley.Update, error] {
	v.Identities = slices.Clone(v.Identities)
	return func(yield func(parley.Update, error) bool) {
		var err error
		if id == "" {
			err = f.followAll(ctx, v, from, yield)
		} else {
			err = f.followSession(ctx, v, id, from, yield)
		}
		if err != nil && ctx.Err() == nil {
			yield(parley.Update{}, err)
		}
	}
}

// Wake implements [parley.Wake]. It does not wait for anything.
func (f *Feed) Wake(id parley.SessionID, pos uint64) {
	f.mu.Lock()
	t, mayPutOff := f.sessions[id], f.mayPutOff(id)
	f.mu.Unlock()
	if t != nil {
		t.wake(mayPutOff)
	}
	// The session comes first: while it is unread none of its deltas get to
	// the views of all sessions.
	for _, a := range *f.alls.Load() {
		a.wake(id, pos == 0)
	}
}

// Publish implements [parley.Feed]. It does not wait for anything.
func (f *Feed) Publish(d parley.Delta) {
	if d.Session == "" || d.Stream == "" || d.N < 1 || f.isClosed() {
		return
	}
	f.mu.Lock()
	t := f.sessions[d.Session]
	if t == nil {
		if d.N != 1 {
			f.mu.Unlock()
			return // without its beginning it cannot be shown
		}
		t = newSessionTopic(f, d.Session)
		t.startAt(d.After)
		f.sessions[d.Session] = t
	}
	mayPutOff := f.mayPutOff(d.Session)
	t.mu.Lock()
	f.mu.Unlock()
	t.publish(d, mayPutOff)
	idle := t.idle()
	t.unlock()
	if idle {
		f.drop(t)
	}
}

// session gives the topic of a session, with one subscription more.
func (f *Feed) session(id parley.SessionID) (*sessionTopic, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.isClosed() {
		return nil, errClosed()
	}
	t := f.sessions[id]
	if t == nil || t.over() {
		t = newSessionTopic(f, id)
		f.sessions[id] = t
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.subs++
	if (t.people == nil || t.putOff) && t.mark() {
		f.spawn(t.pump)
	}
	return t, nil
}

// release takes a subscription away.
func (f *Feed) release(t *sessionTopic, r *reader) {
	t.mu.Lock()
	t.subs--
	if t.leave(r) {
		t.window.clear()
	}
	idle := t.idle()
	t.mu.Unlock()
	if idle {
		f.drop(t)
	}
}

// drop forgets a topic that nobody needs, or that is over.
func (f *Feed) drop(t *sessionTopic) {
	f.mu.Lock()
	defer f.mu.Unlock()
	t.mu.RLock()
	defer t.mu.RUnlock()
	if f.sessions[t.id] == t && (t.idle() || t.err != nil) {
		delete(f.sessions, t.id)
	}
}

// view gives the topic of all sessions that v sees, with one subscription more.
func (f *Feed) view(v parley.Visibility) (*allTopic, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.isClosed() {
		return nil, errClosed()
	}
	key := viewKey(v)
	a := f.views[key]
	if a == nil || a.over() {
		a = newAllTopic(f, v, key)
		f.views[key] = a
		f.listViews()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.subs++
	return a, nil
}

func (f *Feed) releaseView(a *allTopic, r *reader) {
	a.mu.Lock()
	a.subs--
	if a.leave(r) {
		a.forget()
	}
	idle := a.idle()
	a.mu.Unlock()
	if idle {
		f.dropView(a)
	}
}

func (f *Feed) dropView(a *allTopic) {
	f.mu.Lock()
	defer f.mu.Unlock()
	a.mu.RLock()
	defer a.mu.RUnlock()
	if f.views[a.key] == a && (a.idle() || a.err != nil) {
		delete(f.views, a.key)
		f.listViews()
	}
}

// listViews makes the list that wake-ups and deltas go through.
func (f *Feed) listViews() {
	list := make([]*allTopic, 0, len(f.views))
	for _, a := range f.views {
		list = append(list, a)
	}
	f.alls.Store(&list)
}

func (f *Feed) isClosed() bool {
	f.life.Lock()
	defer f.life.Unlock()
	return f.closed
}

// spawn runs a pump, which Close cancels and waits for. After Close it does
// nothing: the topics are over.
func (f *Feed) spawn(pump func(ctx context.Context)) {
	f.life.Lock()
	defer f.life.Unlock()
	if f.closed {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	f.started++
	nr := f.started
	f.pumps[nr] = cancel
	f.running.Go(func() {
		pump(ctx)
		cancel()
		f.life.Lock()
		defer f.life.Unlock()
		delete(f.pumps, nr)
	})
}

func errClosed() error {
	return &parley.Error{Code: parley.CodeUnavailable, Op: "subscribe", Message: "the feed is closed; subscribe again when the program is back"}
}

func errNotFound(id parley.SessionID) error {
	return &parley.Error{Code: parley.CodeNotFound, Op: "subscribe", Message: "there is no session " + string(id)}
}
