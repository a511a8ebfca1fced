package engine

import (
	"context"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/command"
)

// recent is how many sessions /sessions shows.
const recent = 20

// person is who gave the command, without the channel: what somebody names is their
// own wish.
func (e *errand) person() *Handle {
	return &Handle{engine: e.by.engine, caller: e.by.caller.Person()}
}

// within is where sessions are looked for. In a group everybody reads the answer: so
// there it is among the group's own, whatever else the person may see. One without a
// key has no others, and is alone.
func (e *errand) within() (q parley.SessionQuery, alone bool) {
	q.IncludeInactive = true
	if e.at.Type != parley.SessionDirect {
		q.Key = e.at.Key
	}
	return q, e.at.Type != parley.SessionDirect && e.at.Key == ""
}

// recentSessions are the ones that /sessions numbers.
func (e *errand) recentSessions(ctx context.Context) (parley.SessionPage, error) {
	q, alone := e.within()
	if alone {
		return parley.SessionPage{Sessions: []parley.Session{shownSession(e.at.Session)}}, nil
	}
	q.Limit = recent
	return e.person().Sessions(ctx, q)
}

func (e *errand) sessions(ctx context.Context) (string, error) {
	if err := command.ParseNone(e.command.Name, e.command.Args); err != nil {
		return "", err
	}
	page, err := e.recentSessions(ctx)
	if err != nil {
		return "", err
	}
	return command.SessionsText(command.SessionsView{
		Sessions: page.Sessions, More: page.Cursor != "", Current: e.at.ID, Now: e.by.engine.cfg.Clock.Now(), Zone: e.by.engine.cfg.Zone,
	}), nil
}

// resume goes on in another session: where the command was given, if a key leads
// there. What somebody names is their own wish, and not that of their channel.
func (e *errand) resume(ctx context.Context) (string, error) {
	ref, err := command.ParseResume(e.command.Args)
	if err != nil {
		return "", err
	}
	id, err := e.find(ctx, ref)
	if err != nil {
		return "", err
	}
	if id == "" {
		return command.NoneBeforeText(), nil
	}
	if id == e.at.ID {
		return command.ResumedText(e.at.Session), nil
	}
	to, err := e.person().on(ctx, access.OpResume, id)
	if err != nil {
		return "", err
	}
	h := e.with(e.person(), func(b *parley.Batch) string { return command.ResumeText(to.Session, dropped(b)) })
	if e.at.Key == "" && e.at.Type == parley.SessionDirect || e.at.Key != "" && to.Key == e.at.Key {
		_, err = h.Resume(ctx, id)
		return command.ResumedText(to.Session), err
	}
	// The chat goes on in a session of another: who may not end the one that is there
	// may not do that, and what was said in private stays there.
	if _, err := e.by.on(ctx, access.OpReset, e.at.ID); err != nil {
		return "", err
	}
	if e.at.Type != parley.SessionDirect || to.Type != parley.SessionDirect {
		return "", parley.Errorf(parley.CodeForbidden, "conversations of groups and private ones are kept apart; go on in %s where it was", id)
	}
	_, err = h.resumeAt(ctx, id, e.at.Key)
	return command.ResumedText(to.Session), err
}

// find gives the session that somebody means; "" if there is none before.
func (e *errand) find(ctx context.Context, ref string) (parley.SessionID, error) {
	if ref == "" {
		return e.before(ctx)
	}
	if n, ok := command.Number(ref); ok {
		page, err := e.recentSessions(ctx)
		if err != nil {
			return "", err
		}
		if n > len(page.Sessions) {
			return "", parley.Errorf(parley.CodeNotFound, "there is no session %d in the list; see /sessions", n)
		}
		return page.Sessions[n-1].ID, nil
	}
	q, alone := e.within()
	if alone {
		return "", parley.Errorf(parley.CodeNotFound, "there is no session %q", ref)
	}
	return e.person().find(ctx, ref, q)
}

// before gives the session that was the key's current one before this.
func (e *errand) before(ctx context.Context) (parley.SessionID, error) {
	if e.at.Key == "" {
		return "", nil
	}
	page, err := e.person().Sessions(ctx, parley.SessionQuery{Key: e.at.Key, IncludeInactive: true, Limit: 2})
	if err != nil {
		return "", err
	}
	for _, s := range page.Sessions {
		if s.ID != e.at.ID {
			return s.ID, nil
		}
	}
	return "", nil
}
