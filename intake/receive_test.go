package intake_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/channel"
	"github.com/parley-run/parley/route"
)

func TestReceive(t *testing.T) {
	t.Parallel()
	w := newWorld(t, settings{})
	m := direct("10", "1", "hello")
	m.ReplyTo = "9"
	w.receive(m)
	s := w.session()
	w.later()
	if got := w.said(s.ID, 1); !slices.Equal(got, []string{"re: hello"}) {
		t.Errorf("got %q", got)
	}
	if s.Type != parley.SessionDirect || s.Source != (parley.Source{Kind: "channel", Platform: "telegram", Interactive: true}) || s.ID.Namespace() != "telegram" {
		t.Errorf("got %+v", s)
	}
	in, err := w.Store.Input(t.Context(), parley.SeeAll(), parley.InputRef{Origin: "telegram/default/1", ID: "10"})
	if err != nil {
		t.Fatal(err)
	}
	want := parley.Target{Channel: "telegram", Chat: "1"}
	if in.Target == nil || *in.Target != want || in.ReplyTo != "9" || in.MessageID != "10" || in.Principal.Role != parley.RoleOwner || in.Principal.Via != "channel" {
		t.Errorf("got %+v, target %+v", in, in.Target)
	}
}

// TestOnce: what a platform gives twice, out of order, or again after it lost its
// place is taken once, also after the conversation started anew.
func TestOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, settings{})
	a, b, c := direct("10", "1", "a"), direct("11", "1", "b"), direct("12", "1", "c")
	w.receive(b, a, b, a, c, a)
	first := w.session()
	w.later()
	w.said(first.ID, 1)
	w.receive(direct("13", "1", "/new"))
	w.receive(a, b, c, direct("13", "1", "/new"), c)
	if got := len(w.sessions()); got != 2 {
		t.Errorf("there are %d sessions", got)
	}
	if got, want := w.inputs(first.ID), map[string]parley.InputState{"10": "done", "11": "done", "12": "done", "13": "command"}; !maps.Equal(got, want) {
		t.Errorf("got %v", got)
	}
	for _, s := range w.sessions() {
		if s.ID != first.ID && len(w.inputs(s.ID)) != 0 {
			t.Errorf("the next session has %v", w.inputs(s.ID))
		}
	}
}

// TestOtherWords: an id that comes with other words is not taken, and in nobody's way.
func TestOtherWords(t *testing.T) {
	t.Parallel()
	w := newWorld(t, settings{})
	w.receive(direct("10", "1", "a"), direct("10", "1", "b"))
	w.silent()
	if got := w.inputs(w.session().ID); !maps.Equal(got, map[string]parley.InputState{"10": "queued"}) {
		t.Errorf("got %v", got)
	}
}

func TestEdits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, settings{})
	edit := direct("10", "1", "four")
	edit.Edit = "1700000000"
	command := direct("11", "1", "/new")
	command.Edit = "1700000001"
	w.receive(direct("10", "1", "for"), edit, edit, command)
	s := w.session()
	w.later()
	if got := w.said(s.ID, 1); !slices.Equal(got, []string{"re: for + (edited) four"}) {
		t.Errorf("got %q", got)
	}
	if got := w.inputs(s.ID); !maps.Equal(got, map[string]parley.InputState{"10": "done", "10.e1700000000": "done"}) {
		t.Errorf("got %v", got)
	}
}

func TestBursts(t *testing.T) {
	t.Parallel()
	t.Run("one turn", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, settings{})
		forward := direct("12", "1", "said elsewhere")
		forward.Forwarded = true
		for _, m := range []channel.Received{direct("10", "1", "look"), direct("11", "1", "at this:"), forward} {
			w.receive(m)
			w.Clock.Advance(time.Second)
		}
		w.later()
		if got := w.said(w.session().ID, 1); !slices.Equal(got, []string{"re: look + at this: + said elsewhere"}) {
			t.Errorf("got %q", got)
		}
	})
	t.Run("none", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, settings{pause: -1})
		w.receive(direct("10", "1", "a"))
		if got := w.said(w.session().ID, 1); !slices.Equal(got, []string{"re: a"}) {
			t.Errorf("got %q", got)
		}
		for _, id := range []string{"11", "12"} { // an album is one thing all the same
			m := direct(id, "1", id)
			m.Album = "77"
			w.receive(m)
		}
		w.later()
		if got := w.said(w.session().ID, 2); !slices.Equal(got, []string{"re: a", "re: 11 + 12"}) {
			t.Errorf("got %q", got)
		}
	})
	t.Run("two turns", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, settings{})
		w.receive(direct("10", "1", "a"))
		w.later()
		w.said(w.session().ID, 1)
		w.receive(direct("11", "1", "b"))
		w.later()
		if got := w.said(w.session().ID, 2); !slices.Equal(got, []string{"re: a", "re: b"}) {
			t.Errorf("got %q", got)
		}
	})
	t.Run("commands pass", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, settings{})
		w.receive(direct("10", "1", "a"), direct("11", "1", "/title Trip"), direct("12", "1", "b"), direct("13", "1", "/start"))
		want := map[string]parley.InputState{"10": "queued", "11": "command", "12": "queued", "13": "command"}
		if got := w.inputs(w.session().ID); !maps.Equal(got, want) {
			t.Errorf("got %v", got)
		}
		w.later()
		if got := w.said(w.session().ID, 1); got[len(got)-1] != "re: a + b" {
			t.Errorf("got %q", got)
		}
	})
}

// TestCommandsForBots: a command that names another bot is none for us.
func TestCommandsForBots(t *testing.T) {
	t.Parallel()
	w := newWorld(t, settings{})
	w.user("telegram:2", "Bob", parley.RoleUser)
	w.receive(
		inGroup("10", "2", "/title@other_bot A", false), inGroup("11", "2", "/title@our_bot B", true),
		inGroup("12", "2", "/weather", false), inGroup("13", "2", "/status", false),
	)
	want := map[string]parley.InputState{"10": "logged", "11": "command", "12": "logged", "13": "command"}
	if got := w.inputs(w.session().ID); !maps.Equal(got, want) {
		t.Errorf("got %v", got)
	}
	if got := w.session().Title.Text; got != "B" {
		t.Errorf("the title is %q", got)
	}
}

// TestPerPerson: where everybody in a group has a conversation of their own, the rules
// of groups hold all the same.
func TestPerPerson(t *testing.T) {
	t.Parallel()
	w := newWorld(t, settings{routes: route.Config{GroupSessionsPerUser: true}})
	w.user("telegram:2", "Bob", parley.RoleUser)
	w.receive(inGroup("10", "2", "lunch?", false), inGroup("11", "2", "/weather", false), inGroup("12", "2", "you there", true))
	want := map[string]parley.InputState{"10": "logged", "11": "logged", "12": "queued"}
	if got := w.inputs(w.session().ID); !maps.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}

// TestFollowing: in a group, what belongs to a message that mentions the agent is for
// the agent too.
func TestFollowing(t *testing.T) {
	t.Parallel()
	album := func(id string, mentioned bool) channel.Received {
		m := inGroup(id, "2", "p"+id, mentioned)
		m.Album = "77"
		return m
	}
	full := inGroup("20", "2", "long", true)
	full.Full = true
	forward := inGroup("31", "2", "old", false)
	forward.Forwarded = true
	for name, list := range map[string][]channel.Received{
		"album":    {album("10", true), album("11", false), album("12", false)},
		"long":     {full, inGroup("21", "2", "rest", false)},
		"forwards": {inGroup("30", "2", "what is this?", true), forward},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, settings{})
			w.user("telegram:2", "Bob", parley.RoleUser)
			w.user("telegram:3", "Carol", parley.RoleUser)
			w.receive(list...)
			w.receive(inGroup("40", "3", "lunch?", false)) // of somebody else
			for id, state := range w.inputs(w.session().ID) {
				if want := map[bool]parley.InputState{true: parley.InputLogged, false: parley.InputQueued}[id == "40"]; state != want {
					t.Errorf("%s is %s", id, state)
				}
			}
			w.later()
			if got := w.said(w.session().ID, 1); len(got) != 1 {
				t.Errorf("got %q", got)
			}
		})
	}
}

// TestBots: programs are only read, unless a route says otherwise, and then not often.
func TestBots(t *testing.T) {
	t.Parallel()
	for _, allow := range []bool{false, true} {
		w := newWorld(t, settings{routes: route.Config{Routes: []route.Route{{Match: route.Match{Channel: "telegram"}, Bots: allow}}}})
		w.receive(inGroup("1", "1", "hello", true))
		for _, id := range []string{"10", "11", "12", "13", "14"} {
			m := inGroup(id, "9", "beep", true)
			m.Sender.Bot = true
			w.receive(m)
		}
		w.silent()
		want := map[string]parley.InputState{"1": "queued"}
		if allow {
			maps.Copy(want, map[string]parley.InputState{"10": "queued", "11": "queued", "12": "queued", "13": "logged", "14": "logged"})
		}
		if got := w.inputs(w.session().ID); !maps.Equal(got, want) {
			t.Errorf("allowed %t: got %v", allow, got)
		}
	}
}

// TestNothing: what nobody said is not taken.
func TestNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, settings{door: access.DoorPublic})
	w.receive(direct("10", "1", ""), direct("", "1", "a"), direct("11", "", "a"))
	w.silent()
	if got := w.sessions(); len(got) != 0 {
		t.Errorf("got %+v", got)
	}
}

// TestOddNames: nobody is kept out by what they call themselves.
func TestOddNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t, settings{})
	m := direct("10", "1", "hello")
	m.Sender.Name = "A\x00\nda " + strings.Repeat("ü", 1000)
	w.receive(m)
	if got := w.inputs(w.session().ID); got["10"] != parley.InputQueued {
		t.Errorf("got %v", got)
	}
}
