package channel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/parley-run/parley"
)

// mediaOf gives the media that a message shows, as far as a delivery can carry them.
func mediaOf(m *parley.Message) (list []parley.Media) {
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind == parley.PartMedia && p.Media != nil {
			list = append(list, *p.Media)
		}
	}
	return list
}

// content are the bytes of a medium; the zero value is none.
type content struct {
	io.ReadCloser
	size int64
}

func (c content) close() {
	if c.ReadCloser != nil {
		_ = c.Close() // it was only read
	}
}

// into gives the bytes to a message.
func (c content) into(m *Outgoing) {
	if m.Media != nil {
		m.Media.Body, m.Media.Size = c.ReadCloser, c.size
	}
}

// open gives the bytes of a delivery's medium. If it cannot be sent for good, the
// delivery becomes a text that says so, and its change too. An error is one that can pass.
func (l *line) open(ctx context.Context, d *parley.Delivery, c *parley.DeliveryChange) (content, error) {
	if len(d.Media) == 0 {
		return content{}, nil
	}
	m := &d.Media[0]
	if l.o.cfg.OpenFunc == nil || l.office.can.MaxMedia <= 0 {
		instead(d, c, "cannot be shown here")
		return content{}, nil
	}
	body, size, err := l.o.cfg.OpenFunc(ctx, *m)
	got := content{ReadCloser: body, size: size}
	switch {
	case errors.Is(err, parley.ErrNotFound):
		instead(d, c, "is not there any more")
		return content{}, nil
	case err != nil:
		return content{}, fmt.Errorf("read the medium of delivery %s: %w", d.ID, err)
	case size > l.office.can.MaxMedia:
		got.close()
		instead(d, c, fmt.Sprintf("is too large to be sent here, where %d MB are the most", l.office.can.MaxMedia>>20))
		return content{}, nil
	}
	return got, nil
}

// maxMediaName is how much of a file's name is shown, in bytes.
const maxMediaName = 80

// instead makes a delivery into a text that says what is the matter with its medium. The
// caption stays, as it looks.
func instead(d *parley.Delivery, c *parley.DeliveryChange, what string) {
	subject := "A file"
	switch kind, _, _ := strings.Cut(d.Media[0].Type, "/"); kind {
	case "image":
		subject = "A picture"
	case "audio":
		subject = "A recording"
	case "video":
		subject = "A video"
	}
	if name := d.Media[0].Name; name != "" {
		subject += ", " + name[:toRune(name, maxMediaName)] + ","
	}
	note := "(" + subject + " " + what + ".)"
	if d.Text != "" {
		note = d.Text + "\n\n" + note
	}
	d.Text, d.Media = note, nil
	c.Text, c.Markup, c.Media = &d.Text, &d.Markup, &d.Media
}
