package intake

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/channel"
	"github.com/parley-run/parley/command"
	"github.com/parley-run/parley/engine"
	"github.com/parley-run/parley/group"
	"github.com/parley-run/parley/route"
)

// arrival is a message on its way in, and what is known of it so far.
type arrival struct {
	*channel.Received

	ref     parley.InputRef
	group   bool // several people are in the chat
	command command.Reading
	speaker access.Caller
	to      route.Resolution
	agent   Agent
}

// Receive implements [channel.Receiver]. An error is one that can pass: then nothing
// was admitted, or nobody knows, and the platform is to give the message again. What
// can never be admitted is answered if somebody waits for that, and logged.
func (r *receiver) Receive(ctx context.Context, m channel.Received) error {
	a, ok := r.read(&m)
	if !ok {
		return nil
	}
	err := r.take(ctx, a)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil, errors.Is(err, parley.ErrUnavailable), errors.Is(err, parley.ErrOutcomeUnknown):
		return err
	case parley.CodeOf(err) == parley.CodeInternal && r.failures.add(a.name()) < maxFailures:
		return err
	}
	r.cfg.Log.Warn("a message from a chat was not admitted", "channel", r.platform.Name(), "code", parley.CodeOf(err), "error", err)
	if !errors.Is(err, errSaid) && a.directed() {
		r.reply(a, command.ErrorText(err))
	}
	return nil
}

// maxFailures is how often a message is taken again that fails for reasons nobody
// foresaw. Else it would be in the way of all that come after it.
const maxFailures = 5

// errSaid is in the chain if nobody waits for an answer.
var errSaid = errors.New("nobody is to be told")

// read looks at a message by itself. What nobody said is not taken.
func (r *receiver) read(m *channel.Received) (*arrival, bool) {
	text := parley.PlainText(m.Parts)
	if m.MessageID == "" || cmp.Or(m.Sender.AltID, m.Sender.ID) == "" || text == "" && len(m.Media) == 0 {
		return nil, false
	}
	m.Channel, m.Account = r.platform.Name(), r.platform.Account()
	m.Sender.Name = access.TidyName(m.Sender.Name)
	a := &arrival{Received: m, command: command.Read(text), group: inGroup(m.ChatType)}
	a.ref = parley.InputRef{
		Origin: channel.OriginName(parley.Target{Channel: m.Channel, Account: m.Account, Chat: m.ChatID}), ID: m.MessageID,
	}
	if m.Edit != "" {
		if a.command.Kind != command.Text {
			return nil, false // it was carried out as it was first written
		}
		a.ref.ID += ".e" + m.Edit
	}
	if m.Target.Chat == "" {
		m.Target = parley.Target{Chat: m.ChatID, Topic: m.TopicID}
	}
	m.Target.Channel, m.Target.Account = m.Channel, m.Account
	if m.Sender.Bot || a.group && !m.Mentioned && (a.command.Kind == command.Unknown || a.command.Command.Bot != "") {
		a.command = command.Reading{Kind: command.Text, Text: text} // for another bot, for all that is known
	}
	return a, true
}

// inGroup reports whether a chat of a type is one of several people.
func inGroup(chatType string) bool { return chatType != "" && chatType != "direct" && chatType != "dm" }

// name is the name of what arrived, in memory.
func (a *arrival) name() string { return a.ref.Origin + " " + a.ref.ID }

// directed reports whether who wrote it expects an answer.
func (a *arrival) directed() bool { return !a.Sender.Bot && (!a.group || a.Mentioned) }

// take brings a message to its conversation.
func (r *receiver) take(ctx context.Context, a *arrival) error {
	var err error
	if a.speaker, err = r.cfg.People.Speaker(ctx, r.credential, a.Sender, r.platform.Name()); err != nil {
		return err
	}
	if err := r.resolve(a); err != nil {
		return err
	}
	if done, err := r.errand(ctx, a); done || err != nil {
		return err
	}
	if ok, err := r.enter(ctx, a); !ok || err != nil {
		return err
	}
	for range maxMoves {
		err = r.bring(ctx, a)
		if !moved(err) {
			break
		}
	}
	if errors.Is(err, parley.ErrConflict) {
		return errors.Join(errSaid, err) // the platform gave other words under the same id
	}
	return err
}

// maxMoves is how often a conversation may go over to another session while a message
// is brought to it.
const maxMoves = 5

// moved reports whether a conversation went on in another session meanwhile.
func moved(err error) bool {
	e, ok := errors.AsType[*parley.ExpectError](err)
	if !ok {
		return false
	}
	_, key := e.Expect.(parley.KeyIs)
	return key
}

// resolve finds out which conversation it is, and whose.
func (r *receiver) resolve(a *arrival) error {
	p := a.speaker.Principal()
	to, err := r.cfg.RouteFunc().Resolve(route.Request{Inbound: a.Inbound, User: p.User, Role: p.Role})
	if err != nil {
		return err
	}
	if err := to.Refusal(); err != nil {
		return err
	}
	agent, ok := r.cfg.AgentFunc(to.Agent)
	if !ok {
		return parley.Errorf(parley.CodeUnavailable, "there is no agent %q", to.Agent)
	}
	a.to, a.agent = to, agent
	return nil
}

// bring opens the conversation and admits the message.
func (r *receiver) bring(ctx context.Context, a *arrival) error {
	kind := parley.SessionDirect
	if a.to.Shared {
		kind = parley.SessionGroup
	}
	handle := r.cfg.Engine.As(a.speaker)
	opened, err := handle.Open(ctx, engine.Opening{To: &a.to, Namespace: r.platform.Name(), Session: parley.NewSession{
		Agent: a.agent.Snapshot, Type: kind, Source: parley.Source{Kind: "channel", Platform: r.platform.Name(), Interactive: true},
	}})
	if err != nil {
		return err
	}
	id := opened.Session.ID
	if len(a.Media) > 0 {
		if _, err := handle.Input(ctx, id, a.ref); err == nil {
			return nil // it is there, with its media
		}
	}
	in, err := r.input(ctx, a)
	if err != nil || len(in.Parts) == 0 {
		return err
	}
	turn, how := r.decide(a, &in)
	if turn {
		_, err = handle.Bring(ctx, id, in, how)
	} else {
		_, err = handle.Append(ctx, id, in)
	}
	return err
}

// input makes the input of a message.
func (r *receiver) input(ctx context.Context, a *arrival) (parley.Input, error) {
	target := a.Target
	in := parley.Input{
		Ref: a.ref, Sender: a.Sender, Mentioned: a.Mentioned, ReplyTo: a.ReplyTo, MessageID: a.MessageID, Target: &target,
	}
	text := parley.PlainText(a.Parts)
	if a.command.Kind == command.Unknown && a.command.Command.Name == nameStart {
		text = "/" + command.NameHelp // platforms have people begin with it
	}
	if a.Edit != "" {
		text = "(edited) " + text
	}
	if text != "" {
		in.Parts = append(in.Parts, parley.TextPart(text))
	}
	media, err := r.media(ctx, a)
	in.Parts = append(in.Parts, media...)
	return in, err
}

// partsPause is how long the parts of one thing wait for each other at least, also where
// messages are answered one by one.
const partsPause = time.Second

// decide says whether a message is for the agent, by the rules of groups also where
// each person of a group has a conversation of their own, and how it is brought.
func (r *receiver) decide(a *arrival, in *parley.Input) (turn bool, how engine.Manner) {
	if a.command.Kind != command.Text {
		return true, engine.Manner{}
	}
	kind := parley.SessionDirect
	if a.group {
		kind = parley.SessionGroup
		in.Mentioned = in.Mentioned || r.follows.goesOn(a)
	}
	how = engine.Manner{Pause: r.pause, Longest: r.cfg.Longest}
	if a.Album != "" || a.Full {
		how.Pause = max(how.Pause, partsPause)
	}
	how.AllowBots = a.Sender.Bot && a.to.AllowBots && r.bots.Request(a.ref.Origin) == nil
	verdict := group.Decide(group.Arrival{
		Session: kind, Role: a.speaker.Principal().Role, Mentioned: &in.Mentioned, Bot: a.Sender.Bot, AllowBots: how.AllowBots,
	}, r.cfg.Groups)
	turn = verdict.Mode == group.ModeTurn
	if turn && a.group {
		r.follows.note(a, how.Pause)
	}
	return turn, how
}
