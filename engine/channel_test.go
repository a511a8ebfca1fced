package engine_test

import (
	"errors"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/engine"
	"github.com/parley-run/parley/route"
)

// inbound is a resolution of a message from a group.
func inbound(t *testing.T, channel, chat string) *route.Resolution {
	t.Helper()
	r, err := route.New(route.Config{})
	if err != nil {
		t.Fatal(err)
	}
	to, err := r.Resolve(route.Request{Inbound: parley.Inbound{Channel: channel, ChatType: "group", ChatID: chat}})
	if err != nil {
		t.Fatal(err)
	}
	return &to
}

// TestChannelsOpenTheirOwn: by a name or by a message, a channel opens what is of its
// namespace, or goes on there, and neither finds nor makes what is another's.
func TestChannelsOpenTheirOwn(t *testing.T) {
	t.Parallel()
	s := newStage(t, engine.Config{Runner: runs(echo)})
	channel := func(namespace string) *engine.Handle {
		c, err := access.NewChannel(namespace, parley.Principal{Identity: parley.IdentityID(namespace + ":bot"), Role: parley.RoleGuest, Via: "channel"})
		if err != nil {
			t.Fatal(err)
		}
		return s.eng.As(c)
	}
	open := func(h *engine.Handle, namespace string, to *route.Resolution) (engine.Opened, error) {
		return h.Open(t.Context(), engine.Opening{To: to, Session: starting(), Namespace: namespace})
	}
	telegram, slack := channel("telegram"), channel("slack")
	private := s.opens("diary")
	there, err := open(slack, "slack", inbound(t, "slack", "C1"))
	if err != nil || !there.Created {
		t.Fatalf("got %+v (%v)", there, err)
	}
	for name, test := range map[string]struct {
		to   *route.Resolution
		want error
	}{
		"somebody's name":                {explicit(t, "diary"), parley.ErrNotFound},
		"the key of another's chat":      {explicit(t, string(there.Session.Key)), parley.ErrNotFound},
		"another's chat":                 {inbound(t, "slack", "C1"), parley.ErrForbidden},
		"another's chat, which is quiet": {inbound(t, "slack", "C2"), parley.ErrForbidden},
	} {
		if got, err := open(telegram, "telegram", test.to); !errors.Is(err, test.want) || got.Session.ID != "" {
			t.Errorf("%s: got %s (%v)", name, got.Session.ID, err)
		}
	}
	// Its own chat may go on in a session of another namespace.
	own := inbound(t, "telegram", "-1001")
	mine, err := open(telegram, "telegram", own)
	if err != nil || !mine.Created {
		t.Fatalf("got %+v (%v)", mine, err)
	}
	for _, to := range []*route.Resolution{own, explicit(t, string(own.Key))} {
		if got, err := open(telegram, "telegram", to); err != nil || got.Session.ID != mine.Session.ID {
			t.Errorf("got %s (%v), want %s", got.Session.ID, err, mine.Session.ID)
		}
	}
	_, err = s.store.Commit(t.Context(), parley.Batch{
		At: s.clock.Now(), Keys: []parley.KeyChange{{Key: own.Key, Session: private.ID, Scope: &own.Scope}},
		Sessions: []parley.SessionChange{{Session: private.ID, Patch: parley.SessionPatch{Key: &own.Key}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, to := range []*route.Resolution{own, explicit(t, string(own.Key))} {
		if got, err := open(telegram, "telegram", to); err != nil || got.Session.ID != private.ID {
			t.Errorf("routed elsewhere: got %s (%v), want %s", got.Session.ID, err, private.ID)
		}
	}
}
