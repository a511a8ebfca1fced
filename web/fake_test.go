package web_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-run/parley/web"
)

type dict = map[string]any

// api is the HTTP API of a daemon whose agent is the test: it keeps sessions,
// takes messages in once, and streams events with positions, deltas and
// snapshots, as the real one does. What goes wrong is said by the test.
type api struct {
	t   *testing.T
	url string

	mu        sync.Mutex
	changed   chan struct{} // closed and made anew at each change
	cut       chan struct{} // closed to drop the streams that are open
	sessions  []*session
	approvals []dict
	decided   map[string]string
	canceled  []string
	posts     int             // how many posts of messages came, also in vain
	streams   int             // how many streams were asked for
	lastIDs   []string        // the Last-Event-ID of each
	signedOut bool            //
	down      bool            // no answer to anything of the API
	lose      int             // carry out this many posts and drop the answer
	refuse    []refusal       // what the next posts are refused with
	resync    map[string]bool // sessions whose next stream cannot go on
	skip      int             // leave out the delta with this number, once
	rough     bool            // positions inside of a reply are forgotten: only snapshots
}

type refusal struct {
	status        int
	code, message string
	after         int
	details       dict
}

type session struct {
	id, title, preview, status string
	queued                     int
	updated                    time.Time
	events                     []dict
	inputs                     []string
	stream                     string
	deltas                     []dict
}

var start = time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC)

// newAPI starts the API and the page on loopback.
func newAPI(t *testing.T) *api {
	t.Helper()
	a := &api{t: t, changed: make(chan struct{}), cut: make(chan struct{}), decided: map[string]string{}, resync: map[string]bool{}}
	mux := http.NewServeMux()
	mux.Handle("/", web.Handler())
	for pattern, serve := range map[string]func(http.ResponseWriter, *http.Request){
		"GET /api/sessions":                        a.list,
		"POST /api/sessions":                       a.create,
		"GET /api/sessions/{id}":                   a.one,
		"GET /api/sessions/{id}/messages":          a.messages,
		"POST /api/sessions/{id}/messages":         a.post,
		"GET /api/sessions/{id}/events":            a.events,
		"POST /api/sessions/{id}/cancel":           a.cancel,
		"DELETE /api/sessions/{id}/inputs/{input}": a.withdraw,
		"GET /api/approvals":                       a.asked,
		"POST /api/sessions/{id}/approvals/{call}": a.decide,
		"POST /logout":                             a.logout,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			a.mu.Lock()
			signedOut, down := a.signedOut, a.down
			a.mu.Unlock()
			switch {
			case down:
				panic(http.ErrAbortHandler)
			case signedOut:
				problem(w, refusal{status: http.StatusUnauthorized, code: "unauthorized", message: "sign in first"})
			default:
				serve(w, r)
			}
		})
	}
	server := httptest.NewServer(mux)
	a.url = server.URL
	t.Cleanup(func() {
		a.dropStreams()
		server.CloseClientConnections()
		server.Close()
	})
	return a
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func problem(w http.ResponseWriter, r refusal) {
	if r.after > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(r.after))
	}
	e := dict{"code": r.code, "message": r.message}
	if r.details != nil {
		e["details"] = r.details
	}
	answer(w, r.status, dict{"error": e})
}

// find gives a session. The caller has the lock.
func (a *api) find(id string) *session {
	i := slices.IndexFunc(a.sessions, func(s *session) bool { return s.id == id })
	if i < 0 {
		return nil
	}
	return a.sessions[i]
}

// with runs f on the session of a request, under the lock.
func (a *api) with(w http.ResponseWriter, r *http.Request, f func(s *session)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.find(r.PathValue("id"))
	if s == nil {
		problem(w, refusal{status: http.StatusNotFound, code: "not_found", message: "there is no such session"})
		return
	}
	f(s)
}

func (s *session) view() dict {
	return dict{
		"id": s.id, "status": s.status, "queued": s.queued, "title": s.title, "preview": s.preview,
		"last_seq": len(s.events), "updated_at": s.updated.Format(time.RFC3339), "source": dict{"kind": "web", "interactive": true},
	}
}

func (a *api) list(w http.ResponseWriter, _ *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	views := []dict{}
	for _, s := range slices.SortedFunc(slices.Values(a.sessions), func(x, y *session) int { return y.updated.Compare(x.updated) }) {
		views = append(views, s.view())
	}
	answer(w, http.StatusOK, dict{"sessions": views})
}

func (a *api) create(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Source struct {
			Kind        string `json:"kind"`
			Interactive bool   `json:"interactive"`
		} `json:"source"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || body.Source.Kind != "web" || !body.Source.Interactive {
		problem(w, refusal{status: http.StatusBadRequest, code: "invalid", message: "the source is wrong"})
		return
	}
	id := a.session("", "")
	a.mu.Lock()
	defer a.mu.Unlock()
	answer(w, http.StatusCreated, dict{"session": a.find(id).view()})
}

func (a *api) one(w http.ResponseWriter, r *http.Request) {
	a.with(w, r, func(s *session) { answer(w, http.StatusOK, dict{"session": s.view()}) })
}

// messages pages backwards; the cursor is the seq that the page before began at.
func (a *api) messages(w http.ResponseWriter, r *http.Request) {
	limit, err := strconv.Atoi(cmp.Or(r.URL.Query().Get("limit"), "20"))
	if err != nil {
		a.t.Errorf("limit: %v", err)
	}
	a.with(w, r, func(s *session) {
		before, err := strconv.Atoi(cmp.Or(r.URL.Query().Get("cursor"), "1000000"))
		if err != nil {
			a.t.Errorf("cursor: %v", err)
		}
		found := []dict{}
		cursor := ""
		for _, e := range slices.Backward(s.events) {
			if e["type"] != "session:message" || e["seq"].(int) >= before {
				continue
			}
			if len(found) == limit {
				cursor = strconv.Itoa(found[0]["seq"].(int))
				break
			}
			m := dict{"seq": e["seq"], "at": e["at"], "turn_id": e["turn_id"]}
			maps.Copy(m, e["data"].(dict))
			found = slices.Insert(found, 0, m)
		}
		answer(w, http.StatusOK, dict{"messages": found, "cursor": cursor})
	})
}

// post takes a message in, once for each input id.
func (a *api) post(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Text  string `json:"text"`
		Input string `json:"input_id"`
	}
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(&body); err != nil || body.Input == "" || body.Text == "" {
		problem(w, refusal{status: http.StatusBadRequest, code: "invalid", message: "the message is wrong"})
		return
	}
	a.with(w, r, func(s *session) {
		a.posts++
		if len(a.refuse) > 0 {
			no := a.refuse[0]
			a.refuse = a.refuse[1:]
			problem(w, no)
			return
		}
		duplicate := slices.Contains(s.inputs, body.Input)
		kind, state := "message", "running"
		if s.status != "idle" {
			state = "queued"
		}
		if strings.HasPrefix(body.Text, "/") {
			kind, state = "command", "command"
		}
		if !duplicate {
			s.inputs = append(s.inputs, body.Input)
			a.store(s, "session:input", "", dict{
				"input_id": body.Input, "origin": "local:owner/" + s.id, "kind": kind,
				"parts": []dict{{"type": "text", "text": body.Text}},
			})
			if state == "queued" {
				s.queued++
			}
		}
		if a.lose > 0 {
			a.lose--
			panic(http.ErrAbortHandler)
		}
		answer(w, http.StatusAccepted, dict{"input_id": body.Input, "state": state, "position": s.queued, "duplicate": duplicate})
	})
}

func (a *api) cancel(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Turn string `json:"turn_id"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		a.t.Errorf("cancel: %v", err)
	}
	a.with(w, r, func(s *session) {
		a.canceled = append(a.canceled, body.Turn)
		if s.status != "idle" {
			a.store(s, "session:turn_completed", body.Turn, dict{"stop_reason": "aborted", "usage": dict{}})
		}
		answer(w, http.StatusOK, dict{"canceled": true})
	})
}

func (a *api) withdraw(w http.ResponseWriter, r *http.Request) {
	a.with(w, r, func(s *session) {
		s.queued--
		a.tell()
		answer(w, http.StatusOK, dict{"withdrawn": true})
	})
}

func (a *api) logout(w http.ResponseWriter, _ *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.signedOut = true
	w.WriteHeader(http.StatusNoContent)
}

func (a *api) asked(w http.ResponseWriter, _ *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	answer(w, http.StatusOK, dict{"approvals": append([]dict{}, a.approvals...)})
}

func (a *api) decide(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Decision string `json:"decision"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		a.t.Errorf("decide: %v", err)
	}
	call := r.PathValue("call")
	a.with(w, r, func(s *session) {
		state := map[string]string{"approve": "approved", "deny": "denied"}[body.Decision]
		if was, done := a.decided[call]; done {
			problem(w, refusal{
				status: http.StatusConflict, code: "conflict", message: "this call was " + was + " already",
				details: dict{"outcome": was},
			})
			return
		}
		a.decided[call] = state
		a.approvals = slices.DeleteFunc(a.approvals, func(d dict) bool { return d["call_id"] == call })
		a.store(s, "session:approval_resolved", "", dict{"call_id": call, "state": state})
		answer(w, http.StatusOK, dict{"resolved": true})
	})
}

// --- what the test lets happen

// tell wakes the streams. The caller has the lock.
func (a *api) tell() {
	close(a.changed)
	a.changed = make(chan struct{})
}

// store appends an event. The caller has the lock.
func (a *api) store(s *session, kind, turn string, data dict) int {
	seq := len(s.events) + 1
	s.updated = start.Add(time.Duration(seq) * time.Minute)
	e := dict{"type": kind, "session_id": s.id, "seq": seq, "at": s.updated.Format(time.RFC3339), "data": data}
	if turn != "" {
		e["turn_id"] = turn
	}
	switch kind {
	case "session:turn_started":
		s.status = "running"
		s.stream, s.deltas = "", nil
	case "session:turn_completed":
		s.status = "idle"
		s.stream, s.deltas = "", nil
	case "session:approval_requested":
		s.status = "awaiting_approval"
	case "session:message":
		if data["id"] == s.stream {
			s.stream, s.deltas = "", nil
		}
	}
	s.events = append(s.events, e)
	a.tell()
	return seq
}

// session makes a session and gives its id.
func (a *api) session(title, preview string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := &session{id: fmt.Sprintf("web:s%d", len(a.sessions)+1), title: title, preview: preview, status: "idle"}
	a.sessions = append(a.sessions, s)
	a.store(s, "session:started", "", dict{"agent": "main", "source": dict{"kind": "web", "interactive": true}})
	return s.id
}

// append stores an event.
func (a *api) append(id, kind, turn string, data dict) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.store(a.find(id), kind, turn, data)
}

// message stores a message of texts.
func (a *api) message(id, message, role, text string) {
	a.append(id, "session:message", "t1", dict{"id": message, "role": role, "parts": []dict{{"type": "text", "text": text}}})
}

// take starts a turn for the oldest input that waits.
func (a *api) take(id, turn string, input int, text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.find(id)
	s.queued = max(0, s.queued-1)
	a.store(s, "session:turn_started", turn, dict{"attempt": 1})
	a.store(s, "session:message", turn, dict{
		"id": fmt.Sprintf("m%d", input), "role": "user", "input_ids": []string{s.inputs[input]},
		"parts": []dict{{"type": "text", "text": "The time is 9:30.", "note": true}, {"type": "text", "text": text}},
	})
}

// delta goes on with a reply.
func (a *api) delta(id, stream string, texts ...string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.find(id)
	if s.stream != stream {
		s.stream, s.deltas = stream, nil
	}
	for _, text := range texts {
		s.deltas = append(s.deltas, dict{"stream": stream, "n": len(s.deltas) + 1, "kind": "text", "text": text})
	}
	a.tell()
}

// set changes how the API behaves.
func (a *api) set(f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f()
	a.tell()
}

// dropStreams cuts the connections of the streams.
func (a *api) dropStreams() {
	a.mu.Lock()
	defer a.mu.Unlock()
	close(a.cut)
	a.cut = make(chan struct{})
}

// see reads how the API was used.
func see[T any](a *api, f func() T) T {
	a.mu.Lock()
	defer a.mu.Unlock()
	return f()
}
