package web_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// reader is one event stream, and how far it is.
type reader struct {
	seq    int
	stream string
	n      int
	fresh  bool // it has not been shown the running reply yet
}

// events streams a session's events from a position on. Ids are the position:
// the last event, and the last delta of a reply.
func (a *api) events(w http.ResponseWriter, r *http.Request) {
	if !strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		a.t.Errorf("the events were asked for as %q", r.Header.Get("Accept"))
	}
	id, last := r.PathValue("id"), r.Header.Get("Last-Event-ID")
	a.mu.Lock()
	a.streams++
	a.lastIDs = append(a.lastIDs, last)
	known := a.find(id) != nil
	resync := a.resync[id]
	delete(a.resync, id)
	cut := a.cut
	a.mu.Unlock()
	if !known {
		problem(w, refusal{status: http.StatusNotFound, code: "not_found", message: "there is no such session"})
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	flush := http.NewResponseController(w)
	_, _ = fmt.Fprint(w, "retry: 50\n: hello\n\n")
	_ = flush.Flush()
	if resync {
		write(w, "", dict{"type": "session:resync", "session_id": id, "data": dict{"reason": "unknown_position"}})
		return
	}
	at := a.position(last, r.URL.Query().Get("after"))
	for {
		a.mu.Lock()
		batch := a.pending(a.find(id), &at)
		changed := a.changed
		a.mu.Unlock()
		for _, e := range batch {
			write(w, e.id, e.event)
		}
		_ = flush.Flush()
		select {
		case <-changed:
		case <-cut:
			return
		case <-r.Context().Done():
			return
		}
	}
}

// position reads where to go on from.
func (a *api) position(last, after string) reader {
	at := reader{fresh: true}
	fields := strings.Split(last, "|")
	var err error
	if len(fields) == 3 {
		at.seq, err = strconv.Atoi(fields[0])
		at.stream = fields[1]
		at.n, _ = strconv.Atoi(fields[2])
	} else {
		at.seq, err = strconv.Atoi(cmp.Or(after, "0"))
	}
	if err != nil {
		a.t.Errorf("position %q, after %q: %v", last, after, err)
	}
	return at
}

type outgoing struct {
	id    string
	event dict
}

func (at *reader) name() string { return fmt.Sprintf("%d|%s|%d", at.seq, at.stream, at.n) }

// pending gives what a reader has not had, and moves it on. The caller has the
// lock.
func (a *api) pending(s *session, at *reader) []outgoing {
	var out []outgoing
	for _, e := range s.events[at.seq:] {
		at.seq = e["seq"].(int)
		out = append(out, outgoing{at.name(), e})
	}
	defer func() { at.fresh = false }()
	if s.stream == "" || len(s.deltas) == 0 {
		return out
	}
	envelope := func(kind string, data dict) dict {
		return dict{"type": kind, "session_id": s.id, "at": s.updated, "data": data}
	}
	if at.fresh && (at.stream != s.stream || a.rough) {
		var text strings.Builder
		for _, d := range s.deltas {
			text.WriteString(d["text"].(string))
		}
		at.stream, at.n = s.stream, len(s.deltas)
		parts := []dict{{"type": "text", "text": text.String()}}
		return append(out, outgoing{at.name(), envelope("session:snapshot", dict{"stream": s.stream, "n": at.n, "parts": parts})})
	}
	if at.stream != s.stream {
		at.stream, at.n = s.stream, 0
	}
	for _, d := range s.deltas[at.n:] {
		at.n++
		if a.skip == at.n {
			a.skip = 0
			continue
		}
		out = append(out, outgoing{at.name(), envelope("session:delta", d)})
	}
	return out
}

func write(w http.ResponseWriter, id string, event dict) {
	data, err := json.Marshal(event)
	if err != nil {
		panic(err)
	}
	if id != "" {
		_, _ = fmt.Fprintf(w, "id: %s\n", id)
	}
	_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event["type"], data)
}
