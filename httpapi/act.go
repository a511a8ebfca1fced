package httpapi

import (
	"errors"
	"net/http"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/engine"
)

func (s *Server) actRoutes() {
	add(s, onSession(access.OpCancel), endpoint[cancelIn, cancelOut]{
		method: http.MethodPost, path: "/api/sessions/{id}/cancel", name: "cancelTurn",
		summary: "Stop a turn, or the one that is open. It is durable when the answer comes.", do: (*call).cancel,
	})
	add(s, onSession(access.OpReset), endpoint[resetIn, sessionOut]{
		method: http.MethodPost, path: "/api/sessions/{id}/reset", name: "resetSession",
		summary: "End the session and start its key's next one, which is the answer. What was said stays.", do: (*call).reset,
	})
	add(s, onSession(access.OpResume), endpoint[sessionIn, sessionOut]{
		method: http.MethodPost, path: "/api/sessions/{id}/resume", name: "resumeSession",
		summary: "Make this session its key's current one again.", do: (*call).resume,
	})
	add(s, onSession(access.OpFork), endpoint[forkIn, sessionOut]{
		method: http.MethodPost, path: "/api/sessions/{id}/fork", name: "forkSession", status: http.StatusCreated,
		summary: "Go on from a point of the session in another one, which is the answer.", do: (*call).fork,
	})
	add(s, onSession(access.OpRewind), endpoint[rewindIn, rewindOut]{
		method: http.MethodPost, path: "/api/sessions/{id}/rewind", name: "rewindSession",
		summary: "Take the last turns out of the model's sight. They stay in the log.", do: (*call).rewind,
	})
	add(s, onSession(access.OpRedact), endpoint[redactIn, redactOut]{
		method: http.MethodPost, path: "/api/sessions/{id}/redact", name: "redactEvents",
		summary: "Take away what somebody wrote in some events, for good. A tombstone stays. For owners.", do: (*call).redact,
	})
	add(s, signedIn, endpoint[none, approvalsOut]{
		method: http.MethodGet, path: "/api/approvals", name: "listApprovals",
		summary: "The questions that wait for an answer, in the sessions that the caller sees.", do: (*call).approvals,
	})
	add(s, onSession(access.OpApprove), endpoint[approveIn, approveOut]{
		method: http.MethodPost, path: "/api/sessions/{id}/approvals/{call_id}", name: "answerApproval",
		summary: "Answer whether a call may run. What was answered before is a conflict, with the outcome in its details.", do: (*call).approve,
	})
	add(s, onSession(access.OpRead), endpoint[sessionIn, participantsOut]{
		method: http.MethodGet, path: "/api/sessions/{id}/participants", name: "listParticipants",
		summary: "Who takes part in a session.", do: (*call).participants,
	})
	add(s, onSession(access.OpParticipants), endpoint[participantIn, participantsOut]{
		method: http.MethodPost, path: "/api/sessions/{id}/participants", name: "addParticipant",
		summary: "Let somebody take part. For owners.", do: (*call).addParticipant,
	})
	add(s, onSession(access.OpParticipants), endpoint[leaverIn, participantsOut]{
		method: http.MethodDelete, path: "/api/sessions/{id}/participants/{identity}", name: "removeParticipant",
		summary: "Somebody takes part no more; streams of theirs that follow the session end. For owners.", do: (*call).removeParticipant,
	})
	add(s, signedIn, endpoint[none, turnsOut]{
		method: http.MethodGet, path: "/api/turns", name: "listTurns",
		summary: "The turns that run or wait, in the sessions that the caller sees.", do: (*call).turns,
	})
}

type cancelIn struct {
	ID   parley.SessionID `path:"id" json:"-" jsonschema:"the session"`
	Turn parley.TurnID    `json:"turn_id,omitempty" jsonschema:"the turn to stop; the open one if it is not given"`
}

type cancelOut struct {
	Canceled bool `json:"canceled" jsonschema:"false: there was nothing to stop"`
}

func (c *call) cancel(in *cancelIn) (cancelOut, error) {
	ok, err := c.handle().Cancel(c.r.Context(), in.ID, in.Turn)
	return cancelOut{Canceled: ok}, err
}

type resetIn struct {
	ID    parley.SessionID `path:"id" json:"-" jsonschema:"the session"`
	Title string           `json:"title,omitempty" jsonschema:"of the next one"`
}

func (c *call) reset(in *resetIn) (sessionOut, error) {
	s, err := c.handle().Reset(c.r.Context(), in.ID, engine.Anew{Title: in.Title})
	return sessionOut{Session: viewSession(s)}, err
}

func (c *call) resume(in *sessionIn) (sessionOut, error) {
	s, err := c.handle().Resume(c.r.Context(), in.ID)
	return sessionOut{Session: viewSession(s)}, err
}

type forkIn struct {
	ID parley.SessionID `path:"id" json:"-" jsonschema:"the session"`
	At uint64           `json:"at_seq,omitempty" jsonschema:"the last event that both share; the last there is if it is not given"`
}

func (c *call) fork(in *forkIn) (sessionOut, error) {
	s, err := c.handle().Fork(c.r.Context(), in.ID, in.At)
	return sessionOut{Session: viewSession(s)}, err
}

type rewindIn struct {
	ID    parley.SessionID `path:"id" json:"-" jsonschema:"the session"`
	Turns *int             `json:"turns,omitempty" jsonschema:"how many"`
	ToSeq *uint64          `json:"to_seq,omitempty" jsonschema:"in place of turns: the last event that stays in sight"`
}

type rewindOut struct {
	Turns int    `json:"turns_undone"`
	Text  string `json:"target_text" jsonschema:"what people had said in the first of them, to be said again in other words"`
}

func (c *call) rewind(in *rewindIn) (rewindOut, error) {
	var done engine.Rewound
	var err error
	switch {
	case (in.Turns == nil) == (in.ToSeq == nil):
		return rewindOut{}, invalidf("give turns or to_seq")
	case in.Turns != nil:
		if *in.Turns < 1 {
			return rewindOut{}, invalidf("turns must be 1 or more")
		}
		done, err = c.handle().Rewind(c.r.Context(), in.ID, *in.Turns)
	default:
		done, err = c.handle().RewindTo(c.r.Context(), in.ID, *in.ToSeq)
	}
	return rewindOut{Turns: done.Turns, Text: done.Text}, err
}

type redactIn struct {
	ID     parley.SessionID `path:"id" json:"-" jsonschema:"the session"`
	Seqs   []uint64         `json:"seqs" jsonschema:"the events"`
	Reason string           `json:"reason,omitempty" jsonschema:"stays in the log"`
}

type redactOut struct {
	Redacted int `json:"redacted" jsonschema:"how many events"`
}

func (c *call) redact(in *redactIn) (redactOut, error) {
	if len(in.Seqs) == 0 {
		return redactOut{}, invalidf("seqs is missing: name the events")
	}
	err := c.handle().Redact(c.r.Context(), in.ID, in.Seqs, in.Reason)
	return redactOut{Redacted: len(in.Seqs)}, err
}

type approvalsOut struct {
	Approvals []approvalView `json:"approvals"`
}

type approvalView struct {
	Session     parley.SessionID     `json:"session_id"`
	Turn        parley.TurnID        `json:"turn_id"`
	Call        parley.CallID        `json:"call_id"`
	Tool        string               `json:"tool"`
	State       parley.ApprovalState `json:"state"`
	Default     parley.ApprovalState `json:"default" jsonschema:"the answer at the deadline"`
	Deadline    time.Time            `json:"deadline,omitzero"`
	RequestedAt time.Time            `json:"requested_at"`
}

func (c *call) approvals(_ *none) (approvalsOut, error) {
	list, err := c.handle().Approvals(c.r.Context())
	out := approvalsOut{Approvals: make([]approvalView, 0, len(list))}
	for _, a := range list {
		out.Approvals = append(out.Approvals, approvalView{
			Session: a.Session, Turn: a.Turn, Call: a.Call, Tool: a.Tool, State: a.State, Default: a.Default,
			Deadline: a.Deadline.UTC(), RequestedAt: a.RequestedAt.UTC(),
		})
	}
	return out, err
}

type approveIn struct {
	ID       parley.SessionID `path:"id" json:"-" jsonschema:"the session"`
	Call     parley.CallID    `path:"call_id" json:"-" jsonschema:"the call"`
	Decision string           `json:"decision" jsonschema:"approve or deny"`
	Remember engine.Remember  `json:"remember,omitempty" jsonschema:"once, or session: the tool is allowed in this session from then on"`
}

type approveOut struct {
	Resolved bool `json:"resolved"`
}

func (c *call) approve(in *approveIn) (approveOut, error) {
	if in.Decision != "approve" && in.Decision != "deny" {
		return approveOut{}, invalidf("decision must be approve or deny, not %q", cut(in.Decision))
	}
	switch in.Remember {
	case "", engine.RememberOnce, engine.RememberSession:
	default:
		return approveOut{}, invalidf("remember must be once or session, not %q", cut(string(in.Remember)))
	}
	err := c.handle().Approve(c.r.Context(), in.ID, in.Call, in.Decision == "approve", in.Remember)
	if errors.Is(err, parley.ErrConflict) {
		err = c.outcome(in, err)
	}
	return approveOut{Resolved: err == nil}, err
}

// outcome adds what was decided to the error of an answer that came too late. It
// stands in the last part of the log, or nobody asks any more.
func (c *call) outcome(in *approveIn, late error) error {
	const look = 500
	session, err := c.handle().Session(c.r.Context(), in.ID)
	if err != nil {
		return late
	}
	events, err := c.handle().Log(c.r.Context(), in.ID, session.LastSeq-min(session.LastSeq, look), look)
	if err != nil {
		return late
	}
	for i := range events {
		if events[i].Type != parley.EventApprovalResolved {
			continue
		}
		body, err := events[i].Decode()
		if err != nil {
			continue
		}
		if b, ok := body.(*parley.ApprovalResolved); ok && b.Call == in.Call {
			late = &detailedError{err: late, details: map[string]any{"outcome": b.State}}
		}
	}
	return late
}

type participantsOut struct {
	Participants []parley.Identity `json:"participants"`
}

func (c *call) participants(in *sessionIn) (participantsOut, error) {
	list, err := c.handle().Participants(c.r.Context(), in.ID)
	if list == nil {
		list = []parley.Identity{}
	}
	return participantsOut{Participants: list}, err
}

type participantIn struct {
	ID       parley.SessionID  `path:"id" json:"-" jsonschema:"the session"`
	Identity parley.IdentityID `json:"identity" jsonschema:"<channel>:<id>, such as telegram:7"`
}

func (c *call) addParticipant(in *participantIn) (participantsOut, error) {
	if err := c.handle().SetParticipant(c.r.Context(), in.ID, in.Identity, true); err != nil {
		return participantsOut{}, err
	}
	return c.participants(&sessionIn{ID: in.ID})
}

type leaverIn struct {
	ID       parley.SessionID  `path:"id" json:"-" jsonschema:"the session"`
	Identity parley.IdentityID `path:"identity" json:"-" jsonschema:"<channel>:<id>, such as telegram:7"`
}

func (c *call) removeParticipant(in *leaverIn) (participantsOut, error) {
	if err := c.handle().SetParticipant(c.r.Context(), in.ID, in.Identity, false); err != nil {
		return participantsOut{}, err
	}
	return c.participants(&sessionIn{ID: in.ID})
}

type turnsOut struct {
	Turns []turnView `json:"turns"`
}

// turnView is a turn that is under way.
type turnView struct {
	Session     parley.SessionID `json:"session_id"`
	Turn        parley.TurnID    `json:"turn_id"`
	Agent       string           `json:"agent"`
	State       parley.TurnState `json:"state"`
	Attempt     int              `json:"attempt"`
	StartedAt   time.Time        `json:"started_at"`
	Tool        string           `json:"tool,omitempty" jsonschema:"the call that runs"`
	Since       time.Time        `json:"since" jsonschema:"when that call began, else the turn"`
	ParkedUntil time.Time        `json:"parked_until,omitzero"`
	Queued      int              `json:"queued" jsonschema:"how many messages wait behind it"`
}

func (c *call) turns(_ *none) (turnsOut, error) {
	list, err := c.handle().Turns(c.r.Context())
	out := turnsOut{Turns: make([]turnView, 0, len(list))}
	for i := range list {
		t := &list[i]
		out.Turns = append(out.Turns, turnView{
			Session: t.Session, Turn: t.ID, Agent: t.Agent, State: t.State, Attempt: t.Attempt, StartedAt: t.StartedAt.UTC(),
			Tool: t.Tool, Since: t.Since.UTC(), ParkedUntil: t.ParkedUntil.UTC(), Queued: t.Queued,
		})
	}
	return out, err
}
