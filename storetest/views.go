package storetest

import (
	"context"
	"errors"
	"fmt"

	"github.com/parley-run/parley"
)

var viewTests = []test{
	{"what is read in a view is of one moment", viewWhileWritten},
	{"a view gives the error of its function", func(f *fixture) {
		own := errors.New("enough")
		err := f.store.View(f.Context(), func(context.Context) error { return own })
		f.equal("the error", true, errors.Is(err, own))
		err = f.store.View(f.Context(), func(ctx context.Context) error {
			_, err := f.store.Session(ctx, all, nobody)
			return err
		})
		f.code("a read that finds nothing", parley.CodeNotFound, err)
	}},
	{"a view goes on after a read that fails", func(f *fixture) {
		f.change(newSession(home, say("m", "x")))
		f.code("View", "", f.store.View(f.Context(), func(ctx context.Context) error {
			_, err := f.store.Session(ctx, all, nobody)
			f.code("a session that is not there", parley.CodeNotFound, err)
			_, err = f.store.Sessions(ctx, all, parley.SessionQuery{Cursor: "?"})
			f.code("a cursor that is none", parley.CodeInvalid, err)
			_, err = f.store.Session(ctx, all, home)
			return err
		}))
	}},
	{"a view inside of another is part of it", func(f *fixture) {
		f.change(newSession(home, say("m", "x")))
		f.code("View", "", f.store.View(f.Context(), func(ctx context.Context) error {
			if err := f.store.View(ctx, func(ctx context.Context) error {
				_, err := f.store.Session(ctx, all, home)
				return err
			}); err != nil {
				return err
			}
			_, err := f.store.Events(ctx, all, home, parley.EventQuery{})
			return err
		}))
	}},
	{"a context that has ended ends a view", func(f *fixture) {
		f.change(newSession(home, say("m", "x")))
		ctx, cancel := context.WithCancel(f.Context())
		err := f.store.View(ctx, func(ctx context.Context) error {
			cancel()
			_, err := f.store.Session(ctx, all, home)
			return err
		})
		f.code("a read after the end", parley.CodeUnavailable, err)
		called := false
		err = f.store.View(ctx, func(context.Context) error { called = true; return nil })
		f.code("a view after the end", parley.CodeUnavailable, err)
		f.equal("called after the end", false, called)
		_, err = f.store.Session(f.Context(), all, home)
		f.code("a read after that", "", err)
	}},
}

// viewWhileWritten reads a session and its log while both are written: they agree.
func viewWhileWritten(f *fixture) {
	newWriting(f, tenth(50)).during(f, func() error {
		return f.store.View(f.Context(), func(ctx context.Context) error {
			s, err := f.store.Session(ctx, all, home)
			if err != nil {
				return err
			}
			events, err := f.store.Events(ctx, all, home, parley.EventQuery{Last: true, Limit: 1})
			if err != nil {
				return err
			}
			if n := len(events); n > 0 && events[0].Seq != s.LastSeq || n == 0 && s.LastSeq != 0 {
				return fmt.Errorf("the last event is %+v, and the session's is %d", events, s.LastSeq)
			}
			return nil
		})
	})
}
