package httpapi

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/engine"
	"github.com/parley-run/parley/route"
)

// speak makes the call that of whom the request declares as its sender, if its
// credential may speak for them.
func (c *call) speak(ctx context.Context, sender *senderView) error {
	if sender == nil {
		return nil
	}
	if sender.Channel == "" || sender.ID == "" {
		return invalidf("sender needs a channel and an id")
	}
	if c.cfg.People == nil {
		id, err := c.cred.Caller.Sender(parley.IdentityID(sender.Channel + ":" + sender.ID))
		if err != nil {
			return err
		}
		p := c.cred.Caller.Principal()
		if id != p.Identity {
			p = parley.Principal{Identity: id, Role: parley.RoleGuest, Via: p.Via}
		}
		c.cred.Caller, err = c.cred.Caller.As(p)
		return err
	}
	caller, err := c.cfg.People.Speaker(ctx, c.cred.Caller, sender.sender(), sender.Channel)
	if err == nil {
		c.cred.Caller = caller
	}
	return err
}

// enter lets somebody without a role in, if the agent's door is open to them.
func (c *call) enter(ctx context.Context, door access.Door) error {
	if c.cfg.People == nil || c.cred.Caller.Principal().Role != "" {
		return nil
	}
	caller, err := c.cfg.People.Enter(ctx, c.cred.Caller, door)
	if err == nil {
		c.cred.Caller = caller
	}
	return err
}

// opening finds out what a request wants to open, as whom, and with which agent.
func (c *call) opening(in *openIn) (engine.Opening, error) {
	ctx := c.r.Context()
	if own := c.cred.Caller.Namespace(); own != "" && in.Context != nil && in.Context.Channel != own {
		return engine.Opening{}, parley.Errorf(parley.CodeForbidden, "this credential brings messages of %s alone", own)
	}
	sender := in.Sender
	if sender == nil && in.Context != nil && in.Context.SenderID != "" && c.cred.Caller.Namespace() != "" {
		sender = &senderView{Channel: in.Context.Channel, ID: in.Context.SenderID, AltID: in.Context.SenderIDAlt, Name: in.Context.SenderName}
	}
	if err := c.speak(ctx, sender); err != nil {
		return engine.Opening{}, err
	}
	if err := c.mayName(in.ID); err != nil {
		return engine.Opening{}, err
	}
	o := engine.Opening{
		ID: in.ID, Metadata: in.Metadata, Namespace: c.cred.Caller.Namespace(),
		Session: parley.NewSession{Type: parley.SessionDirect, Source: in.Source.source(), Title: parley.Title{Text: in.Title}, Metadata: in.Metadata},
	}
	name, err := c.resolve(in, &o)
	if err != nil {
		return o, err
	}
	agent, ok := c.cfg.AgentFunc(name)
	if !ok {
		return o, invalidf("there is no agent %q", cut(name))
	}
	o.Session.Agent = agent.Snapshot
	return o, c.enter(ctx, agent.Door)
}

// resolve finds the agent, and for a key or a context the conversation.
func (c *call) resolve(in *openIn, o *engine.Opening) (agent string, err error) {
	p := c.cred.Caller.Principal()
	req := route.Request{Agent: in.Agent, Key: in.Key, User: p.User, Role: p.Role}
	if in.Context != nil {
		req.Inbound = in.Context.inbound()
	} else {
		// The routes say who answers where nobody is named.
		req.Inbound = parley.Inbound{Channel: o.Session.Source.Kind, ChatType: "direct"}
	}
	to, err := c.cfg.RouteFunc().Resolve(req)
	if err != nil {
		return "", err
	}
	if in.Key == "" && in.Context == nil {
		return to.Agent, nil
	}
	if err := to.Refusal(); err != nil {
		return "", err
	}
	if to.Shared {
		o.Session.Type = parley.SessionGroup
	}
	if in.Context != nil && in.Source == nil {
		o.Session.Source = parley.Source{Kind: "channel", Platform: in.Context.Channel, Interactive: true}
	}
	o.To = &to
	return to.Agent, nil
}

// surfaces are the namespaces in which everybody may name sessions.
var surfaces = []string{"cli", "web", "api", "acp"}

// mayName refuses to start a session in the namespace of a chat app: its own messages
// would end up in what somebody else has begun. Owners and the app itself may.
func (c *call) mayName(id parley.SessionID) error {
	caller := c.cred.Caller
	if id == "" || caller.Namespace() != "" || caller.Principal().Role == parley.RoleOwner || slices.Contains(surfaces, id.Namespace()) {
		return nil
	}
	if _, err := c.handle().Session(c.r.Context(), id); err == nil {
		return nil // it is there, and theirs
	} else if !errors.Is(err, parley.ErrNotFound) {
		return err
	}
	return parley.Errorf(parley.CodeNotFound, "there is no session %q; those you start are named %s:…", id, strings.Join(surfaces, ":…, "))
}
