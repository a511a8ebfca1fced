package keep

import (
	"context"
	"errors"
	"fmt"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/blob"
)

// media has the files beside the store looked at, if there is somebody to do it.
func (d *doctor) media(ctx context.Context) error {
	if d.cfg.Media == nil {
		return nil
	}
	cfg := blob.CheckConfig{Deep: d.cfg.DeepMedia, ProgressFunc: func(done int64) {
		d.report.Blobs = done
		d.progress("checking media", done)
	}}
	err := d.cfg.Media.Check(ctx, cfg, d.note)
	switch {
	case err == nil:
	case fatal(ctx, err), errors.Is(err, parley.ErrInvalid):
		return fmt.Errorf("check the media: %w", err)
	default:
		d.note(parley.Problem{Kind: KindUnreadable, Detail: "the media cannot be checked to their end: " + err.Error()})
	}
	return nil
}

// refers makes sure that the store knows what an event refers to: who may see the
// session finds its media by that, and a sweep leaves them alone.
func (x *examination) refers(ctx context.Context, store parley.Store, e parley.Event, body parley.EventBody) error {
	for _, handle := range parley.BlobsIn(body) {
		if x.media[handle] {
			continue
		}
		_, err := store.Blob(ctx, parley.Visibility{All: true, Namespace: x.session.ID.Namespace()}, handle)
		if errors.Is(err, parley.ErrNotFound) {
			if err := x.lost(ctx, store, e, handle); err != nil {
				return err
			}
		} else if err != nil {
			return err
		}
		if x.media == nil {
			x.media = map[parley.BlobHandle]bool{}
		}
		x.media[handle] = true
	}
	return nil
}

// lost notes that nothing leads from an event to its blob, unless the event was
// redacted meanwhile.
func (x *examination) lost(ctx context.Context, store parley.Store, e parley.Event, handle parley.BlobHandle) error {
	again, err := store.Events(ctx, parley.SeeAll(), x.session.ID, parley.EventQuery{After: e.Seq - 1, Limit: 1})
	if err != nil {
		return err
	}
	if len(again) == 0 || again[0].Redacted() {
		return nil
	}
	switch _, err := store.Blob(ctx, parley.SeeAll(), handle); {
	case errors.Is(err, parley.ErrNotFound):
		x.gone.add("event %d shows media %s, which the store does not have", e.Seq, handle)
	case err != nil:
		return err
	default:
		x.unreferred.add("event %d shows media %s, and the store does not know that", e.Seq, handle)
	}
	return nil
}
