package parley

import (
	"context"
	"time"
)

// Blob is what a store knows of one piece of media. Its bytes lie beside the
// store, and are there before the blob is.
type Blob struct {
	Handle    BlobHandle `json:"handle"`
	Type      string     `json:"media_type"` // as found in the bytes
	Size      int64      `json:"size"`
	CreatedAt time.Time  `json:"created_at"`
	// UnusedSince is when the last event that referred to the blob went, or the
	// last registration if none did since. It is zero while an event refers to
	// the blob.
	UnusedSince time.Time `json:"unused_since,omitzero"`
}

// BlobChange registers a blob or removes one.
//
// A handle names its content, so registering it again leaves type and time as
// they are, and counts as being used at that moment; another size is
// [CodeConflict].
type BlobChange struct {
	Handle BlobHandle
	Type   string
	Size   int64
	// Remove takes the blob away. One that an event refers to is
	// [CodeConflict]; one that is not there is no error.
	Remove bool
	// UnusedBefore, if set, narrows Remove to a blob that was last used before:
	// else it is [CodeConflict] as well.
	UnusedBefore time.Time
}

// BlobReader reads blobs. References are made by the store, from the events it
// appends: an event refers to the blobs its media name, until it is redacted or
// gone.
type BlobReader interface {
	// Blob gives one blob, if a session that v sees shows an event that refers
	// to it. Who sees everything finds it also if none does.
	Blob(ctx context.Context, v Visibility, handle BlobHandle) (Blob, error)
	// Blobs gives all blobs by handle, those after the given one. Who may do
	// that, or ask for the unused ones, is decided above the store.
	Blobs(ctx context.Context, after BlobHandle, limit int) ([]Blob, error)
	// UnusedBlobs gives the blobs that have been unused since before an instant,
	// the longest unused first, and by handle. It starts behind after, which may
	// be gone; its zero value is the beginning.
	UnusedBlobs(ctx context.Context, before time.Time, after Blob, limit int) ([]Blob, error)
}

// BlobsIn gives the blobs that the body of an event refers to, each once.
func BlobsIn(body EventBody) []BlobHandle {
	var parts []Part
	switch b := body.(type) {
	case *Admitted:
		parts = b.Parts
	case *Message:
		parts = b.Parts
	}
	var list []BlobHandle
	var seen map[BlobHandle]bool
	for i := range parts {
		m := parts[i].Media
		if m == nil && parts[i].Result != nil {
			m = parts[i].Result.Media
		}
		if m == nil || seen[BlobHandle(m.Handle)] {
			continue
		}
		if seen == nil {
			seen = map[BlobHandle]bool{}
		}
		seen[BlobHandle(m.Handle)] = true
		list = append(list, BlobHandle(m.Handle))
	}
	return list
}

func (c *BlobChange) validate() error {
	if err := c.Handle.Validate(); err != nil {
		return err
	}
	if c.Remove {
		return checkTime("the time a blob is unused before", c.UnusedBefore)
	}
	if c.Size < 1 {
		return invalidf("a blob has at least one byte")
	}
	return checkText("media type", c.Type, 1, MaxIDBytes)
}
