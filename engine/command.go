package engine

import (
	"context"
	"errors"
	"strings"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/command"
)

// modelName is the metadata that holds the model somebody chose for a session.
const modelName = reservedPrefix + "model"

// ChosenModel gives the model that somebody chose for the session with /model, or
// "": then the agent's own.
func ChosenModel(s parley.Session) string { return s.Metadata[modelName] }

// asCommand reads what somebody says as a command. What is none is a message, which may
// have been escaped, or be one that a command brings. In a group so is one that is for
// another bot, for all that is known: it names one, or there is none of that name, and
// the agent was not mentioned.
func (h *Handle) asCommand(s parley.Session, in *parley.Input) (command.Reading, bool) {
	text := command.Reading{Kind: command.Text}
	if h.engine.cfg.NoCommands || in.Kind != parley.InputMessage || in.Sender.Bot || len(in.Parts) == 0 ||
		in.Parts[0].Kind != parley.PartText || !strings.HasPrefix(in.Parts[0].Text, "/") {
		return text, false
	}
	r := command.Read(in.Parts[0].Text)
	if s.Type == parley.SessionGroup && !in.Mentioned && (r.Kind == command.Unknown || r.Command.Bot != "") {
		return text, false
	}
	said, mode := r.Text, in.Busy
	switch {
	case r.Kind == command.Text:
	case r.Kind == command.Known && r.Command.Name == command.NameQueue && r.Command.Args != "":
		said, mode = r.Command.Args, parley.BusyQueue
	case r.Kind == command.Known && r.Command.Name == command.NameSteer && r.Command.Args != "":
		said, mode = r.Command.Args, parley.BusySteer
	default:
		return r, true
	}
	parts := append([]parley.Part{parley.TextPart(said)}, in.Parts[1:]...)
	in.Parts, in.Busy, in.Mentioned = parts, mode, in.Mentioned || r.Kind != command.Text
	return text, false
}

// errand is a command on its way.
type errand struct {
	by      *Handle
	at      spot
	command command.Command
	rider   *rider
}

// carryOut does what a command says, and answers it.
func (h *Handle) carryOut(ctx context.Context, s spot, in parley.Input, r command.Reading) (parley.Receipt, error) {
	in.Kind, in.State, in.Decision = parley.InputCommand, parley.InputCarriedOut, "carried out"
	e := &errand{by: h, at: s, command: r.Command, rider: &rider{
		session: s.ID, input: in, join: s.join, expect: current(s.Session), answerID: "m_" + h.engine.cfg.IDFunc(),
	}}
	_, err := h.engine.store.Input(ctx, parley.SeeAll(), in.Ref)
	switch {
	case err == nil:
		err = e.say(ctx, "") // it was given before, or its id was used for something else
	case !errors.Is(err, parley.ErrNotFound):
		return parley.Receipt{}, err
	case r.Kind == command.Unknown:
		err = e.say(ctx, command.UnknownText(r))
	default:
		err = e.run(ctx)
	}
	if refused(err) {
		err = e.say(ctx, command.ErrorText(err))
	}
	if again, ok := errors.AsType[*repeatedError](err); ok {
		return parley.Receipt{ID: in.Ref.ID, State: again.input.State, Turn: again.input.Turn, Duplicate: true}, nil
	}
	if err != nil {
		return parley.Receipt{}, h.notCurrent(err, s.Session)
	}
	return parley.Receipt{ID: in.Ref.ID, State: in.State}, nil
}

// refused reports whether an error is an answer to who gave the command. That a
// name was used for something else, or that the session is not the current one, is
// one to the surface.
func refused(err error) bool {
	if _, expected := errors.AsType[*parley.ExpectError](err); expected {
		return false
	}
	switch parley.CodeOf(err) {
	case parley.CodeInvalid, parley.CodeForbidden, parley.CodeNotFound, parley.CodeBusy, parley.CodeTooLarge:
		return true
	case parley.CodeConflict:
		return !errors.Is(err, errGiven)
	}
	return false
}

// errGiven is in the chain if a command itself could not be admitted.
var errGiven = errors.New("admit the command")

// run does what the command says. A command that changes nothing is answered by
// itself.
func (e *errand) run(ctx context.Context) error {
	answer, err := errands[e.command.Name](e, ctx)
	if e.rider.done {
		return nil // whatever became of the session since
	}
	if err != nil {
		return err
	}
	return e.say(ctx, answer)
}

// say admits the command with an answer, and nothing else.
func (e *errand) say(ctx context.Context, answer string) error {
	e.rider.changeFunc = nil
	h := e.with(e.by, func(*parley.Batch) string { return answer })
	_, err := h.commit(ctx, parley.Batch{At: h.engine.cfg.Clock.Now(), Audit: e.at.audit})
	if _, repeated := errors.AsType[*repeatedError](err); err == nil || repeated {
		return err
	}
	return errors.Join(errGiven, err)
}

// with gives a handle whose commit takes the command with it.
func (e *errand) with(h *Handle, answerFunc func(*parley.Batch) string) *Handle {
	e.rider.answerFunc = answerFunc
	return &Handle{engine: h.engine, caller: h.caller, rider: e.rider}
}

// riding is with for who gave the command.
func (e *errand) riding(answerFunc func(*parley.Batch) string) *Handle {
	return e.with(e.by, answerFunc)
}

// created gives the session that a change makes.
func created(b *parley.Batch) parley.Session {
	for _, c := range b.Sessions {
		if c.Create != nil {
			return parley.Session{ID: c.Session, Title: c.Create.Title, Parent: c.Create.Fork}
		}
	}
	return parley.Session{}
}

// dropped counts the inputs that a change drops.
func dropped(b *parley.Batch) int {
	n := 0
	for _, c := range b.Sessions {
		for _, in := range c.Inputs {
			if in.State == parley.InputDropped {
				n++
			}
		}
	}
	return n
}
