package intake_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/channel"
)

// file is a medium that came with a message.
func file(name, content string) channel.Attachment {
	return channel.Attachment{Name: name, Size: int64(len(content)), FetchFunc: func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(content)), nil
	}}
}

func TestMedia(t *testing.T) {
	t.Parallel()
	w := newWorld(t, settings{})
	m := direct("10", "1", "look")
	m.Media = []channel.Attachment{file("../../notes.txt", "some words")}
	alone := direct("11", "1", "")
	alone.Media = []channel.Attachment{file("", "\x89PNG\r\n\x1a\n0000")}
	w.receive(m, alone, m, alone)
	w.later()
	if got := w.said(w.session().ID, 1); !slices.Equal(got, []string{"re: look + <text/plain; charset=utf-8 notes.txt> + <image/png >"}) {
		t.Errorf("got %q", got)
	}
	w.silent()
}

// TestMediaTooLarge: who sends it is told, and the rest of the message is taken.
func TestMediaTooLarge(t *testing.T) {
	t.Parallel()
	w := newWorld(t, settings{limit: 2048})
	lies := file("lies.bin", strings.Repeat("x", 4096))
	lies.Size = 0
	for n, big := range []channel.Attachment{{Name: "big.bin", Size: 1 << 30, FetchFunc: file("", "").FetchFunc}, lies} {
		m := direct(string(rune('a'+n)), "1", "read this")
		m.Media = []channel.Attachment{big}
		w.receive(m)
		if got := w.reply().Text.Text; got != "The file "+big.Name+" is too large: it can have 2 KiB at most." {
			t.Errorf("got %q", got)
		}
	}
	// The platform gives less than we would take.
	m := direct("d", "1", "")
	m.Media = []channel.Attachment{{Name: "film.mp4", Size: 1500, Most: 1024, FetchFunc: file("", "").FetchFunc}}
	w.receive(m)
	if got := w.reply().Text.Text; got != "The file film.mp4 is too large: it can have 1 KiB at most." {
		t.Errorf("got %q", got)
	}
	alone := direct("c", "1", "")
	alone.Media = []channel.Attachment{lies}
	w.receive(alone)
	w.reply()
	if got := w.inputs(w.session().ID); len(got) != 2 {
		t.Errorf("got %v", got)
	}
	w.later()
	if got := w.said(w.session().ID, 1); !slices.Equal(got, []string{"re: read this + (the file big.bin is too large) + read this + (the file lies.bin is too large)"}) {
		t.Errorf("got %q", got)
	}
}

// TestMediaThatFails: a platform that hangs up is asked again, and not for ever.
func TestMediaThatFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t, settings{})
	tries := 0
	broken := func(fails int) channel.Attachment {
		return channel.Attachment{Type: "image/png", FetchFunc: func(context.Context) (io.ReadCloser, error) {
			if tries++; tries <= fails {
				return io.NopCloser(io.MultiReader(bytes.NewReader(make([]byte, 10)), failing{})), nil
			}
			return io.NopCloser(strings.NewReader("fine")), nil
		}}
	}
	m := direct("10", "1", "look")
	m.Media = []channel.Attachment{broken(2)}
	w.receive(m)
	if tries != 3 {
		t.Errorf("it was tried %d times", tries)
	}
	m = direct("11", "1", "look")
	tries, m.Media = 0, []channel.Attachment{broken(100)}
	w.receive(m)
	if got := w.reply().Text.Text; got != "The picture could not be fetched. Please send it again." || tries != 3 {
		t.Errorf("got %q after %d tries", got, tries)
	}
	if got := w.inputs(w.session().ID); got["10"] != parley.InputQueued || got["11"] != parley.InputQueued {
		t.Errorf("got %v", got)
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("the connection is gone") }
