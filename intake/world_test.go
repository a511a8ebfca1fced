package intake_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/blob"
	"github.com/parley-run/parley/channel"
	"github.com/parley-run/parley/engine"
	"github.com/parley-run/parley/intake"
	"github.com/parley-run/parley/parleytest"
	"github.com/parley-run/parley/route"
)

// sent is a platform that only keeps what is sent to it.
type sent struct {
	mu   sync.Mutex
	list []channel.Outgoing
	came chan struct{}
}

func (*sent) Name() string                                { return "telegram" }
func (*sent) Account() string                             { return "" }
func (*sent) Capabilities() channel.Capabilities          { return channel.Capabilities{} }
func (*sent) Typing(context.Context, parley.Target) error { return nil }
func (*sent) Run(ctx context.Context, _ channel.Receiver) error {
	<-ctx.Done()
	return nil
}

func (*sent) Edit(context.Context, string, channel.Outgoing) error { return nil }

func (p *sent) Send(_ context.Context, m channel.Outgoing) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list = append(p.list, m)
	p.came <- struct{}{}
	return fmt.Sprint(len(p.list)), nil
}

// world is an intake over an engine whose agent repeats what it is shown.
type world struct {
	*parleytest.World

	t        *testing.T
	people   *access.People
	platform *sent
	intake   *intake.Intake
	to       channel.Receiver
	linked   chan parley.IdentityID

	door   access.Door
	routes route.Config
	blobs  *blob.Store
}

// settings are what a test wants to be different.
type settings struct {
	door   access.Door
	routes route.Config
	allow  []string
	runner parley.Runner
	limit  int64
	outbox intake.Outbox
	pause  time.Duration
}

// repeats is a runner that answers with what it is shown.
type repeats struct{}

func (repeats) Run(_ context.Context, t parley.TurnContext) (parley.TurnEnd, error) {
	var said []string
	for _, m := range t.Window.Turn {
		for _, p := range m.Parts {
			switch {
			case p.Note:
			case p.Media != nil:
				said = append(said, "<"+p.Media.Type+" "+p.Media.Name+">")
			default:
				said = append(said, p.Text)
			}
		}
	}
	return parley.TurnEnd{
		Last:      &parley.Message{ID: string(t.Turn.ID) + ".last", Role: parley.MessageAssistant, Parts: []parley.Part{parley.TextPart("re: " + strings.Join(said, " + "))}},
		Completed: parley.TurnCompleted{StopReason: parley.StopDone},
	}, nil
}

func newWorld(t *testing.T, s settings) *world {
	t.Helper()
	if s.runner == nil {
		s.runner = repeats{}
	}
	w := &world{
		World: parleytest.New(t, parleytest.Config{Engine: engine.Config{Runner: s.runner}}),
		t:     t, platform: &sent{came: make(chan struct{}, 100)}, linked: make(chan parley.IdentityID, 1), door: s.door, routes: s.routes,
	}
	w.people = access.NewPeople(w.Store, access.PeopleConfig{Clock: w.Clock, Owner: []parley.IdentityID{"telegram:1"}})
	if _, err := w.people.Setup(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.people.Close)
	var err error
	if w.blobs, err = blob.New(t.TempDir(), w.Store, blob.Config{Key: []byte("0123456789abcdef"), Clock: w.Clock, Limit: s.limit}); err != nil {
		t.Fatal(err)
	}
	router, err := route.New(s.routes)
	if err != nil {
		t.Fatal(err)
	}
	w.intake, err = intake.New(intake.Config{
		Log:    slog.New(slog.NewTextHandler(t.Output(), nil)),
		Engine: w.Engine, People: w.people, Clock: w.Clock, Blobs: w.blobs, MediaLimit: s.limit,
		RouteFunc: func() *route.Router { return router },
		AgentFunc: func(name string) (intake.Agent, bool) {
			return intake.Agent{Door: w.door, Snapshot: parley.AgentSnapshot{Name: name}}, true
		},
		Outbox:     s.outbox,
		LinkedFunc: func(id parley.IdentityID) { w.linked <- id },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.intake.Close)
	if w.to, err = w.intake.For(w.platform, intake.Platform{Allow: s.allow, Pause: s.pause}); err != nil {
		t.Fatal(err)
	}
	return w
}

// user makes somebody who may talk to the agent.
func (w *world) user(account parley.IdentityID, name string, role parley.Role) {
	w.t.Helper()
	by, err := w.people.Local(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.people.AddUser(w.t.Context(), by, access.NewUser{Name: name, Role: role, Identity: account}); err != nil {
		w.t.Fatal(err)
	}
}

// direct is a message to the agent alone.
func direct(id, sender, text string) channel.Received {
	return channel.Received{
		Inbound: parley.Inbound{
			ChatType: "direct", ChatID: sender, MessageID: id,
			Sender: parley.Sender{ID: sender, Name: "P" + sender}, Parts: []parley.Part{parley.TextPart(text)},
		},
		Mentioned: true,
	}
}

// inGroup is a message in a group.
func inGroup(id, sender, text string, mentioned bool) channel.Received {
	m := direct(id, sender, text)
	m.ChatType, m.ChatID, m.Mentioned = "group", "-100", mentioned
	return m
}

// receive brings messages in.
func (w *world) receive(list ...channel.Received) {
	w.t.Helper()
	for _, m := range list {
		if err := w.to.Receive(w.t.Context(), m); err != nil {
			w.t.Fatal(err)
		}
	}
}

// reply waits for what is sent outside of conversations.
func (w *world) reply() channel.Outgoing {
	w.t.Helper()
	select {
	case <-w.platform.came:
	case <-time.After(time.Minute):
		w.t.Fatal("nothing was sent")
	}
	w.platform.mu.Lock()
	defer w.platform.mu.Unlock()
	return w.platform.list[len(w.platform.list)-1]
}

// silent fails if something was sent outside of conversations.
func (w *world) silent() {
	w.t.Helper()
	w.intake.Close() // everything that was to be sent was
	select {
	case <-w.platform.came:
		w.t.Errorf("it was sent %q", w.platform.list[len(w.platform.list)-1].Text.Text)
	default:
	}
}

// session gives the only session there is.
func (w *world) session() parley.Session {
	w.t.Helper()
	list := w.sessions()
	if len(list) != 1 {
		w.t.Fatalf("there are %d sessions", len(list))
	}
	return list[0]
}

func (w *world) sessions() []parley.Session {
	w.t.Helper()
	page, err := w.Store.Sessions(w.t.Context(), parley.SeeAll(), parley.SessionQuery{IncludeInactive: true})
	if err != nil {
		w.t.Fatal(err)
	}
	return page.Sessions
}

// later lets the pause after a message pass.
func (w *world) later() {
	w.t.Helper()
	w.Clock.WaitForTimer(8 * time.Second)
	w.Clock.Advance(8 * time.Second)
}

// said waits for so many answers in a session, and gives what was said there.
func (w *world) said(id parley.SessionID, answers int) []string {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	var all []string
	for u, err := range w.Feed.Subscribe(ctx, parley.SeeAll(), id, parley.Position{}) {
		if err != nil {
			w.t.Fatalf("%v, after %q", err, all)
		}
		if u.Event == nil {
			continue
		}
		body, err := u.Event.Decode()
		if err != nil {
			w.t.Fatal(err)
		}
		switch b := body.(type) {
		case *parley.Message:
			if text := parley.PlainText(b.Parts); b.Role != parley.MessageUser && text != "" {
				all = append(all, text)
			}
		case *parley.TurnCompleted:
			if answers--; answers == 0 {
				return all
			}
		}
	}
	w.t.Fatal("it ended")
	return nil
}

// inputs gives the states of what was admitted, by id.
func (w *world) inputs(id parley.SessionID) map[string]parley.InputState {
	w.t.Helper()
	events, err := w.Store.Events(w.t.Context(), parley.SeeAll(), id, parley.EventQuery{Types: []parley.EventType{parley.EventInput}, Limit: 1000})
	if err != nil {
		w.t.Fatal(err)
	}
	all := map[string]parley.InputState{}
	for _, e := range events {
		body, err := e.Decode()
		if err != nil {
			w.t.Fatal(err)
		}
		admitted := body.(*parley.Admitted) //nolint:forcetypeassert // they were asked for
		in, err := w.Store.Input(w.t.Context(), parley.SeeAll(), parley.InputRef{Origin: admitted.Origin, ID: admitted.ID})
		if err != nil {
			w.t.Fatal(err)
		}
		all[in.Ref.ID] = in.State
	}
	return all
}
