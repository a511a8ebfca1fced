package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
)

// Remember says how long an approval holds.
type Remember string

// The ways to remember an approval.
const (
	RememberOnce    Remember = "once"
	RememberSession Remember = "session" // the tool is allowed in this session from then on
)

// Approve answers whether a call may run. An answer that comes too late is
// [parley.CodeConflict] and says what was decided.
func (h *Handle) Approve(ctx context.Context, id parley.SessionID, call parley.CallID, allow bool, remember Remember) error {
	all, err := h.engine.store.Approvals(ctx, parley.SeeAll(), id)
	if err != nil && !errors.Is(err, parley.ErrNotFound) {
		return err
	}
	var a parley.Approval
	for _, other := range all {
		if other.Call == call {
			a = other
		}
	}
	requester, err := h.engine.requester(ctx, id, a.Turn)
	if err != nil {
		return err
	}
	own := requester.Identity != "" && h.caller.Is(requester)
	found, err := h.on(ctx, access.OpApprove, id, func(t *access.Target) { t.Requester, t.Approval = own, a.State })
	if err != nil {
		return err
	}
	state := parley.ApprovalDenied
	if allow {
		state = parley.ApprovalApproved
	}
	err = h.engine.resolveApproval(ctx, a, state, h.caller.Principal().Identity, func(b *parley.Batch) {
		b.Audit = found.audit
		for i := range b.Audit {
			b.Audit[i].Subject, b.Audit[i].Detail = string(call), a.Tool+" "+string(state)
		}
		if allow && remember == RememberSession {
			b.Sessions[0].Patch.Metadata = remembered(found.Session, a.Tool, requester)
		}
	})
	if e, ok := errors.AsType[*parley.ExpectError](err); ok {
		return &parley.Error{Code: parley.CodeConflict, Message: "the question was settled before", Err: e}
	}
	if err == nil {
		h.engine.wake(id)
	}
	return err
}

// pending gives the questions of a turn that are open.
func (l *lane) pending(ctx context.Context, turn parley.TurnID) ([]parley.Approval, error) {
	all, err := l.store.Approvals(ctx, parley.SeeAll(), l.id)
	return slices.DeleteFunc(all, func(a parley.Approval) bool { return a.Turn != turn || a.State != parley.ApprovalPending }), err
}

// overdue answers what waited too long with its default, also what nobody can be
// asked, and gives the next deadline if something still waits.
func (l *lane) overdue(ctx context.Context, s parley.Session, turn parley.TurnID, now time.Time) (until time.Time, err error) {
	pending, err := l.pending(ctx, turn)
	if err != nil {
		return time.Time{}, err
	}
	for _, a := range pending {
		if s.Source.Interactive && now.Before(a.Deadline) {
			if until.IsZero() || a.Deadline.Before(until) {
				until = a.Deadline
			}
			continue
		}
		state := parley.ApprovalExpired
		if a.Default == parley.ApprovalApproved {
			state = parley.ApprovalApproved
		}
		if err := l.resolveApproval(ctx, a, state, ""); err != nil && !changedMeanwhile(err) {
			return time.Time{}, err
		}
	}
	return until, nil
}

// resolveApproval answers a question. Whoever is first wins.
func (e *Engine) resolveApproval(ctx context.Context, a parley.Approval, state parley.ApprovalState, by parley.IdentityID, more ...func(*parley.Batch)) error {
	change := parley.SessionChange{Session: a.Session}
	addResolved(&change, a, state, by)
	b := parley.Batch{
		At:       e.cfg.Clock.Now(),
		Expect:   []parley.Expectation{parley.ApprovalIs{Session: a.Session, Turn: a.Turn, Call: a.Call, State: parley.ApprovalPending}},
		Sessions: []parley.SessionChange{change},
	}
	for _, f := range more {
		f(&b)
	}
	_, err := e.store.Commit(ctx, b)
	return err
}

// addResolved adds the answer to a question to a change.
func addResolved(change *parley.SessionChange, a parley.Approval, state parley.ApprovalState, by parley.IdentityID) {
	change.Approvals = append(change.Approvals, parley.ApprovalChange{Turn: a.Turn, Call: a.Call, State: state, By: by})
	change.Events = append(change.Events, parley.NewEvent{Turn: a.Turn, Identity: by, Body: &parley.ApprovalResolved{Call: a.Call, State: state, By: by}})
}

const allowedPrefix = reservedPrefix + "allowed."

// remembered is the metadata which says that a tool may run for who asked, with the
// role they had: what somebody was allowed, nobody else is.
func remembered(s parley.Session, tool string, requester parley.Principal) map[string]string {
	names := strings.Fields(s.Metadata[allowedPrefix+tool])
	if name := allowedName(requester); !slices.Contains(names, name) {
		names = append(names, name)
	}
	return map[string]string{allowedPrefix + tool: strings.Join(names, " ")}
}

func allowedName(p parley.Principal) string { return string(p.Role) + ":" + string(speaker(p)) }

// allowedTools are the tools that may run for somebody, because a person has allowed
// that for the whole session.
func allowedTools(s parley.Session, p parley.Principal) map[string]bool {
	allowed := map[string]bool{}
	for name, value := range s.Metadata {
		if tool, ok := strings.CutPrefix(name, allowedPrefix); ok && slices.Contains(strings.Fields(value), allowedName(p)) {
			allowed[tool] = true
		}
	}
	return allowed
}
