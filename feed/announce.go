package feed

import (
	"context"
	"errors"
	"maps"
	"sync"

	"github.com/parley-run/parley"
)

// Announce gives a store whose commits wake those who follow the sessions they
// changed, before Commit returns. A duplicate changed nothing and wakes nobody.
//
// A commit whose outcome is unknown wakes as well, because its batch may be
// there; and once more after the next commit, because it may have got there
// only later.
func Announce(store parley.Store, wake parley.Wake) parley.Store {
	return &announcer{Store: store, wake: wake}
}

type announcer struct {
	parley.Store
	wake parley.Wake

	mu        sync.Mutex // guards what follows
	unsettled map[parley.SessionID]struct{}
}

// Commit implements [parley.Store].
func (a *announcer) Commit(ctx context.Context, b parley.Batch) (parley.Result, error) {
	watcher, watches := a.wake.(turnWatcher)
	// What was unsettled before this commit began is settled when it succeeds.
	earlier := a.take()
	res, err := a.Store.Commit(ctx, b)
	unknown := errors.Is(err, parley.ErrOutcomeUnknown)
	if err != nil {
		a.putBack(earlier)
	} else {
		for id := range earlier {
			if watches {
				watcher.forgetTurn(id) // nobody knows what that commit did, so the log has to tell
			}
			a.wake.Wake(id, 0)
		}
	}
	if err != nil && !unknown || res.Duplicate != nil {
		return res, err
	}
	changed := make(map[parley.SessionID]struct{}, len(b.Sessions))
	for i := range b.Sessions {
		switch {
		case !watches:
		case unknown, i >= len(res.Sessions):
			watcher.forgetTurn(b.Sessions[i].Session)
		default:
			watcher.committed(&b.Sessions[i], res.Sessions[i].LastSeq)
		}
		var pos uint64
		if i < len(res.Sessions) && res.Sessions[i].FirstSeq <= res.Sessions[i].LastSeq && !b.Sessions[i].Delete {
			pos = res.Pos
		}
		changed[b.Sessions[i].Session] = struct{}{}
		a.wake.Wake(b.Sessions[i].Session, pos)
	}
	if unknown {
		a.putBack(changed)
	}
	return res, err
}

func (a *announcer) take() map[parley.SessionID]struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	unsettled := a.unsettled
	a.unsettled = nil
	return unsettled
}

func (a *announcer) putBack(ids map[parley.SessionID]struct{}) {
	if len(ids) == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.unsettled == nil {
		a.unsettled = map[parley.SessionID]struct{}{}
	}
	maps.Copy(a.unsettled, ids)
}
