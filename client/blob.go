package client

import (
	"context"
	"io"
	"net/http"

	"github.com/parley-run/parley"
)

// PutBlob stores media, and gives what a part of a message needs to refer to it. It
// may take as long as it needs, but not stand still.
func (c *Client) PutBlob(ctx context.Context, content io.Reader) (parley.Media, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := newWatch(c.cfg.Silence, cancel)
	defer watch.stop()
	r := request{method: http.MethodPost, path: at("api", "blobs")}
	req, err := c.bare(ctx, r, watch.outgoing(content))
	if err != nil {
		return parley.Media{}, err
	}
	req.Header.Set("Content-Type", "application/octet-stream")
	res, err := c.send(req)
	if err != nil {
		return parley.Media{}, err
	}
	defer func() { _ = res.Body.Close() }() // it was only read
	good := res.StatusCode/100 == 2
	data, e := c.read(ctx, res, good)
	if e != nil {
		return parley.Media{}, maybeDone(r.method, e)
	}
	if !good {
		return parley.Media{}, c.refusal(r.method, res, data)
	}
	var out struct {
		Blob parley.Media `json:"blob"`
	}
	if !isMedia(res, "application/json") || !decodes(data, &out) || out.Blob.Handle == "" {
		return parley.Media{}, maybeDone(r.method, c.strange(res))
	}
	return out.Blob, nil
}

// Blob opens media that a session refers to which the caller sees. The reader fails
// if the content stands still or does not arrive whole; who has it closes it.
func (c *Client) Blob(ctx context.Context, handle parley.BlobHandle) (io.ReadCloser, parley.Media, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	watch := newWatch(c.cfg.Silence, cancel)
	body, media, err := c.openBlob(ctx, handle)
	if err != nil {
		watch.stop()
		cancel(nil)
		return nil, parley.Media{}, err
	}
	return &blobBody{client: c, ctx: ctx, cancel: cancel, watch: watch, body: body, r: watch.incoming(body)}, media, nil
}

func (c *Client) openBlob(ctx context.Context, handle parley.BlobHandle) (io.ReadCloser, parley.Media, error) {
	req, err := c.bare(ctx, request{method: http.MethodGet, path: at("api", "blobs", string(handle))}, nil)
	if err != nil {
		return nil, parley.Media{}, err
	}
	req.Header.Set("Accept-Encoding", "identity") // its size is that of the content
	res, err := c.send(req)
	if err != nil {
		return nil, parley.Media{}, err
	}
	if res.StatusCode == http.StatusOK && res.ContentLength >= 0 && res.Header.Get("X-Request-Id") != "" {
		return res.Body, parley.Media{Handle: string(handle), Type: res.Header.Get("Content-Type"), Size: res.ContentLength}, nil
	}
	defer func() { _ = res.Body.Close() }() // it was only read
	data, e := c.read(ctx, res, false)
	if e != nil {
		return nil, parley.Media{}, e
	}
	return nil, parley.Media{}, c.refusal(http.MethodGet, res, data)
}

// blobBody is the content of a blob, as it comes.
type blobBody struct {
	client *Client
	ctx    context.Context //nolint:containedctx // it is that of the request whose body this is
	cancel context.CancelCauseFunc
	watch  *watch
	body   io.ReadCloser
	r      io.Reader
}

func (b *blobBody) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if err != nil && err != io.EOF { //nolint:errorlint // readers give it as it is
		err = b.client.lost(b.ctx, err, true)
	}
	return n, err
}

func (b *blobBody) Close() error {
	b.watch.stop()
	b.cancel(nil)
	return b.body.Close()
}
