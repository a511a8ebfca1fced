package main

import (
	"context"
	"io"
	"sync/atomic"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/chat"
	"github.com/parley-run/parley/client"
	"github.com/parley-run/parley/engine"
)

var (
	_ screenHost = (*remoteBackend)(nil)
	_ screenHost = (*localBackend)(nil)
)

// remoteBackend is a daemon, for the program on the screen.
type remoteBackend struct {
	*client.Client // all but what follows

	host *remoteHost
	tell atomic.Pointer[func(lost error)]
}

// mostPause is how long the program waits before it looks for the daemon again: somebody
// sits there, and looking costs little.
const mostPause = 2 * time.Second

func (a *app) remoteBackend(d daemonInfo) (*remoteBackend, error) {
	r := &remoteBackend{}
	c, err := a.dialWith(d, client.Config{ReconnectFunc: r.reconnected, MaxPause: mostPause})
	if err != nil {
		return nil, err
	}
	r.Client, r.host = c, &remoteHost{c}
	return r, nil
}

func (r *remoteBackend) reconnected(lost error, _ int) {
	if tell := r.tell.Load(); tell != nil {
		(*tell)(lost)
	}
}

// Watch implements [chat.Backend].
func (r *remoteBackend) Watch(tell func(lost error)) { r.tell.Store(&tell) }

func (r *remoteBackend) accounts(ctx context.Context) ([]parley.IdentityID, error) {
	me, err := r.Me(ctx)
	ids := []parley.IdentityID{me.Identity}
	for _, i := range me.Identities {
		ids = append(ids, i.ID)
	}
	return ids, err
}

// Enter implements [entrance].
func (r *remoteBackend) Enter(ctx context.Context, agent string, anew bool) (parley.Session, error) {
	return r.host.Enter(ctx, agent, anew)
}

// Start implements [entrance].
func (r *remoteBackend) Start(ctx context.Context, id parley.SessionID, agent string) (parley.Session, error) {
	return r.host.Start(ctx, id, agent)
}

// Close implements [entrance].
func (r *remoteBackend) Close() error { return r.host.Close() }

// Messages implements [chat.Reader].
func (r *remoteBackend) Messages(ctx context.Context, id parley.SessionID, cursor string, limit int) (chat.Page, error) {
	page, err := r.Client.Messages(ctx, id, cursor, limit)
	out := chat.Page{Cursor: page.Cursor}
	for i := range page.Messages {
		out.Messages = append(out.Messages, chat.Logged(page.Messages[i]))
	}
	return out, err
}

// Approve implements [chat.Changer].
func (r *remoteBackend) Approve(ctx context.Context, id parley.SessionID, call parley.CallID, allow, always bool) error {
	remember := client.RememberOnce
	if always {
		remember = client.RememberSession
	}
	return r.Client.Approve(ctx, id, call, allow, remember)
}

// RewindTo implements [chat.Changer].
func (r *remoteBackend) RewindTo(ctx context.Context, id parley.SessionID, seq uint64) (string, error) {
	done, err := r.Client.RewindTo(ctx, id, seq)
	return done.Text, err
}

// localBackend is an engine of this process, for the program on the screen.
type localBackend struct {
	*engine.Handle // all but what follows

	host *localHost
}

func (a *app) localBackend(ctx context.Context, warnings io.Writer) (*localBackend, error) {
	// What runs is ended by Close, after the screen.
	h, err := a.localHost(context.WithoutCancel(ctx), ctx.Done(), warnings)
	if err != nil {
		return nil, err
	}
	return &localBackend{h.handle, h}, nil
}

func (l *localBackend) accounts(ctx context.Context) ([]parley.IdentityID, error) {
	me := l.host.caller.Principal()
	_, accounts, err := l.host.in.people.User(ctx, l.host.caller, me.User)
	ids := []parley.IdentityID{me.Identity}
	for _, i := range accounts {
		ids = append(ids, i.ID)
	}
	return ids, err
}

// Watch implements [chat.Backend]: there is no connection that could be lost.
func (*localBackend) Watch(func(lost error)) {}

// Enter implements [entrance].
func (l *localBackend) Enter(ctx context.Context, agent string, anew bool) (parley.Session, error) {
	return l.host.Enter(ctx, agent, anew)
}

// Start implements [entrance].
func (l *localBackend) Start(ctx context.Context, id parley.SessionID, agent string) (parley.Session, error) {
	return l.host.Start(ctx, id, agent)
}

// Close implements [entrance].
func (l *localBackend) Close() error { return l.host.Close() }

// Messages implements [chat.Reader].
func (l *localBackend) Messages(ctx context.Context, id parley.SessionID, cursor string, limit int) (chat.Page, error) {
	before, err := readBefore(cursor)
	if err != nil {
		return chat.Page{}, err
	}
	page, err := l.Handle.Messages(ctx, id, before, limit)
	out := chat.Page{Cursor: writeBefore(page.Before)}
	for i := range page.Messages {
		out.Messages = append(out.Messages, chat.Logged(page.Messages[i]))
	}
	return out, err
}

// Approve implements [chat.Changer].
func (l *localBackend) Approve(ctx context.Context, id parley.SessionID, call parley.CallID, allow, always bool) error {
	remember := engine.RememberOnce
	if always {
		remember = engine.RememberSession
	}
	return l.Handle.Approve(ctx, id, call, allow, remember)
}

// RewindTo implements [chat.Changer].
func (l *localBackend) RewindTo(ctx context.Context, id parley.SessionID, seq uint64) (string, error) {
	done, err := l.Handle.RewindTo(ctx, id, seq)
	return done.Text, err
}

// PutBlob implements [chat.Changer].
func (l *localBackend) PutBlob(ctx context.Context, content io.Reader) (parley.Media, error) {
	b, err := l.host.in.media.Put(ctx, content)
	return parley.Media{Handle: string(b.Handle), Type: b.Type, Size: b.Size}, err
}
