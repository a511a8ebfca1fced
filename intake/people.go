package intake

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/command"
)

// readAllow brings an allow list into the form in which it is looked at.
func readAllow(list []string) map[string]bool {
	allow := map[string]bool{}
	for _, entry := range list {
		allow[strings.ToLower(strings.TrimSpace(entry))] = true
	}
	return allow
}

// allowed reports whether the configuration lets in who wrote something, or the chat
// it was written in.
func (r *receiver) allowed(a *arrival) bool {
	for _, name := range []string{
		a.Sender.ID, a.Sender.AltID, r.platform.Name() + ":" + a.Sender.ID, r.platform.Name() + ":" + a.Sender.AltID,
		cmp.Or(a.ChatType, "direct") + ":" + a.ChatID,
	} {
		if r.allow[strings.ToLower(name)] {
			return true
		}
	}
	return false
}

// allowsChat reports whether the configuration lets in whoever is in a chat, of
// whatever type that is.
func (r *receiver) allowsChat(chat string) bool {
	for entry := range r.allow {
		if kind, id, ok := strings.Cut(entry, ":"); ok && kind != r.platform.Name() && strings.EqualFold(id, chat) {
			return true
		}
	}
	return false
}

// enter lets in who wrote something, if the agent's door or the configuration does.
// Who stays outside is told how to get in.
func (r *receiver) enter(ctx context.Context, a *arrival) (ok bool, err error) {
	p := a.speaker.Principal()
	switch {
	case p.Role == parley.RoleOwner || p.Role == parley.RoleUser:
		return true, nil
	case !a.Sender.Bot && r.allowed(a):
		p.Role = parley.RoleUser
		a.speaker, err = r.credential.As(p)
		return err == nil, err
	case a.Sender.Bot:
		if p.Role == "" && a.to.AllowBots {
			p.Role = parley.RoleGuest
			a.speaker, err = r.credential.As(p)
		}
		return err == nil && a.speaker.Principal().Role != "", err
	}
	entered, err := r.cfg.People.Enter(ctx, a.speaker, a.agent.Door)
	if errors.Is(err, parley.ErrNotFound) {
		return false, r.turnAway(ctx, a)
	}
	if err != nil {
		return false, err
	}
	known := a.speaker.Principal().User
	a.speaker = entered
	if entered.Principal().User != known {
		err = r.resolve(a) // it may depend on who they are
	}
	return err == nil, err
}

// turnAway tells a stranger how to be let in: once in a while, and only if they
// speak to the agent. Nothing of what they wrote is kept.
func (r *receiver) turnAway(ctx context.Context, a *arrival) error {
	stranger := a.speaker.Principal().Identity
	if !a.directed() || r.handled.has(a.name()) || r.visitors.Request(string(stranger)) != nil {
		return nil //nolint:nilerr // they were told of late
	}
	text := "You need an invitation to talk to this agent. If you have one, send /join and the token you were given."
	if a.agent.Door != access.DoorProtected {
		code, err := r.cfg.People.PairCode(ctx, stranger)
		switch {
		case errors.Is(err, parley.ErrRateLimited):
			return nil
		case errors.Is(err, parley.ErrConflict):
			text = "This agent is private. Ask its owner to let you in."
		case err != nil:
			return err
		default:
			text = "This agent is private. To be let in, give its owner this code, which is good for ten minutes: " + code +
				"\n\nThe owner enters it with: parley channels pair " + code
		}
	}
	r.handled.add(a.name())
	r.reply(a, text)
	return nil
}

// The commands that are about the person and the account they write with. They belong
// to no conversation: what stands behind them is secret, and is stored nowhere.
const (
	nameStart = "start" // what platforms have people begin with; with a code as /link
	nameJoin  = "join"
	nameLink  = "link"
)

// errand carries out such a command, and reports whether it was one.
func (r *receiver) errand(ctx context.Context, a *arrival) (done bool, err error) {
	c := a.command.Command
	if a.command.Kind != command.Unknown {
		return false, nil
	}
	var do func(context.Context, *arrival) (string, error)
	switch {
	case c.Name == nameJoin:
		do = r.join
	case c.Name == nameLink && c.Args == "":
		do = r.linkCode
	case c.Name == nameLink, c.Name == nameStart && c.Args != "":
		do = r.link
	default:
		return false, nil
	}
	if r.handled.has(a.name()) {
		return true, nil
	}
	answer, err := do(ctx, a)
	if errors.Is(err, parley.ErrUnavailable) || parley.CodeOf(err) == parley.CodeInternal && err != nil {
		return true, err
	}
	if err != nil {
		answer = command.ErrorText(err)
	}
	r.handled.add(a.name())
	r.reply(a, answer)
	return true, nil
}

func (r *receiver) join(ctx context.Context, a *arrival) (string, error) {
	if a.command.Command.Args == "" {
		return "Send /join and the token you were given.", nil
	}
	_, err := r.cfg.People.Join(ctx, a.speaker, a.to.Agent, a.agent.Door, a.command.Command.Args)
	return "Welcome. You can talk to the agent now; /help says what else there is.", err
}

func (r *receiver) link(ctx context.Context, a *arrival) (string, error) {
	user, err := r.cfg.People.Link(ctx, a.speaker, a.command.Command.Args)
	if err != nil {
		return "", err
	}
	if r.cfg.LinkedFunc != nil {
		r.cfg.LinkedFunc(a.speaker.Principal().Identity)
	}
	return "This account is linked: whatever you write here, " + cmp.Or(user.Name, string(user.ID)) + " writes.", nil
}

func (r *receiver) linkCode(ctx context.Context, a *arrival) (string, error) {
	if a.group {
		return "Everybody here would see the code. Send /link in a direct chat.", nil
	}
	code, err := r.cfg.People.LinkCode(ctx, a.speaker)
	return "Enter this code within ten minutes where you are signed in, in the web page or with 'parley users link': " + code, err
}
