package intake_test

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/channel"
)

var codeForm = regexp.MustCompile(`[0-9A-Z]{4}-[0-9A-Z]{4}`)

// owner is the owner with a credential of their own.
func (w *world) owner() access.Caller {
	w.t.Helper()
	by, err := w.people.Local(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return by
}

// TestPairing goes from a stranger's first message to their first answer.
func TestPairing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, settings{door: access.DoorPrivate})
	w.receive(direct("10", "7", "hello"))
	told := w.reply()
	code := codeForm.FindString(told.Text.Text)
	if code == "" || told.Target != (parley.Target{Channel: "telegram", Chat: "7"}) {
		t.Fatalf("got %+v", told)
	}
	w.receive(direct("10", "7", "hello"), direct("11", "7", "hello?")) // again, and too often
	if got := w.sessions(); len(got) != 0 {
		t.Errorf("a stranger has a session: %+v", got)
	}
	user, err := w.people.Pair(t.Context(), w.owner(), code, "", "")
	if err != nil || user.Role != parley.RoleUser || user.Name != "P7" {
		t.Fatalf("got %+v, %v", user, err)
	}
	w.receive(direct("12", "7", "and now?"))
	w.later()
	if got := w.said(w.session().ID, 1); !slices.Equal(got, []string{"re: and now?"}) {
		t.Errorf("got %q", got)
	}
	w.silent()
}

// TestStrangersInGroups: they are told how to get in if they speak to the agent, and
// else nothing; nothing of what they say is kept.
func TestStrangersInGroups(t *testing.T) {
	t.Parallel()
	w := newWorld(t, settings{})
	w.receive(inGroup("10", "1", "hi all", true), inGroup("11", "7", "lunch?", false), inGroup("12", "7", "/status", false))
	if got := len(w.inputs(w.session().ID)); got != 1 {
		t.Errorf("%d inputs", got)
	}
	w.receive(inGroup("13", "7", "hello bot", true))
	if told := w.reply(); codeForm.FindString(told.Text.Text) == "" || told.Target.ReplyTo != "13" {
		t.Errorf("got %+v", told)
	}
	w.silent()
}

func TestJoin(t *testing.T) {
	t.Parallel()
	w := newWorld(t, settings{door: access.DoorProtected})
	token, _, err := w.people.CreateToken(t.Context(), w.owner(), access.NewToken{Kind: parley.TokenJoin, Agent: "main"})
	if err != nil {
		t.Fatal(err)
	}
	w.receive(direct("10", "7", "hello"))
	if got := w.reply().Text.Text; !strings.Contains(got, "/join") {
		t.Errorf("got %q", got)
	}
	w.receive(direct("11", "7", "/join ply_j_wrong"))
	if got := w.reply().Text.Text; strings.Contains(got, "Welcome") {
		t.Errorf("got %q", got)
	}
	w.receive(direct("12", "7", "/join "+token))
	if got := w.reply().Text.Text; !strings.Contains(got, "Welcome") {
		t.Errorf("got %q", got)
	}
	if got := w.sessions(); len(got) != 0 {
		t.Errorf("the token is in a session: %+v", got)
	}
	w.receive(direct("13", "7", "hello"))
	if in := w.inputs(w.session().ID); in["13"] != parley.InputQueued {
		t.Errorf("got %v", in)
	}
}

// TestLinking: who enters a code that they got where they are signed in writes as
// that person from then on, also if they come by a link that begins the chat.
func TestLinking(t *testing.T) {
	t.Parallel()
	for _, words := range []string{"/link ", "/start "} {
		w := newWorld(t, settings{})
		code, err := w.people.LinkCode(t.Context(), w.owner())
		if err != nil {
			t.Fatal(err)
		}
		m := direct("10", "7", words+code)
		w.receive(m)
		if got := w.reply().Text.Text; !strings.Contains(got, "linked") {
			t.Errorf("%s: got %q", words, got)
		}
		if id := <-w.linked; id != "telegram:7" {
			t.Errorf("got %s", id)
		}
		w.receive(m) // again: nothing more is said
		w.receive(direct("11", "7", "hello"))
		in, err := w.Store.Input(t.Context(), parley.SeeAll(), parley.InputRef{Origin: "telegram/default/7", ID: "11"})
		if err != nil || in.Principal.Role != parley.RoleOwner {
			t.Errorf("%s: got %+v, %v", words, in.Principal, err)
		}
		w.silent()
	}
}

func TestLinkCode(t *testing.T) {
	t.Parallel()
	w := newWorld(t, settings{})
	w.user("telegram:7", "Alice", parley.RoleUser)
	w.receive(inGroup("10", "7", "/link", true))
	if got := w.reply().Text.Text; codeForm.MatchString(got) {
		t.Errorf("everybody sees %q", got)
	}
	w.receive(direct("11", "7", "/link"))
	code := codeForm.FindString(w.reply().Text.Text)
	if user, err := w.people.Link(t.Context(), w.owner(), code); err != nil || user.Role != parley.RoleOwner {
		t.Errorf("got %+v, %v", user, err)
	}
}

// TestAllowed: whom the configuration names is let in, alone or with their chat.
func TestAllowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, settings{allow: []string{"7", "telegram:8", "group:-100"}})
	w.receive(direct("10", "7", "a"), direct("11", "8", "b"), inGroup("12", "9", "c", true))
	for origin, id := range map[string]string{"telegram/default/7": "10", "telegram/default/8": "11", "telegram/default/-100": "12"} {
		in, err := w.Store.Input(t.Context(), parley.SeeAll(), parley.InputRef{Origin: origin, ID: id})
		if err != nil || in.Principal.Role != parley.RoleUser {
			t.Errorf("%s: got %+v, %v", origin, in.Principal, err)
		}
	}
	w.receive(direct("13", "9", "outside of the group"))
	if got := w.reply().Text.Text; codeForm.FindString(got) == "" {
		t.Errorf("got %q", got)
	}
}

// TestGuests: on a public agent everybody is a guest, and stays the same person.
func TestGuests(t *testing.T) {
	t.Parallel()
	w := newWorld(t, settings{door: access.DoorPublic})
	w.receive(direct("10", "7", "a"), direct("11", "7", "b"))
	w.later()
	if got := w.said(w.session().ID, 1); !slices.Equal(got, []string{"re: a + b"}) {
		t.Errorf("got %q", got)
	}
	w.silent()
}

// asked is an outbox with one question in it.
type asked struct{ session parley.SessionID }

func (o *asked) Delivery(_ context.Context, id parley.DeliveryID) (parley.Delivery, error) {
	if id != "a_1" {
		return parley.Delivery{}, parley.Errorf(parley.CodeNotFound, "there is no delivery %q", id)
	}
	return parley.Delivery{
		ID: id, Kind: parley.DeliveryApproval, Session: o.session, Call: "c1", Target: parley.Target{Channel: "telegram", Chat: "-100"},
	}, nil
}

func (*asked) Release(context.Context, parley.Principal, parley.DeliveryID) (int, error) {
	return 3, nil
}

// approvals gives a world where somebody is asked something, and how buttons are
// pressed there.
func approvals(t *testing.T) (w *world, press func(sender, data string) string) {
	t.Helper()
	outbox := &asked{}
	w = newWorld(t, settings{runner: asking{}, outbox: outbox})
	w.user("telegram:2", "Bob", parley.RoleUser)
	w.user("telegram:3", "Carol", parley.RoleUser)
	w.receive(inGroup("10", "2", "do it", true))
	outbox.session = w.session().ID
	w.later()
	w.awaits(outbox.session)
	return w, func(sender, data string) string {
		t.Helper()
		answer, err := w.to.Press(t.Context(), channel.Press{Sender: parley.Sender{ID: sender}, Target: parley.Target{Chat: "-100"}, Data: data})
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
}

// TestApprovals: a button is answered by who may, once, and everybody is told.
func TestApprovals(t *testing.T) {
	t.Parallel()
	w, press := approvals(t)
	if got := press("3", "y:a_1"); !strings.Contains(got, "ask an owner") {
		t.Errorf("somebody else: %q", got)
	}
	if got := press("7", "y:a_1"); !strings.Contains(got, "for others") {
		t.Errorf("a stranger: %q", got)
	}
	if got := press("2", "y:a_1"); got != "Approved." {
		t.Errorf("who asked: %q", got)
	}
	if got := press("1", "n:a_1"); !strings.Contains(got, "approved") {
		t.Errorf("too late: %q", got)
	}
	if got := w.said(w.session().ID, 1); !slices.Equal(got, []string{"it is approved"}) {
		t.Errorf("got %q", got)
	}
	for _, data := range []string{"", "old", "y:a_2", "x:a_1"} {
		if got := press("2", data); !strings.Contains(got, "nothing to answer") {
			t.Errorf("%q: %q", data, got)
		}
	}
	if got := press("2", "r:a_1"); got != "On their way: 3." {
		t.Errorf("held replies: %q", got)
	}
}

func TestApprovalByOwner(t *testing.T) {
	t.Parallel()
	w, press := approvals(t)
	if got := press("1", "n:a_1"); got != "Denied." {
		t.Errorf("got %q", got)
	}
	if got := w.said(w.session().ID, 1); !slices.Equal(got, []string{"it is denied"}) {
		t.Errorf("got %q", got)
	}
}
