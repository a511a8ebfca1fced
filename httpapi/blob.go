package httpapi

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
)

func (s *Server) blobRoutes() {
	add(s, signedIn, endpoint[none, blobOut]{
		method: http.MethodPost, path: "/api/blobs", name: "putBlob", status: http.StatusCreated, takes: "application/octet-stream",
		summary: "Store media. The handle can be named in a message within a day; before that nobody can read it.", do: (*call).putBlob,
	})
	add(s, signedIn, endpoint[blobIn, none]{
		method: http.MethodGet, path: "/api/blobs/{handle}", name: "readBlob", gives: "application/octet-stream",
		summary: "Media that a session refers to which the caller sees.", do: (*call).readBlob,
	})
}

type blobOut struct {
	Blob parley.Media `json:"blob" jsonschema:"as it stands in a part of type media"`
}

// putBlob stores what is sent. Each read may take as long as a small body, and all
// of them together no longer than a blob.
func (c *call) putBlob(_ *none) (blobOut, error) {
	body := &patientReader{call: c, over: time.Now().Add(c.cfg.Limits.BlobTime)}
	b, err := c.cfg.Blobs.Put(c.r.Context(), body)
	if err != nil {
		if parley.CodeOf(err) == parley.CodeTooLarge || body.err != nil {
			return blobOut{}, c.bodyError(err, c.cfg.Limits.BodyTime)
		}
		return blobOut{}, err
	}
	c.readDeadline(0)
	return blobOut{Blob: parley.Media{Handle: string(b.Handle), Type: b.Type, Size: b.Size}}, nil
}

// patientReader reads a body that may take long, but not stop.
type patientReader struct {
	call *call
	over time.Time
	err  error
}

func (r *patientReader) Read(b []byte) (int, error) {
	left := time.Until(r.over)
	if left <= 0 {
		r.err = os.ErrDeadlineExceeded
		return 0, r.err
	}
	r.call.readDeadline(min(left, r.call.cfg.Limits.BodyTime))
	n, err := r.call.r.Body.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}

type blobIn struct {
	Handle parley.BlobHandle `path:"handle" json:"-" jsonschema:"the media's handle"`
}

// shownTypes are those that a browser may show by itself. Others it saves: a page
// that somebody sent must not run here.
var shownTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp", "audio/mpeg", "audio/ogg", "audio/wave", "video/mp4", "video/webm"}

func (c *call) readBlob(in *blobIn) (none, error) {
	if err := in.Handle.Validate(); err != nil {
		return none{}, err
	}
	v, err := access.Visible(c.cred.Caller)
	if err != nil {
		return none{}, err
	}
	content, b, err := c.cfg.Blobs.Open(c.r.Context(), v, in.Handle)
	if err != nil {
		return none{}, err
	}
	defer func() { _ = content.Close() }() // it was only read
	c.took = true
	h := c.w.Header()
	h.Set("Content-Type", b.Type)
	h.Set("Content-Length", strconv.FormatInt(b.Size, 10))
	h.Set("Cache-Control", "private, max-age=86400, immutable")
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	media, _, _ := mime.ParseMediaType(b.Type)
	disposition := "attachment"
	if slices.Contains(shownTypes, media) {
		disposition = "inline"
	}
	h.Set("Content-Disposition", disposition)
	c.w.WriteHeader(http.StatusOK)
	if c.r.Method == http.MethodHead {
		return none{}, nil
	}
	_, err = io.Copy(&patientWriter{c}, content)
	return none{}, err
}

// patientWriter writes what may take long, but not stop.
type patientWriter struct{ call *call }

func (w *patientWriter) Write(b []byte) (int, error) {
	w.call.w.deadline(w.call.cfg.Limits.Write)
	return w.call.w.Write(b)
}
