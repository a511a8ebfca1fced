package storetest

import (
	"maps"
	"slices"
	"strings"

	"github.com/parley-run/parley"
)

// events adds admitted inputs and other events.
func (g *generator) events(c *parley.SessionChange, s *oracleSession) {
	if g.chance(35) {
		for range g.upTo(3) {
			in := g.input()
			c.Admit = append(c.Admit, in)
			g.refs = append(g.refs, in.Ref)
			g.ahead.admit(g.now, s, in)
		}
	}
	if g.chance(60) {
		for range g.upTo(4) {
			d := g.newEvent(s)
			c.Events = append(c.Events, d)
			_ = g.ahead.appendNew(g.now, s, d) // it fails in the batch if it fails here
		}
	}
}

func (g *generator) input() parley.Input {
	in := parley.Input{
		Ref:       parley.InputRef{Origin: pick(g, origins), ID: g.fresh("m")},
		Kind:      either(g, parley.InputMessage, parley.InputCommand, parley.InputAutomation, parley.InputRecovery),
		Parts:     g.parts(),
		Sender:    g.sender(),
		Mentioned: g.chance(30),
		ReplyTo:   either(g, "", "41"),
		MessageID: either(g, "", "42"),
		Target:    maybe(g, 30, g.target),
		Principal: parley.Principal{
			Identity: pick(g, identityIDs), User: either(g, "", pick(g, userIDs)),
			Role: either(g, parley.RoleOwner, parley.RoleUser, parley.RoleGuest), Via: either(g, "", "token"),
		},
		Busy:     either(g, "", parley.BusyCollect, parley.BusyInterrupt, parley.BusyReject),
		State:    either(g, parley.InputQueued, parley.InputQueued, pick(g, inputStates)),
		Decision: either(g, "", "the session is busy"),
		Turn:     either(g, "", "", pick(g, turnIDs)),
	}
	if g.chance(20) {
		in.NotBefore = g.moment()
	}
	return in
}

// repeatInput puts an input into the batch that was admitted before, at times
// with another content.
func (g *generator) repeatInput(b *parley.Batch) {
	if len(g.refs) == 0 || len(b.Sessions) == 0 {
		return
	}
	known, stored := g.oracle.inputs[pick(g, g.refs)]
	if !stored {
		return // its batch was refused, or is this one
	}
	in := g.input()
	in.Ref = known.row.Ref
	if present := g.oracle.input(known); g.oracle.readable(known) && g.chance(70) {
		in.Kind, in.Parts, in.Sender = present.Kind, sameParts(present.Parts), present.Sender
		in.Sender.Name = "renamed since" // names do not count
	}
	c := &b.Sessions[g.IntN(len(b.Sessions))]
	c.Admit = append(c.Admit, in)
}

// sameParts gives parts that a person would call the same.
func sameParts(parts []parley.Part) []parley.Part {
	var same []parley.Part
	for _, p := range parts {
		if p.Kind == parley.PartText {
			p.Text = "  " + strings.ReplaceAll(p.Text, "\n", "\r\n") + "\r\n"
		}
		same = append(same, p)
	}
	return same
}

func (g *generator) sender() parley.Sender {
	return parley.Sender{
		ID: either(g, "7", "9"), AltID: either(g, "", "+41"), Name: either(g, "", "Anna \"A\" Ü"), Bot: g.chance(20),
	}
}

// media refers to a blob that is there; a slip gives one that is not.
func (g *generator) media() *parley.Media {
	handle := strangeBlob
	if there := slices.Sorted(maps.Keys(g.ahead.blobs)); len(there) > 0 && !g.slip() {
		handle = pick(g, there)
	}
	return &parley.Media{
		Handle: string(handle), Type: "image/png", Name: either(g, "", "a b.png"), Size: int64(g.IntN(1000)),
	}
}

func (g *generator) text() string {
	return either(g,
		"", " \n ", "hello", "two\nlines", "<b>&amp;</b> 'q' \\", strings.Repeat("long текст ", 30), g.fresh("text "))
}

func (g *generator) parts() []parley.Part {
	var parts []parley.Part
	for range g.IntN(4) {
		parts = append(parts, either(g, g.textPart, g.textPart, g.textPart, g.otherPart)())
	}
	return parts
}

func (g *generator) textPart() parley.Part {
	p := parley.Part{Kind: either(g, parley.PartText, parley.PartText, parley.PartReasoning), Text: g.text()}
	p.Note = p.Kind == parley.PartText && g.chance(15)
	return p
}

func (g *generator) otherPart() parley.Part {
	hasBlobs := len(g.ahead.blobs) > 0
	switch n := g.IntN(3); {
	case n == 0 && hasBlobs:
		return parley.Part{Kind: parley.PartMedia, Media: g.media()}
	case n == 1:
		return parley.Part{Kind: parley.PartToolCall, Call: &parley.ToolCall{
			ID: pick(g, callIDs), Name: "shell", Arguments: []byte(`{"line":"ls <x>"}`),
		}}
	}
	result := &parley.ToolResult{CallID: pick(g, callIDs), Text: g.text(), IsError: g.chance(20), Unknown: g.chance(20)}
	if hasBlobs && g.chance(30) {
		result.Media = g.media()
	}
	return parley.Part{Kind: parley.PartToolResult, Result: result}
}

// roles are those of messages, those with a preview more than once.
var roles = []parley.MessageRole{
	parley.MessageUser, parley.MessageUser, parley.MessageAssistant, parley.MessageAssistant,
	parley.MessageTool, parley.MessageSystem,
}

// newEvent makes an event, most often one that changes what readers see.
func (g *generator) newEvent(s *oracleSession) parley.NewEvent {
	d := parley.NewEvent{Turn: either(g, "", pick(g, turnIDs)), Identity: either(g, "", pick(g, identityIDs))}
	if g.chance(15) {
		d.At = g.earlier()
	}
	switch n := g.IntN(100); {
	case n < 40:
		d.Body = g.message(s)
	case n < 60:
		d.Body = &parley.ParticipantChanged{Identity: pick(g, identityIDs), Left: g.chance(25)}
	case n < 68:
		d.Body = plainBodies[parley.EventTurnCompleted](g)
	default:
		d.Body = g.otherBody()
	}
	return d
}

func (g *generator) message(s *oracleSession) *parley.Message {
	m := &parley.Message{
		ID:    g.fresh("msg"),
		Role:  pick(g, roles),
		Parts: g.parts(),
		Model: either(g, "", "scripted/one"),
	}
	if g.chance(30) {
		sender := g.sender()
		m.Sender = &sender
	}
	if m.Role != parley.MessageUser {
		return m
	}
	if g.slip() {
		m.Inputs = append(m.Inputs, strangeRef)
		if len(g.refs) > 0 {
			m.Inputs[0] = pick(g, g.refs) // most likely another session's, or shown already
		}
		return m
	}
	waiting := g.knownInputs(s, func(in oracleInput) bool { return in.row.Shown == 0 && g.ahead.readable(in) })
	if len(waiting) > 0 && g.chance(70) {
		m.Inputs = append(m.Inputs, waiting[:g.upTo(min(2, len(waiting)))]...)
	}
	return m
}
