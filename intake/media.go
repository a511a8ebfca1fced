package intake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/channel"
)

const (
	fetchTries = 3
	fetchTime  = time.Minute // of one try
)

// media fetches what came with a message. What cannot be had is told to who sent it,
// and stands in the message as a text, so that the agent knows of it too; of a message
// that has nothing else, nothing is left.
func (r *receiver) media(ctx context.Context, a *arrival) ([]parley.Part, error) {
	var parts []parley.Part
	got := 0
	for i := range a.Media {
		medium, err := r.fetch(ctx, &a.Media[i])
		if err == nil {
			parts = append(parts, parley.Part{Kind: parley.PartMedia, Media: &medium})
			got++
			continue
		}
		if ctx.Err() != nil || errors.Is(err, errStoring) {
			return nil, err
		}
		name := shownName(&a.Media[i])
		why, told := "could not be fetched", name+" could not be fetched. Please send it again."
		if errors.Is(err, parley.ErrTooLarge) {
			why = "is too large"
			told = fmt.Sprintf("%s is too large: it can have %s at most.", name, sized(r.most(&a.Media[i])))
		}
		r.cfg.Log.Warn("media of a message could not be taken", "channel", r.platform.Name(), "error", err)
		if a.directed() {
			r.reply(a, strings.ToUpper(told[:1])+told[1:])
		}
		parts = append(parts, parley.TextPart("("+name+" "+why+")"))
	}
	if got == 0 && parley.PlainText(a.Parts) == "" {
		return nil, nil
	}
	return parts, nil
}

// errStoring is in the chain if it is not the medium that is at fault.
var errStoring = errors.New("store media")

// most is how large a medium can be.
func (r *receiver) most(m *channel.Attachment) int64 {
	if m.Most > 0 {
		return min(m.Most, r.cfg.MediaLimit)
	}
	return r.cfg.MediaLimit
}

// fetch gets a medium from the platform and stores it.
func (r *receiver) fetch(ctx context.Context, m *channel.Attachment) (parley.Media, error) {
	if r.cfg.Blobs == nil || m.FetchFunc == nil {
		return parley.Media{}, parley.Errorf(parley.CodeInvalid, "media are not taken here")
	}
	if m.Size > r.most(m) {
		return parley.Media{}, parley.Errorf(parley.CodeTooLarge, "it has %d bytes", m.Size)
	}
	var err error
	for range fetchTries {
		var medium parley.Media
		medium, err = r.fetchOnce(ctx, m)
		if err == nil || ctx.Err() != nil || errors.Is(err, parley.ErrTooLarge) || errors.Is(err, errStoring) {
			return medium, err
		}
	}
	return parley.Media{}, err
}

func (r *receiver) fetchOnce(ctx context.Context, m *channel.Attachment) (_ parley.Media, err error) {
	limited, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	content, err := m.FetchFunc(limited)
	if err != nil {
		return parley.Media{}, err
	}
	defer func() { err = errors.Join(err, content.Close()) }()
	from := &failing{from: content}
	blob, err := r.cfg.Blobs.Put(limited, from)
	switch {
	case err == nil:
		return parley.Media{Handle: string(blob.Handle), Type: blob.Type, Name: fileName(m.Name), Size: blob.Size}, nil
	case from.err != nil, errors.Is(err, parley.ErrTooLarge), errors.Is(err, parley.ErrInvalid), limited.Err() != nil:
		return parley.Media{}, err
	}
	return parley.Media{}, errors.Join(errStoring, err)
}

// failing tells an error of who gives bytes from one of who stores them.
type failing struct {
	from io.Reader
	err  error
}

func (f *failing) Read(p []byte) (int, error) {
	n, err := f.from.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		f.err = err
	}
	return n, err
}

// fileName makes a name that can be stored of what somebody called a file.
func fileName(name string) string {
	name = access.TidyName(path.Base("/" + strings.ReplaceAll(name, `\`, "/")))
	if name == "/" || name == "." || name == ".." {
		return ""
	}
	return name
}

// shownName is what people know a medium by.
func shownName(m *channel.Attachment) string {
	if name := fileName(m.Name); name != "" {
		return "the file " + name
	}
	kind, _, _ := strings.Cut(m.Type, "/")
	switch kind {
	case "image":
		return "the picture"
	case "audio":
		return "the recording"
	case "video":
		return "the video"
	}
	return "the file"
}

func sized(n int64) string {
	if n >= 1<<20 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d KiB", max(n>>10, 1))
}
