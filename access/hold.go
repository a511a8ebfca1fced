package access

import (
	"context"
	"crypto/sha256"
	"slices"
	"sync"

	"github.com/parley-run/parley"
)

// holds are the streams that are open, each under a credential.
type holds struct {
	mu   sync.Mutex
	open map[*hold]struct{}
}

type hold struct {
	token parley.TokenID
	user  parley.UserID
	end   context.CancelCauseFunc
}

// Hold gives a context for work that outlasts a request, such as a stream of events.
// It ends when the token is revoked or over, and when the role or the accounts of its
// user change: who reads on has to authenticate again. Its cause then is
// [parley.CodeUnauthorized]. The function lets go of it, and has to be called.
//
// A credential that is not from [People.Authenticate], such as that of an embedding
// program, ends with what is changed from now on, and not by itself.
func (p *People) Hold(ctx context.Context, cred Credential) (held context.Context, release func()) {
	held, end := context.WithCancelCause(ctx)
	h := &hold{token: cred.Token, user: cred.Caller.principal.User, end: end}
	p.holds.mu.Lock()
	if p.holds.open == nil {
		p.holds.open = map[*hold]struct{}{}
	}
	p.holds.open[h] = struct{}{}
	p.holds.mu.Unlock()
	stop := p.stillGood(held, cred, end)
	return held, func() {
		stop()
		p.holds.mu.Lock()
		delete(p.holds.open, h)
		p.holds.mu.Unlock()
		end(context.Canceled)
	}
}

// stillGood ends the work if the credential changed between its check and being held,
// and has it end when the token is over.
func (p *People) stillGood(ctx context.Context, cred Credential, end context.CancelCauseFunc) (stop func() bool) {
	stop = func() bool { return false }
	if cred.hash == [sha256.Size]byte{} {
		return stop
	}
	t, err := p.store.TokenByHash(ctx, cred.hash)
	if err == nil && !t.Valid(p.clock.Now()) {
		err = changed()
	}
	if err == nil && t.Kind != parley.TokenChannel {
		var who person
		who, err = p.person(ctx, cred.Caller.principal.Identity)
		if err == nil && !cred.Caller.equals(&who) {
			err = changed()
		}
	}
	if err != nil {
		end(err)
		return stop
	}
	if !t.ExpiresAt.IsZero() {
		stop = p.clock.AfterFunc(t.ExpiresAt.Sub(p.clock.Now()), func() { end(changed()) })
	}
	return stop
}

// equals reports whether the caller is this person, with the same rights.
func (c Caller) equals(w *person) bool {
	now := NewCaller(w.principal(""), w.ids()...)
	return c.principal.User == w.user.ID && c.principal.Role == w.user.Role && slices.Equal(c.identities, now.identities)
}

// end ends the streams of users and tokens.
func (h *holds) end(users []parley.UserID, tokens []parley.TokenID) {
	if len(users)+len(tokens) == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for held := range h.open {
		if held.token != "" && slices.Contains(tokens, held.token) || held.user != "" && slices.Contains(users, held.user) {
			held.end(changed())
		}
	}
}

func changed() error {
	return parley.Errorf(parley.CodeUnauthorized, "the credential ended, or its rights changed; sign in again")
}
