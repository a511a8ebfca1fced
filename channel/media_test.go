package channel_test

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/channel"
	"github.com/parley-run/parley/group"
)

// shelf holds media by their handle, and counts how many are open.
type shelf struct {
	mu      sync.Mutex
	content map[string]string
	broken  bool // it cannot be read for the moment
	opened  int
	closed  int
}

func (s *shelf) open(_ context.Context, m parley.Media) (io.ReadCloser, int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, ok := s.content[m.Handle]
	switch {
	case s.broken:
		return nil, 0, parley.Errorf(parley.CodeUnavailable, "the disk failed")
	case !ok:
		return nil, 0, parley.Errorf(parley.CodeNotFound, "the media is gone")
	}
	s.opened++
	return &lent{Reader: strings.NewReader(text), shelf: s}, int64(len(text)), nil
}

func (s *shelf) set(change func(*shelf)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

// lent is a medium that has to be given back.
type lent struct {
	io.Reader
	shelf *shelf
}

func (l *lent) Close() error {
	l.shelf.set(func(s *shelf) { s.closed++ })
	return nil
}

var (
	photo  = parley.Media{Handle: "blob_01", Type: "image/png", Name: "cat.png"}
	report = parley.Media{Handle: "blob_02", Type: "application/pdf", Name: "report.pdf"}
)

// mediaWorld is a world with two media, and somebody who can show them.
func mediaWorld(t testing.TB, p channel.Platform, f *fakeChat) (*world, *shelf) {
	t.Helper()
	w := newWorld(t, p, f)
	s := &shelf{content: map[string]string{photo.Handle: "PNG", report.Handle: "PDF"}}
	w.cfg.OpenFunc = s.open
	if _, err := w.store.Commit(t.Context(), parley.Batch{At: w.clock.Now(), Blobs: []parley.BlobChange{
		{Handle: parley.BlobHandle(photo.Handle), Type: photo.Type, Size: 3}, {Handle: parley.BlobHandle(report.Handle), Type: report.Type, Size: 3},
	}}); err != nil {
		t.Fatal(err)
	}
	w.session("fake:a")
	return w, s
}

// shows is a message of the agent with media.
func shows(turn parley.TurnID, id, text string, media ...parley.Media) parley.NewEvent {
	m := &parley.Message{ID: id, Role: parley.MessageAssistant}
	if text != "" {
		m.Parts = append(m.Parts, parley.TextPart(text))
	}
	for i := range media {
		m.Parts = append(m.Parts, parley.Part{Kind: parley.PartMedia, Media: &media[i]})
	}
	return parley.NewEvent{Turn: turn, Body: m}
}

// seen gives what a chat shows, as "text" or "text+media".
func (f *fakeChat) seen(chat string) (list []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, n := range f.chats[chat] {
		line := n.text
		if n.media != "" {
			line += "+" + n.media
		}
		list = append(list, line)
	}
	return list
}

func TestMedia(t *testing.T) {
	t.Parallel()
	caption := strings.TrimSpace(strings.Repeat("word ", 60))
	for what, c := range map[string]struct {
		text   string
		media  []parley.Media
		change func(*shelf, *fakeChat)
		want   []string
	}{
		"alone":           {"", []parley.Media{photo}, nil, []string{"+PNG"}},
		"with a caption":  {"A **cat**.", []parley.Media{photo}, nil, []string{"A cat.+PNG"}},
		"several":         {"Both.", []parley.Media{photo, report}, nil, []string{"Both.+PNG", "+PDF"}},
		"behind its text": {caption, []parley.Media{photo, report}, nil, []string{caption, "+PNG", "+PDF"}},
		"gone": {
			"A **cat**.",
			[]parley.Media{photo, report},
			func(s *shelf, _ *fakeChat) { delete(s.content, photo.Handle) },
			[]string{"A cat.\n\n(A picture, cat.png, is not there any more.)", "+PDF"},
		},
		"too large": {
			"",
			[]parley.Media{report},
			func(s *shelf, _ *fakeChat) { s.content[report.Handle] = strings.Repeat("x", 1<<20+1) },
			[]string{"(A file, report.pdf, is too large to be sent here, where 1 MB are the most.)"},
		},
		"none can be shown": {
			"Both.",
			[]parley.Media{photo, report},
			func(_ *shelf, f *fakeChat) { f.can.MaxMedia, f.can.MaxCaption = 0, 0 },
			[]string{"Both.", "(A picture, cat.png, cannot be shown here.)", "(A file, report.pdf, cannot be shown here.)"},
		},
		"silence": {group.NoReply, []parley.Media{photo}, nil, nil},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			f := newFakeChat()
			w, s := mediaWorld(t, f, f)
			if c.change != nil {
				c.change(s, f)
			}
			w.begin(-1)
			turn := w.ask("fake:a", target("a"))
			w.change(closing("fake:a", turn, shows(turn, "m1", c.text, c.media...)))
			w.settled()
			w.end()
			if got := f.seen("a"); !slices.Equal(got, c.want) {
				t.Errorf("the chat shows %q", got)
			}
			if len(c.want) == 0 {
				return
			}
			if f.note(t, "a", 0).replyTo != "m1" || len(c.want) > 1 && f.note(t, "a", 1).replyTo != "" {
				t.Error("not the first message alone answers")
			}
			if s.opened != s.closed {
				t.Errorf("%d were opened and %d closed", s.opened, s.closed)
			}
		})
	}
}

// TestMedia_Fates has calls fail in the ways they can.
func TestMedia_Fates(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		fates []fate
		want  []string
		dead  int
	}{
		"nothing arrives":  {[]fate{astray, limited}, []string{"Both.+PNG", "+PDF"}, 0},
		"nobody knows":     {[]fate{doubtful}, []string{"Both.+PNG", "↻ Sent again, as it may not have arrived:\n\nBoth.+PNG", "+PDF"}, 0},
		"of the last":      {[]fate{taken, doubtful}, []string{"Both.+PNG", "+PDF", "↻ Sent again, as it may not have arrived+PDF"}, 0},
		"it is refused":    {[]fate{declined}, nil, 2},
		"the last is":      {[]fate{taken, declined}, []string{"Both.+PNG"}, 1},
		"it is not pretty": {[]fate{ugly}, []string{"Both.+PNG", "+PDF"}, 0},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			f := newFakeChat()
			w, _ := mediaWorld(t, f, f)
			w.begin(-1)
			f.decide(inTurn("send", c.fates...))
			turn := w.ask("fake:a", target("a"))
			w.change(closing("fake:a", turn, shows(turn, "m1", "**Both.**", photo, report)))
			w.settled()
			if got := f.seen("a"); !slices.Equal(got, c.want) {
				t.Errorf("the chat shows %q", got)
			}
			dead := w.rows(parley.DeliveryDead)
			if len(dead) != c.dead {
				t.Fatalf("dead are %+v", dead)
			}
			if c.dead == 0 {
				return
			}
			if err := w.outbox.Retry(t.Context(), owner, dead[len(dead)-1].ID); err != nil {
				t.Fatal(err)
			}
			w.settled()
			if got := f.seen("a"); !slices.Equal(got, []string{"Both.+PNG", "+PDF"}) {
				t.Errorf("after it was tried again the chat shows %q", got)
			}
		})
	}
}

// TestMedia_CannotBeReadForTheMoment has the outbox wait, and not tell people.
func TestMedia_CannotBeReadForTheMoment(t *testing.T) {
	t.Parallel()
	f := newFakeChat()
	w, s := mediaWorld(t, f, f)
	s.broken = true
	w.begin(-1)
	turn := w.ask("fake:a", target("a"))
	w.change(closing("fake:a", turn, shows(turn, "m1", "A cat.", photo)))
	w.until("it was tried", func() bool { return w.open()[0].Attempts >= 2 })
	if d := w.open()[0]; d.State != parley.DeliveryPending || !strings.Contains(d.LastError, "the disk failed") || len(f.seen("a")) > 0 {
		t.Errorf("it is %+v", d)
	}
	s.set(func(s *shelf) { s.broken = false })
	w.settled()
	if got := f.seen("a"); !slices.Equal(got, []string{"A cat.+PNG"}) {
		t.Errorf("the chat shows %q", got)
	}
}

// TestMedia_BehindABeginning has a reply stream in that ends with media.
func TestMedia_BehindABeginning(t *testing.T) {
	t.Parallel()
	f := newFakeChat()
	w, _ := mediaWorld(t, f, f)
	w.begin(-1)
	turn := w.ask("fake:a", target("a"))
	w.delta("fake:a", turn, 1, "Here is")
	w.until("its beginning is shown", func() bool { return len(w.open()) == 1 && w.open()[0].PlatformID != "" })
	w.change(closing("fake:a", turn, shows(turn, "m1", "Here is a cat.", photo)))
	w.settled()
	if got := f.seen("a"); !slices.Equal(got, []string{"Here is a cat.", "+PNG"}) {
		t.Errorf("the chat shows %q", got)
	}
}

func TestMedia_RedactedWhileItWaits(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		arrives string // what is sent before nothing can be any more
		want    []string
	}{"all of it": {"nothing", nil}, "the rest": {"Both.", []string{"Both.+PNG"}}} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			f := newFakeChat()
			w, _ := mediaWorld(t, f, f)
			w.begin(-1)
			f.decide(func(_, _, text string) fate {
				if text == c.arrives {
					return taken
				}
				return astray
			})
			turn := w.ask("fake:a", target("a"))
			w.change(closing("fake:a", turn, shows(turn, "m1", "Both.", photo, report)))
			w.until("one waits", func() bool { return len(f.seen("a")) == len(c.want) && w.open()[0].LastError != "" })
			w.change(parley.SessionChange{Session: "fake:a", Redact: []uint64{w.open()[0].Seq}})
			f.decide(nil)
			w.settled()
			if got := f.seen("a"); !slices.Equal(got, c.want) {
				t.Errorf("the chat shows %q", got)
			}
			for _, d := range w.everything() {
				if len(d.Media) > 0 || d.Text != "" || d.State.Open() {
					t.Errorf("the outbox still has %+v", d)
				}
			}
		})
	}
}

func TestKilledAtEachStepOfMedia(t *testing.T) {
	t.Parallel()
	register := func(w *world) {
		if _, err := w.store.Commit(context.Background(), parley.Batch{At: w.clock.Now(), Blobs: []parley.BlobChange{
			{Handle: parley.BlobHandle(photo.Handle), Type: photo.Type, Size: 3}, {Handle: parley.BlobHandle(report.Handle), Type: report.Type, Size: 3},
		}}); err != nil {
			w.t.Fatal(err)
		}
	}
	killedWith(t, func(w *world) {
		w.cfg.OpenFunc = func(_ context.Context, m parley.Media) (io.ReadCloser, int64, error) {
			return io.NopCloser(bytes.NewReader([]byte(m.Name))), int64(len(m.Name)), nil
		}
		register(w)
	}, func(w *world, resume bool) {
		turn := parley.TurnID("t1")
		if resume {
			w.turns = 0
			if _, err := w.store.Turn(w.t.Context(), parley.SeeAll(), "fake:a", turn); err != nil {
				w.ask("fake:a", target("fake:a"))
			}
			if w.said("fake:a", "m1") {
				return
			}
		} else {
			w.ask("fake:a", target("fake:a"))
		}
		if !w.life.dead() {
			w.change(closing("fake:a", turn, shows(turn, "m1", "Both.", photo, report)))
		}
	}, func(t *testing.T, w *world, canTell bool, step int) {
		t.Helper()
		var order []string
		got := w.chat.seen("fake:a")
		for _, line := range got {
			_, media, _ := strings.Cut(line, "+")
			if slices.Contains(order, media) && !isMarked(line) {
				t.Errorf("step %d: %s is there twice and not marked", step, media)
			}
			if !slices.Contains(order, media) {
				order = append(order, media)
			}
			if isMarked(line) && canTell {
				t.Errorf("step %d: %q is marked", step, line)
			}
		}
		if extra := len(got) - 2; extra > 1 || extra == 1 && canTell || !slices.Equal(order, []string{"cat.png", "report.pdf"}) {
			t.Errorf("step %d: the chat shows %q", step, got)
		}
	})
}
