package main

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"log/slog"
	"os"
	"strconv"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/client"
	"github.com/parley-run/parley/engine"
)

// desk is where the commands do their work, as the owner. The daemon of the data
// folder is one, through its client, and so is the store itself while none runs.
type desk interface {
	sessionReader
	sessionChanger
	userKeeper
	linkKeeper
	tokenKeeper
	outboxKeeper
}

type sessionReader interface {
	Session(ctx context.Context, id parley.SessionID) (parley.Session, error)
	Sessions(ctx context.Context, q parley.SessionQuery) (parley.SessionPage, error)
	Messages(ctx context.Context, id parley.SessionID, cursor string, limit int) (client.MessagePage, error)
	Log(ctx context.Context, id parley.SessionID, after uint64, limit int) ([]parley.Event, error)
	Events(ctx context.Context, id parley.SessionID, from parley.Position) iter.Seq2[parley.Update, error]
	Participants(ctx context.Context, id parley.SessionID) ([]parley.Identity, error)
	Turns(ctx context.Context) ([]client.OpenTurn, error)
}

type sessionChanger interface {
	Patch(ctx context.Context, id parley.SessionID, changes client.Changes) (parley.Session, error)
	Fork(ctx context.Context, id parley.SessionID, at uint64) (parley.Session, error)
	Rewind(ctx context.Context, id parley.SessionID, turns int) (client.Rewound, error)
	RewindTo(ctx context.Context, id parley.SessionID, seq uint64) (client.Rewound, error)
	Redact(ctx context.Context, id parley.SessionID, seqs []uint64, reason string) error
	Reset(ctx context.Context, id parley.SessionID, how client.Anew) (parley.Session, error)
	Delete(ctx context.Context, id parley.SessionID, purge bool) error
}

type userKeeper interface {
	Users(ctx context.Context, cursor string, limit int) (client.UserPage, error)
	Identities(ctx context.Context, cursor string, limit int) (client.IdentityPage, error)
	AddUser(ctx context.Context, n client.NewUser) (parley.User, []parley.Identity, error)
	RenameUser(ctx context.Context, id parley.UserID, name string) (parley.User, error)
	SetRole(ctx context.Context, id parley.UserID, role parley.Role) (parley.User, error)
	RemoveUser(ctx context.Context, id parley.UserID) error
}

type linkKeeper interface {
	LinkCode(ctx context.Context, sender *client.Sender) (string, error)
	Link(ctx context.Context, code string, sender *client.Sender) (parley.User, error)
	Unlink(ctx context.Context, id parley.IdentityID) error
	Pair(ctx context.Context, code string, role parley.Role, name string) (parley.User, error)
}

type tokenKeeper interface {
	Tokens(ctx context.Context, cursor string, limit int) (client.TokenPage, error)
	CreateToken(ctx context.Context, n client.NewToken) (secret string, t parley.Token, err error)
	RevokeToken(ctx context.Context, id parley.TokenID) error
	Audit(ctx context.Context, q parley.AuditQuery, cursor string) (client.AuditPage, error)
}

var (
	_ desk = (*client.Client)(nil)
	_ desk = (*localDesk)(nil)
)

// withDesk does something at the desk: with the daemon if one runs, else on the store.
func (a *app) withDesk(ctx context.Context, do func(d desk) error) (err error) {
	running, err := a.daemon()
	if err != nil {
		return err
	}
	if running != nil {
		c, err := a.dial(*running)
		if err != nil {
			return err
		}
		defer c.Close()
		return do(c)
	}
	local, err := a.openDesk(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, local.in.close()) }()
	return do(local)
}

// localDesk is the store itself. No turn runs meanwhile.
type localDesk struct {
	*engine.Handle

	in *installation
	by access.Caller
}

// openDesk opens the store, which must be there.
func (a *app) openDesk(ctx context.Context) (*localDesk, error) {
	if err := a.mustHaveStore(ctx); err != nil {
		return nil, err
	}
	log := slog.New(slog.NewTextHandler(a.err, &slog.HandlerOptions{Level: slog.LevelWarn, ReplaceAttr: withoutTime}))
	in, err := a.install(ctx, installOptions{Log: log, Idle: true})
	if err != nil {
		return nil, err
	}
	by, err := in.people.Local(ctx)
	if err != nil {
		return nil, errors.Join(err, in.close())
	}
	return &localDesk{Handle: in.engine.As(by), in: in, by: by}, nil
}

// mustHaveStore says what to do where there is no store yet.
func (a *app) mustHaveStore(ctx context.Context) error {
	_, err := a.storePath()
	err = a.orRemains(ctx, err)
	if !errors.Is(err, parley.ErrNotFound) {
		return err
	}
	dir, dirErr := a.dataDir()
	if dirErr != nil {
		return dirErr
	}
	if _, statErr := os.Stat(dir); errors.Is(statErr, fs.ErrNotExist) {
		return parley.Errorf(parley.CodeNotFound, "there is no folder %s; 'parley serve' or 'parley chat' makes it, or name another with --data or PARLEY_DATA", dir)
	}
	return parley.Errorf(parley.CodeNotFound, "there is no store in %s; 'parley serve' or 'parley chat' makes it, or name another folder with --data or PARLEY_DATA", dir)
}

// Messages implements [sessionReader].
func (d *localDesk) Messages(ctx context.Context, id parley.SessionID, cursor string, limit int) (client.MessagePage, error) {
	before, err := readBefore(cursor)
	if err != nil {
		return client.MessagePage{}, err
	}
	page, err := d.Handle.Messages(ctx, id, before, limit)
	out := client.MessagePage{Cursor: writeBefore(page.Before)}
	for _, m := range page.Messages {
		out.Messages = append(out.Messages, client.LoggedMessage(m))
	}
	return out, err
}

// The cursors of lists that are read backwards are numbers here.
func readBefore(cursor string) (uint64, error) {
	if cursor == "" {
		return 0, nil
	}
	before, err := strconv.ParseUint(cursor, 10, 64)
	if err != nil {
		return 0, parley.Errorf(parley.CodeInvalid, "the cursor is none of this list")
	}
	return before, nil
}

func writeBefore(before uint64) string {
	if before == 0 {
		return ""
	}
	return strconv.FormatUint(before, 10)
}

// Turns implements [sessionReader].
func (d *localDesk) Turns(ctx context.Context) ([]client.OpenTurn, error) {
	list, err := d.Handle.Turns(ctx)
	out := make([]client.OpenTurn, 0, len(list))
	for i := range list {
		t := &list[i]
		out = append(out, client.OpenTurn{
			Session: t.Session, Turn: t.ID, Agent: t.Agent, State: t.State, Attempt: t.Attempt, StartedAt: t.StartedAt,
			Tool: t.Tool, Since: t.Since, ParkedUntil: t.ParkedUntil, Queued: t.Queued,
		})
	}
	return out, err
}

// Patch implements [sessionChanger].
func (d *localDesk) Patch(ctx context.Context, id parley.SessionID, c client.Changes) (parley.Session, error) {
	return d.Handle.Patch(ctx, id, engine.Changes{Title: c.Title, Description: c.Description, Metadata: c.Metadata, Busy: c.Busy})
}

// Rewind implements [sessionChanger].
func (d *localDesk) Rewind(ctx context.Context, id parley.SessionID, turns int) (client.Rewound, error) {
	done, err := d.Handle.Rewind(ctx, id, turns)
	return client.Rewound{Turns: done.Turns, Text: done.Text}, err
}

// RewindTo implements [sessionChanger].
func (d *localDesk) RewindTo(ctx context.Context, id parley.SessionID, seq uint64) (client.Rewound, error) {
	done, err := d.Handle.RewindTo(ctx, id, seq)
	return client.Rewound{Turns: done.Turns, Text: done.Text}, err
}

// Reset implements [sessionChanger].
func (d *localDesk) Reset(ctx context.Context, id parley.SessionID, how client.Anew) (parley.Session, error) {
	return d.Handle.Reset(ctx, id, engine.Anew{Title: how.Title})
}
