package main_test

import (
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// slowScript answers "slow" in two parts, between which there is time for a signal.
const slowScript = `
rules:
  - when: {equals: slow}
    say:
      - "begun, "
      - {delay: 500ms}
      - "and ended"
  - when: {equals: endless}
    say:
      - "begun, "
      - {delay: 10m}
  - say: "the answer"
`

// running posts a text and waits until its turn has begun to answer.
func (d *process) running(session, text string) {
	d.t.Helper()
	live := d.follow("/api/sessions/"+session+"/events?after=0", "")
	d.post("/api/sessions/"+session+"/messages", mustJSON(d.t, map[string]any{"text": text}))
	live.until(d.t, ofReply)
	live.close()
}

// ofReply reports whether it is a piece of a reply that is being written: a delta, or a snapshot for who was
// still catching up when the reply began.
func ofReply(e frame) bool { return e.Type == "session:delta" || e.Type == "session:snapshot" }

func TestServe_Drain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	scripted(t, dir, slowScript, "")
	d := daemonOn(t, dir)
	session := d.open(`{}`)
	live := d.follow("/api/sessions/"+session+"/events?after=0", "")
	var waiting sync.WaitGroup
	waiting.Go(func() {
		got, err := d.try(http.MethodPost, "/api/sessions/"+session+"/messages?wait=30s", `{"text":"slow"}`)
		if err != nil || got.status != http.StatusOK || !strings.Contains(got.body, "and ended") {
			t.Errorf("who waits for the turn gets %v, %v", got, err)
		}
	})
	seen := live.until(t, ofReply)
	d.signal(syscall.SIGTERM)
	d.logs("stopping")
	eventually(t, "a daemon that stops is not ready", func() bool {
		got, err := d.try(http.MethodGet, "/readyz", "")
		return err != nil || got.status == http.StatusServiceUnavailable
	})
	waiting.Wait()
	seen = append(seen, live.rest(t)...)
	if last := seen[len(seen)-1]; last.Type != "session:status" || !strings.Contains(string(last.Data), `"closing"`) {
		t.Errorf("the stream ended with %v", last)
	}
	if status := d.ends(); status != 0 {
		t.Errorf("the daemon ended with status %d", status)
	}
	d = daemonOn(t, dir)
	all := d.messages(session)
	if len(all) != 2 || all[1].text() != "begun, and ended" {
		t.Errorf("the messages are %v", all)
	}
	// Whoever followed goes on from there and has everything once.
	if seen[len(seen)-2].Type != "session:turn_completed" {
		live = d.follow("/api/sessions/"+session+"/events", lastID(seen))
		seen = append(seen, live.until(t, func(e frame) bool { return e.Type == "session:turn_completed" })...)
	}
	checkSeqs(t, seen, d.events(session))
}

func TestServe_DrainIsOver(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	scripted(t, dir, slowScript, "serve: {drain: 50ms}\n")
	d := daemonOn(t, dir)
	session := d.open(`{}`)
	d.running(session, "endless")
	d.stop()
	d = daemonOn(t, dir)
	// The next life takes the turn up again, or closes it: it does not forget it.
	if got := into[sessionBody](t, d.get("/api/sessions/"+session)); got.Session.Status != "running" {
		t.Errorf("the session is %s", got.Session.Status)
	}
	d.post("/api/sessions/"+session+"/cancel", `{}`)
	eventually(t, "the turn is stopped", func() bool {
		return into[sessionBody](t, d.get("/api/sessions/"+session)).Session.Status == "idle"
	})
}

func TestServe_SecondSignal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	scripted(t, dir, slowScript, "serve: {drain: 10m}\n")
	d := daemonOn(t, dir)
	session := d.open(`{}`)
	d.running(session, "endless")
	d.signal(syscall.SIGTERM)
	d.logs("stopping")
	d.signal(syscall.SIGTERM)
	if status := d.ends(); status == 0 {
		t.Error("it ended as if all was done")
	}
	d = daemonOn(t, dir)
	if all := d.messages(session); len(all) == 0 || all[0].text() != "endless" {
		t.Errorf("the messages are %v", all)
	}
	// Also if both come at once. To read the configuration again is no reason to stop.
	d.signal(syscall.SIGTERM)
	d.logs("stopping")
	d.signal(syscall.SIGHUP)
	if got := d.get("/healthz"); got.status != http.StatusOK {
		t.Errorf("the daemon is gone after SIGHUP: %v", got)
	}
	d.kill()
	d = daemonOn(t, dir)
	d.signal(syscall.SIGTERM)
	d.signal(os.Interrupt)
	if status := d.ends(); status == 0 {
		t.Error("it ended as if all was done")
	}
}

func TestServe_Reload(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const script = "rules:\n  - say: \"You are told: ${1}\"\n    when: {matches: '(.*)'}\n"
	scripted(t, dir, script, "")
	d := daemonOn(t, dir)
	before := d.open(`{"agent":"main"}`)
	if got := d.do(http.MethodPost, "/api/sessions", `{"agent":"other"}`); got.status != http.StatusBadRequest {
		t.Errorf("an agent that is not there: %d %s", got.status, got.body)
	}
	// What can be applied is, and what cannot is named.
	put(t, dir, "parley.yaml", `
agents:
  main: {model: scripted/test}
  other: {model: scripted/other}
models: {scripted/test: {script: script.yaml}, scripted/other: {script: other.yaml}}
serve: {drain: 7s}
`)
	put(t, dir, "other.yaml", "rules:\n  - say: I am the other one\n")
	d.signal(syscall.SIGHUP)
	d.logs("the configuration was read again")
	if log := d.err.String(); !strings.Contains(log, "needs_restart=[serve.drain]") || !strings.Contains(log, "agents.other") {
		t.Errorf("it does not say what needs a restart, and what does not:\n%s", log)
	}
	after := d.open(`{"agent":"other"}`)
	if got := d.say(after, "hello").Message.text(); got != "I am the other one" {
		t.Errorf("the new agent says %q", got)
	}
	if got := d.say(before, "hello").Message.text(); got != "You are told: hello" {
		t.Errorf("the old one says %q", got)
	}
	for _, bad := range []string{
		"agents: [", "unknown: 1\n", "agents: {main: {model: scripted/none}}\n", "agents: {main: {model: nobody/x}}\n",
	} {
		lines := strings.Count(d.err.String(), "nothing was changed")
		put(t, dir, "parley.yaml", bad)
		d.signal(syscall.SIGHUP)
		eventually(t, "the bad configuration is complained about", func() bool {
			return strings.Count(d.err.String(), "nothing was changed") == lines+1
		})
		if got := d.say(after, "hello").Message.text(); got != "I am the other one" {
			t.Errorf("after %q it says %q", bad, got)
		}
	}
	d.ready()
}
