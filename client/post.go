package client

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"net/url"
	"time"

	"github.com/parley-run/parley"
)

// postBody is a message as the API takes it.
type postBody struct {
	Content   []parley.Part   `json:"content"`
	InputID   string          `json:"input_id"`
	Busy      parley.BusyMode `json:"busy,omitempty"`
	Sender    *Sender         `json:"sender,omitempty"`
	Mentioned bool            `json:"mentioned,omitempty"`
	Trigger   *bool           `json:"trigger,omitempty"`
	ReplyTo   string          `json:"reply_to,omitempty"`
	MessageID string          `json:"message_id,omitempty"`
}

// Post says something in a session. It returns when that is durable. If the answer
// gets lost, or the server is not there, it is sent again with the same id, up to
// [Config.Tries] times, so that it is said once; an id is made if in has none. The
// receipt has the id also if there is an error: with it, and the same content, the
// message can be repeated later.
//
// Of in, the server uses Ref.ID, Parts, Sender, Mentioned, ReplyTo, MessageID and
// Busy; who says it is whom the token belongs to. What it cannot do is
// [parley.CodeInvalid]: an origin, a kind other than a message, a time not to begin
// before, and a sender without [Config.Channel].
//
// To a session that is not its key's current one any more it is
// [parley.CodeConflict]; see [Current].
func (c *Client) Post(ctx context.Context, id parley.SessionID, in parley.Input) (parley.Receipt, error) {
	return c.say(ctx, id, in, nil)
}

// Append is Post for what is only logged, and seen by the next turn.
func (c *Client) Append(ctx context.Context, id parley.SessionID, in parley.Input) (parley.Receipt, error) {
	return c.say(ctx, id, in, new(bool))
}

func (c *Client) say(ctx context.Context, id parley.SessionID, in parley.Input, trigger *bool) (parley.Receipt, error) {
	body, made, err := c.body(in)
	if err != nil {
		return parley.Receipt{}, err
	}
	body.Trigger = trigger
	var receipt parley.Receipt
	err = c.insist(ctx, func() error {
		receipt = parley.Receipt{}
		_, err := c.call(ctx, messageRequest(id, body, nil), &receipt)
		return err
	})
	if err != nil {
		return parley.Receipt{ID: body.InputID}, err
	}
	if made {
		receipt.Duplicate = false // of an attempt that nobody knows of
	}
	return receipt, nil
}

func messageRequest(id parley.SessionID, body postBody, query url.Values) request {
	return request{method: http.MethodPost, path: at("api", "sessions", string(id), "messages"), query: query, body: body, want: "input_id"}
}

// body makes the request of an input, and reports whether its id was made here.
func (c *Client) body(in parley.Input) (body postBody, made bool, err error) {
	switch {
	case in.Ref.Origin != "" && in.Ref.Origin != Origin:
		return body, false, invalidf("the origin of an input is set by the server; leave it out")
	case in.Kind != "" && in.Kind != parley.InputMessage:
		return body, false, invalidf("an input of kind %q cannot be posted; commands are messages that begin with a slash", cut(string(in.Kind)))
	case !in.NotBefore.IsZero():
		return body, false, invalidf("a message cannot be posted for later")
	}
	body = postBody{
		Content: in.Parts, InputID: in.Ref.ID, Busy: in.Busy, Mentioned: in.Mentioned, ReplyTo: in.ReplyTo, MessageID: in.MessageID,
	}
	if in.Sender.ID != "" {
		if c.cfg.Channel == "" {
			return body, false, invalidf("a sender needs the channel that it is an account of; set Config.Channel")
		}
		s := in.Sender
		body.Sender = &Sender{Channel: c.cfg.Channel, ID: s.ID, AltID: s.AltID, Name: s.Name, Bot: s.Bot}
	}
	if body.InputID == "" {
		body.InputID, made = newInputID(), true
	}
	return body, made, nil
}

func newInputID() string {
	var random [12]byte
	_, _ = rand.Read(random[:]) // it never fails
	return "in_" + hex.EncodeToString(random[:])
}

// Waiting gives the inputs of a session that wait for their turn, in that order.
func (c *Client) Waiting(ctx context.Context, id parley.SessionID) ([]parley.Input, error) {
	var out struct {
		Inputs []struct {
			ID       string            `json:"input_id"`
			Kind     parley.InputKind  `json:"kind"`
			Parts    []parley.Part     `json:"parts"`
			Seq      uint64            `json:"seq"`
			At       time.Time         `json:"at"`
			Identity parley.IdentityID `json:"identity"`
			Sender   parley.Sender     `json:"sender"`
		} `json:"inputs"`
	}
	if _, err := c.call(ctx, request{method: http.MethodGet, path: at("api", "sessions", string(id), "inputs"), want: "inputs"}, &out); err != nil {
		return nil, err
	}
	waiting := make([]parley.Input, len(out.Inputs))
	for i := range out.Inputs {
		w := &out.Inputs[i]
		waiting[i] = parley.Input{
			Ref: parley.InputRef{Origin: Origin, ID: w.ID}, Kind: w.Kind, Parts: w.Parts, Sender: w.Sender,
			Principal: parley.Principal{Identity: w.Identity}, State: parley.InputQueued, Session: id, Seq: w.Seq, At: w.At,
		}
	}
	return waiting, nil
}

// Withdraw takes back an input that still waits, and reports whether it did.
func (c *Client) Withdraw(ctx context.Context, id parley.SessionID, ref parley.InputRef) (bool, error) {
	var out struct {
		Withdrawn bool `json:"withdrawn"`
	}
	_, err := c.call(ctx, request{method: http.MethodDelete, path: at("api", "sessions", string(id), "inputs", ref.ID), want: "withdrawn"}, &out)
	return out.Withdrawn, err
}
