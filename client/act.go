package client

import (
	"context"
	"net/http"
	"time"

	"github.com/parley-run/parley"
)

// Cancel stops a turn, or the open one if turn is empty, and reports whether there
// was one to stop. It is durable when Cancel returns.
func (c *Client) Cancel(ctx context.Context, id parley.SessionID, turn parley.TurnID) (bool, error) {
	var out struct {
		Canceled bool `json:"canceled"`
	}
	err := c.act(ctx, id, "cancel", "canceled", struct {
		Turn parley.TurnID `json:"turn_id,omitempty"`
	}{turn}, &out)
	return out.Canceled, err
}

// act posts something about a session.
func (c *Client) act(ctx context.Context, id parley.SessionID, what, want string, body, out any) error {
	_, err := c.call(ctx, request{method: http.MethodPost, path: at("api", "sessions", string(id), what), body: body, want: want}, out)
	return err
}

// Rewound is what a rewind took back.
type Rewound struct {
	Turns int `json:"turns_undone"`
	// Text is what people had said in the first of the turns, to be said again in
	// other words.
	Text string `json:"target_text"`
}

// Rewind takes the last turns out of the model's sight. They stay in the log.
func (c *Client) Rewind(ctx context.Context, id parley.SessionID, turns int) (Rewound, error) {
	var out Rewound
	err := c.act(ctx, id, "rewind", "turns_undone", struct {
		Turns int `json:"turns"`
	}{turns}, &out)
	return out, err
}

// RewindTo takes the turns after an event out of the model's sight.
func (c *Client) RewindTo(ctx context.Context, id parley.SessionID, seq uint64) (Rewound, error) {
	var out Rewound
	err := c.act(ctx, id, "rewind", "turns_undone", struct {
		Seq uint64 `json:"to_seq"`
	}{seq}, &out)
	return out, err
}

// Redact takes away what somebody wrote in some events, for good. For owners.
func (c *Client) Redact(ctx context.Context, id parley.SessionID, seqs []uint64, reason string) error {
	return c.act(ctx, id, "redact", "redacted", struct {
		Seqs   []uint64 `json:"seqs"`
		Reason string   `json:"reason,omitempty"`
	}{seqs, reason}, nil)
}

// Approvals gives the questions that wait for an answer, in the sessions that the
// caller sees.
func (c *Client) Approvals(ctx context.Context) ([]parley.Approval, error) {
	var out struct {
		Approvals []struct {
			Session     parley.SessionID     `json:"session_id"`
			Turn        parley.TurnID        `json:"turn_id"`
			Call        parley.CallID        `json:"call_id"`
			Tool        string               `json:"tool"`
			State       parley.ApprovalState `json:"state"`
			Default     parley.ApprovalState `json:"default"`
			Deadline    time.Time            `json:"deadline"`
			RequestedAt time.Time            `json:"requested_at"`
		} `json:"approvals"`
	}
	if _, err := c.call(ctx, request{method: http.MethodGet, path: at("api", "approvals"), want: "approvals"}, &out); err != nil {
		return nil, err
	}
	list := make([]parley.Approval, len(out.Approvals))
	for i, a := range out.Approvals {
		list[i] = parley.Approval{
			Session: a.Session, Turn: a.Turn, Call: a.Call, Tool: a.Tool, State: a.State, Default: a.Default,
			Deadline: a.Deadline, RequestedAt: a.RequestedAt,
		}
	}
	return list, nil
}

// Remember says how long an approval holds.
type Remember string

// How long an approval holds.
const (
	RememberOnce    Remember = "once"
	RememberSession Remember = "session" // the tool is allowed in this session from then on
)

// Approve answers whether a call may run. What was answered before is
// [parley.CodeConflict], with the outcome in a [RemoteError].
func (c *Client) Approve(ctx context.Context, id parley.SessionID, call parley.CallID, allow bool, remember Remember) error {
	decision := "deny"
	if allow {
		decision = "approve"
	}
	body := struct {
		Decision string   `json:"decision"`
		Remember Remember `json:"remember,omitempty"`
	}{decision, remember}
	_, err := c.call(ctx, request{method: http.MethodPost, path: at("api", "sessions", string(id), "approvals", string(call)), body: body, want: "resolved"}, nil)
	return err
}

// Participants gives who takes part in a session.
func (c *Client) Participants(ctx context.Context, id parley.SessionID) ([]parley.Identity, error) {
	var out struct {
		Participants []parley.Identity `json:"participants"`
	}
	_, err := c.call(ctx, request{method: http.MethodGet, path: at("api", "sessions", string(id), "participants"), want: "participants"}, &out)
	return out.Participants, err
}

// SetParticipant lets somebody take part in a session, or no more. For owners.
func (c *Client) SetParticipant(ctx context.Context, id parley.SessionID, who parley.IdentityID, takesPart bool) error {
	path := at("api", "sessions", string(id), "participants")
	r := request{method: http.MethodPost, path: path, body: struct {
		Identity parley.IdentityID `json:"identity"`
	}{who}}
	if !takesPart {
		r = request{method: http.MethodDelete, path: append(path, string(who))}
	}
	r.want = "participants"
	_, err := c.call(ctx, r, nil)
	return err
}

// OpenTurn is a turn that is under way, or waits.
type OpenTurn struct {
	Session     parley.SessionID `json:"session_id"`
	Turn        parley.TurnID    `json:"turn_id"`
	Agent       string           `json:"agent"`
	State       parley.TurnState `json:"state"`
	Attempt     int              `json:"attempt"`
	StartedAt   time.Time        `json:"started_at"`
	Tool        string           `json:"tool,omitempty"` // the call that runs; empty: none
	Since       time.Time        `json:"since"`          // of that call, else of the turn
	ParkedUntil time.Time        `json:"parked_until,omitzero"`
	Queued      int              `json:"queued"` // inputs that wait behind it
}

// Turns gives the turns that run or wait, in the sessions that the caller sees.
func (c *Client) Turns(ctx context.Context) ([]OpenTurn, error) {
	var out struct {
		Turns []OpenTurn `json:"turns"`
	}
	_, err := c.call(ctx, request{method: http.MethodGet, path: at("api", "turns"), want: "turns"}, &out)
	return out.Turns, err
}
