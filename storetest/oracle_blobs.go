package storetest

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/parley-run/parley"
)

// changeBlobs registers and removes blobs, and makes sure that those the batch
// names are there.
func (o *oracle) changeBlobs(b *parley.Batch) error {
	for _, c := range b.Blobs {
		if err := o.changeBlob(b.At, c); err != nil {
			return err
		}
	}
	for i := range b.Sessions {
		for _, body := range bodiesOf(&b.Sessions[i]) {
			for _, handle := range handlesIn(body) {
				if _, known := o.blobs[handle]; !known {
					return missing("blob %s", handle)
				}
			}
		}
	}
	return nil
}

func (o *oracle) changeBlob(at time.Time, c parley.BlobChange) error {
	b, known := o.blobs[c.Handle]
	if !c.Remove {
		if known && b.Size != c.Size {
			return conflict("blob %s has %d bytes", c.Handle, b.Size)
		}
		if !known {
			b = parley.Blob{Handle: c.Handle, Type: c.Type, Size: c.Size, CreatedAt: instant(at)}
		}
		if !o.refersTo(c.Handle) {
			b.UnusedSince = instant(at)
		}
		o.blobs[c.Handle] = b
		return nil
	}
	switch {
	case !known:
	case o.refersTo(c.Handle):
		return conflict("blob %s is referred to", c.Handle)
	case !c.UnusedBefore.IsZero() && !b.UnusedSince.Before(c.UnusedBefore):
		return conflict("blob %s was used at %v", c.Handle, b.UnusedSince)
	}
	delete(o.blobs, c.Handle)
	return nil
}

// useBlobs notes that an event refers to blobs, from when on they are not unused.
func (o *oracle) useBlobs(body parley.EventBody) {
	for _, handle := range handlesIn(body) {
		if b, known := o.blobs[handle]; known {
			b.UnusedSince = time.Time{}
			o.blobs[handle] = b
		}
	}
}

// settleBlobs notes which blobs lost their last reference in a batch.
func (o *oracle) settleBlobs(at time.Time) {
	for handle, b := range o.blobs {
		if b.UnusedSince.IsZero() && !o.refersTo(handle) {
			b.UnusedSince = instant(at)
			o.blobs[handle] = b
		}
	}
}

// refersTo reports whether an event that some session shows names the blob.
func (o *oracle) refersTo(handle parley.BlobHandle) bool {
	for _, s := range o.sessions {
		if o.namesBlob(s, handle) {
			return true
		}
	}
	return false
}

// namesBlob reports whether an event that the session shows names the blob.
func (o *oracle) namesBlob(s *oracleSession, handle parley.BlobHandle) bool {
	return slices.ContainsFunc(s.shows, func(pos uint64) bool {
		return slices.Contains(handlesIn(o.event(pos).body), handle)
	})
}

// handlesIn gives the handles that stand in the media of a body.
func handlesIn(body parley.EventBody) []parley.BlobHandle {
	var parts []parley.Part
	if m, ok := body.(*parley.Message); ok {
		parts = m.Parts
	}
	if in, ok := body.(*parley.Admitted); ok {
		parts = in.Parts
	}
	var list []parley.BlobHandle
	for _, p := range parts {
		if p.Media != nil {
			list = append(list, parley.BlobHandle(p.Media.Handle))
		}
		if p.Result != nil && p.Result.Media != nil {
			list = append(list, parley.BlobHandle(p.Result.Media.Handle))
		}
	}
	return list
}

// Blob implements [parley.Store].
func (o *oracle) Blob(_ context.Context, v parley.Visibility, handle parley.BlobHandle) (parley.Blob, error) {
	b, known := o.blobs[handle]
	if !known {
		return parley.Blob{}, missing("blob %s", handle)
	}
	if v.All && v.Namespace == "" {
		return b, nil
	}
	seen, _ := o.visibleSessions(v, "")
	for _, s := range seen {
		if o.namesBlob(s, handle) {
			return b, nil
		}
	}
	return parley.Blob{}, missing("blob %s", handle)
}

// Blobs implements [parley.Store].
func (o *oracle) Blobs(_ context.Context, after parley.BlobHandle, limit int) ([]parley.Blob, error) {
	var list []parley.Blob
	for _, handle := range slices.Sorted(maps.Keys(o.blobs)) {
		if handle > after && len(list) < parley.PageSize(limit) {
			list = append(list, o.blobs[handle])
		}
	}
	return list, nil
}

// UnusedBlobs implements [parley.Store].
func (o *oracle) UnusedBlobs(_ context.Context, before time.Time, after parley.Blob, limit int) ([]parley.Blob, error) {
	order := func(a, b parley.Blob) int {
		return cmp.Or(a.UnusedSince.Compare(b.UnusedSince), cmp.Compare(a.Handle, b.Handle))
	}
	var list []parley.Blob
	for _, b := range o.blobs {
		if !b.UnusedSince.IsZero() && b.UnusedSince.Before(before) && order(b, after) > 0 {
			list = append(list, b)
		}
	}
	slices.SortFunc(list, order)
	return list[:min(len(list), parley.PageSize(limit))], nil
}
