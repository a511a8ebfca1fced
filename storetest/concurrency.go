package storetest

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/parley-run/parley"
)

// writers is how many goroutines write at once.
const writers = 64

var concurrencyTests = []test{
	{"many writers leave no gap", func(f *fixture) {
		w := newWriting(f, tenth(200))
		w.run(f)
		w.check(f)
		f.reopen()
		w.check(f)
	}},
	{"a reader of the log sees every event once, in order, while writers run", followWhileWritten},
	{"a reader of a list sees what stays, while writers run", listWhileWritten},
	{"readers see whole batches", seeWholeBatches},
	{"of many that expect the same one wins", func(f *fixture) {
		f.change(newSession(home))
		for round := range tenth(100) {
			won := race(f, 16, func(int) parley.Batch {
				return parley.Batch{
					Expect:   []parley.Expectation{parley.FenceIs{Session: home, Fence: parley.Fence(round)}},
					Sessions: []parley.SessionChange{{Session: home, Claim: true}},
				}
			})
			f.equal("winners", 1, len(won))
		}
		f.equal("fence", parley.Fence(tenth(100)), f.session(home).Fence)
	}},
	{"a blob is removed or referred to, never both", func(f *fixture) {
		for round := range tenth(100) {
			handle, id := parley.BlobHandle(fmt.Sprintf("blob_%d", round)), parley.SessionID(fmt.Sprintf("cli:%d", round))
			f.commit(parley.Batch{Blobs: register(handle), Sessions: []parley.SessionChange{newSession(id)}})
			won := race(f, 8, func(i int) parley.Batch {
				if i%2 == 0 {
					return parley.Batch{Blobs: []parley.BlobChange{{Handle: handle, Remove: true}}}
				}
				return parley.Batch{Sessions: []parley.SessionChange{appendTo(id, showing(fmt.Sprint("m", i), handle))}}
			})
			_, err := f.store.Blob(f.Context(), all, handle)
			removed, referred := 0, 0
			for _, i := range won {
				removed, referred = removed+(i+1)%2, referred+i%2
			}
			f.equal("messages that refer to it", referred, len(f.events(id)))
			if (removed > 0) == (referred > 0) || (err == nil) != (referred > 0) {
				f.Errorf("%d removed it, %d refer to it, and it is there: %v", removed, referred, err == nil)
			}
			if err == nil {
				f.checkUnused("in use", handle, time.Time{})
			}
		}
	}},
}

// race commits batches at once and gives the numbers of those that were applied.
// The others have to be refused, not to fail in any other way.
func race(f *fixture, count int, batch func(i int) parley.Batch) []int {
	f.Helper()
	errs := make([]error, count)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range count {
		b := batch(i)
		b.At = f.now.Add(time.Second)
		wg.Go(func() {
			<-start
			_, errs[i] = f.store.Commit(f.Context(), b)
		})
	}
	close(start)
	wg.Wait()
	var won []int
	for i, err := range errs {
		switch code := parley.CodeOf(err); {
		case err == nil:
			won = append(won, i)
		case code != parley.CodeConflict && code != parley.CodeNotFound && code != parley.CodeInvalid:
			f.Errorf("Commit: %s", shown(err))
		}
	}
	return won
}

// writing is many goroutines that write to a session of their own and to one
// they share, with the places their messages were given.
type writing struct {
	rounds int
	mu     sync.Mutex
	placed map[string]place // by message id
}

type place struct {
	session parley.SessionID
	seq     uint64
}

func own(writer int) parley.SessionID { return parley.SessionID(fmt.Sprintf("cli:own-%d", writer)) }

func newWriting(f *fixture, rounds int) *writing {
	f.Helper()
	changes := []parley.SessionChange{newSession(home)}
	for i := range writers {
		changes = append(changes, newSession(own(i)))
	}
	f.change(changes...)
	return &writing{rounds: rounds, placed: map[string]place{}}
}

// run writes until all rounds are done.
func (w *writing) run(f *fixture) {
	f.Helper()
	errs := make([]error, writers)
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			for round := range w.rounds {
				if errs[i] = w.write(f, i, round); errs[i] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		f.Fatalf("write: %v", err)
	}
}

// write commits one batch: by turns to the shared session, to the writer's own,
// and to both.
func (w *writing) write(f *fixture, writer, round int) error {
	name := func(n int) string { return fmt.Sprintf("%d-%d-%d", writer, round, n) }
	shared := appendTo(home, say(name(0), "x"), say(name(1), "y"))
	mine := appendTo(own(writer), say(name(2), "z"))
	b := parley.Batch{At: startOfTime.Add(time.Duration(round) * time.Second)}
	switch round % 3 {
	case 0:
		b.Sessions = []parley.SessionChange{shared}
	case 1:
		b.Sessions = []parley.SessionChange{mine}
	default:
		b.Sessions = []parley.SessionChange{mine, shared}
	}
	res, err := f.store.Commit(f.Context(), b)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, c := range b.Sessions {
		for j, d := range c.Events {
			w.placed[d.Body.(*parley.Message).ID] = place{c.Session, res.Sessions[i].FirstSeq + uint64(j)}
		}
	}
	return nil
}

// check makes sure that every message is where its writer was told, that no
// session has a gap, and that positions ascend in each session and in the log.
func (w *writing) check(f *fixture) {
	f.Helper()
	found := map[string]place{}
	total := 0
	for _, id := range append([]parley.SessionID{home}, owns()...) {
		last := uint64(0)
		events := f.events(id) // fails on a gap
		total += len(events)
		for _, e := range events {
			if e.Pos <= last {
				f.Fatalf("event %d of %s is at pos %d, behind %d", e.Seq, id, e.Pos, last)
			}
			last = e.Pos
			found[messageID(f, e)] = place{id, e.Seq}
		}
	}
	f.equal("places", w.placed, found)
	f.equal("events in the log", total, len(f.log())) // fails on a pos that does not ascend
}

func owns() []parley.SessionID {
	var ids []parley.SessionID
	for i := range writers {
		ids = append(ids, own(i))
	}
	return ids
}

func messageID(f *fixture, e parley.Event) string {
	f.Helper()
	body, err := e.Decode()
	m, ok := body.(*parley.Message)
	if err != nil || !ok {
		f.Fatalf("event %d of %s is no message: %v", e.Seq, e.Session, err)
	}
	return m.ID
}

// during runs read again and again while writers write, and once more when they
// are done.
func (w *writing) during(f *fixture, read func() error) {
	f.Helper()
	done := make(chan struct{})
	result := make(chan error, 1)
	go func() {
		for {
			select {
			case <-done:
				result <- read()
				return
			default:
				if err := read(); err != nil {
					result <- err
					<-done
					return
				}
			}
		}
	}()
	w.run(f)
	close(done)
	if err := <-result; err != nil {
		f.Fatalf("read: %v", err)
	}
}
