package channel

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/parley-run/parley"
)

// maxChats bounds the chats that are remembered of sessions.
const maxChats = 4096

// liveSession is what is known of a session in which something goes on: it spares reading
// what this process has written itself. It is guarded by the outbox's mutex, and goes
// when nothing goes on any more.
type liveSession struct {
	waits map[parley.InputRef]origin
	turns map[parley.TurnID]*liveTurn
}

// origin is where an input came from.
type origin struct {
	target *parley.Target
	kind   parley.InputKind
	ref    parley.InputRef
}

// OriginName is the origin of inputs that come from a chat, as [parley.InputRef] has it.
// The bot that has no name is called default in it.
func OriginName(chat parley.Target) string {
	return accountName(account{channel: chat.Channel, account: chat.Account}) + chat.Chat
}

// accountName is what the origins of all chats of an account begin with.
func accountName(of account) string { return of.channel + "/" + cmp.Or(of.account, "default") + "/" }

func originOf(in *parley.Input) origin {
	return origin{target: in.Target, kind: in.Kind, ref: in.Ref}
}

// liveTurn is an open turn.
type liveTurn struct {
	target *parley.Target   // where its answer goes; nil: nowhere
	stream *stream          // its answer, while that is written
	draft  *parley.Delivery // what an earlier process has shown of its answer
}

// turn gives a turn, or nil.
func (t *liveSession) turn(id parley.TurnID) *liveTurn {
	if t == nil {
		return nil
	}
	return t.turns[id]
}

// live gives what is known of a session. The outbox is locked.
func (o *Outbox) live(id parley.SessionID) *liveSession {
	t := o.sessions[id]
	if t == nil {
		t = &liveSession{waits: map[parley.InputRef]origin{}, turns: map[parley.TurnID]*liveTurn{}}
		o.sessions[id] = t
	}
	return t
}

// forgetIdle forgets a session in which nothing goes on. The outbox is locked.
func (o *Outbox) forgetIdle(id parley.SessionID) {
	if t := o.sessions[id]; t != nil && len(t.waits) == 0 && len(t.turns) == 0 {
		delete(o.sessions, id)
	}
}

// originOfInput finds out where an input came from that is about to get its turn.
func (o *Outbox) originOfInput(ctx context.Context, id parley.SessionID, ref parley.InputRef) (origin, error) {
	o.mu.Lock()
	if t := o.sessions[id]; t != nil {
		if found, ok := t.waits[ref]; ok {
			o.mu.Unlock()
			return found, nil
		}
	}
	o.mu.Unlock()
	in, err := o.store.Input(ctx, parley.SeeAll(), ref)
	if errors.Is(err, parley.ErrNotFound) {
		return origin{}, nil // the commit will say so
	}
	return originOf(&in), err
}

// targetOf decides where the answer to inputs goes: to the chat of the last that came
// from one. What nobody said, an automation or a recovery, is answered in the
// session's chat. So is an input that came from there and was redacted since.
func (o *Outbox) targetOf(ctx context.Context, id parley.SessionID, inputs []origin) (*parley.Target, error) {
	nobody := len(inputs) > 0
	for _, in := range slices.Backward(inputs) {
		if in.target != nil {
			return in.target, nil
		}
		if in.kind != parley.InputAutomation && in.kind != parley.InputRecovery {
			nobody = false
		}
	}
	if !nobody && !o.mayBeFromChat(inputs) {
		return nil, nil
	}
	chat, err := o.chatOf(ctx, id)
	if err != nil || chat == nil || nobody {
		return chat, err
	}
	for _, in := range inputs {
		if in.ref.Origin == OriginName(*chat) {
			return chat, nil
		}
	}
	return nil, nil
}

// mayBeFromChat reports whether one of the inputs has an origin as the chats of a
// platform have it. It spares a look at the session for all others.
func (o *Outbox) mayBeFromChat(inputs []origin) bool {
	for _, in := range inputs {
		for at := range o.accounts {
			if strings.HasPrefix(in.ref.Origin, accountName(at)) {
				return true
			}
		}
	}
	return false
}

// chatOf gives the chat of a session; nil: it has none.
func (o *Outbox) chatOf(ctx context.Context, id parley.SessionID) (*parley.Target, error) {
	s, err := o.store.Session(ctx, parley.SeeAll(), id)
	if errors.Is(err, parley.ErrNotFound) {
		return nil, nil
	}
	return s.Chat, err
}

// turnOf gives what is known of a turn. One that this process has not started is
// looked up.
func (o *Outbox) turnOf(ctx context.Context, id parley.SessionID, turn parley.TurnID) (*liveTurn, error) {
	o.mu.Lock()
	t := o.sessions[id].turn(turn)
	o.mu.Unlock()
	if t != nil {
		return t, nil
	}
	open, err := o.store.OpenInputs(ctx, parley.SeeAll(), id, parley.InputRef{}, parley.MaxPageSize)
	if errors.Is(err, parley.ErrNotFound) {
		return &liveTurn{}, nil
	}
	if err != nil {
		return nil, err
	}
	var inputs []origin
	for i := range open {
		if open[i].Turn == turn {
			inputs = append(inputs, originOf(&open[i]))
		}
	}
	found := &liveTurn{}
	if found.target, err = o.targetOf(ctx, id, inputs); err != nil {
		return nil, err
	}
	drafts, err := o.store.Deliveries(ctx, parley.SeeAll(), parley.DeliveryQuery{Session: id, Draft: new(true), Limit: parley.MaxPageSize})
	if err != nil {
		return nil, err
	}
	for i := range drafts {
		if drafts[i].Turn == turn {
			found.draft = &drafts[i]
			found.target = &drafts[i].Target
		}
	}
	return found, nil
}
