package intake

import (
	"context"
	"errors"
	"fmt"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/channel"
	"github.com/parley-run/parley/command"
	"github.com/parley-run/parley/engine"
)

// Outbox knows the messages below which buttons stand, as [channel.Outbox] does.
type Outbox interface {
	Delivery(ctx context.Context, id parley.DeliveryID) (parley.Delivery, error)
	Release(ctx context.Context, by parley.Principal, announcement parley.DeliveryID) (int, error)
}

// Press implements [channel.Receiver]. The person is told what their press did, or why
// it did nothing; an error is one that can pass.
func (r *receiver) Press(ctx context.Context, p channel.Press) (string, error) {
	answer, err := r.press(ctx, p)
	switch {
	case err == nil:
		return answer, nil
	case ctx.Err() != nil, errors.Is(err, parley.ErrUnavailable), errors.Is(err, parley.ErrOutcomeUnknown):
		return "", err
	case errors.Is(err, parley.ErrNotFound):
		return "There is nothing to answer here any more.", nil
	}
	if e, ok := errors.AsType[*parley.ExpectError](err); ok {
		return fmt.Sprintf("It is settled: the call is %v.", e.Actual), nil
	}
	if parley.CodeOf(err) == parley.CodeInternal {
		r.cfg.Log.Error("answer an approval from a chat", "channel", r.platform.Name(), "error", err)
	}
	return command.ErrorText(err), nil
}

func (r *receiver) press(ctx context.Context, p channel.Press) (string, error) {
	id, choice, ok := channel.PressedButton(p.Data)
	if !ok || r.cfg.Outbox == nil || p.Sender.ID == "" {
		return "", parley.Errorf(parley.CodeNotFound, "there is no such button")
	}
	d, err := r.cfg.Outbox.Delivery(ctx, id)
	if err != nil {
		return "", err
	}
	if d.Target.Channel != r.platform.Name() || d.Target.Account != r.platform.Account() || d.Target.Chat != p.Target.Chat {
		return "", parley.Errorf(parley.CodeNotFound, "the button is of another chat")
	}
	who, err := r.presser(ctx, p)
	if err != nil {
		return "", err
	}
	if choice == channel.ChooseRelease {
		n, err := r.cfg.Outbox.Release(ctx, who.Principal(), id)
		return fmt.Sprintf("On their way: %d.", n), err
	}
	return r.approve(ctx, who, &d, choice)
}

// presser gives who pressed a button, if they may talk to the agent at all.
func (r *receiver) presser(ctx context.Context, p channel.Press) (access.Caller, error) {
	who, err := r.cfg.People.Speaker(ctx, r.credential, p.Sender, r.platform.Name())
	if err != nil {
		return who, err
	}
	as := who.Principal()
	if as.Role == parley.RoleOwner || as.Role == parley.RoleUser {
		return who, nil
	}
	a := &arrival{Received: &channel.Received{Inbound: parley.Inbound{Sender: p.Sender}}}
	if r.allowed(a) || r.allowsChat(p.Target.Chat) {
		as.Role = parley.RoleUser
		return r.credential.As(as)
	}
	if as.Role == "" {
		err = parley.Errorf(parley.CodeForbidden, "this is for others to answer")
	}
	return who, err
}

// approve answers the question of a delivery.
func (r *receiver) approve(ctx context.Context, who access.Caller, d *parley.Delivery, choice channel.Choice) (string, error) {
	allow, remember := choice != channel.ChooseDeny, engine.RememberOnce
	answer := "Approved."
	switch choice {
	case channel.ChooseSession:
		answer, remember = "Approved, for the whole conversation.", engine.RememberSession
	case channel.ChooseDeny:
		answer = "Denied."
	}
	if d.Kind != parley.DeliveryApproval {
		return "", parley.Errorf(parley.CodeNotFound, "nothing is asked there")
	}
	return answer, r.cfg.Engine.As(who).Approve(ctx, d.Session, d.Call, allow, remember)
}
