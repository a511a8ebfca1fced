package sqlite

import (
	"time"

	"github.com/parley-run/parley"
)

// applyBlobs registers and removes blobs.
func (t *tx) applyBlobs(at time.Time, changes []parley.BlobChange) error {
	for i := range changes {
		change := t.registerBlob
		if changes[i].Remove {
			change = t.removeBlob
		}
		if err := change(at, &changes[i]); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) registerBlob(at time.Time, b *parley.BlobChange) error {
	var nr, size int64
	found, err := t.c.one(func(r row) { nr, size = r.int(0), r.int(1) }, `SELECT nr, size FROM blobs WHERE handle = ?`, b.Handle)
	switch {
	case err != nil:
		return err
	case !found:
		return t.c.exec(`INSERT INTO blobs (handle, type, size, created_at, unused_since) VALUES (?1, ?2, ?3, ?4, ?4)`,
			b.Handle, b.Type, b.Size, at)
	case size != b.Size:
		return conflict("blob %q is known with %d bytes, not %d", b.Handle, size, b.Size)
	}
	return t.c.exec(`UPDATE blobs SET unused_since = ? WHERE nr = ? AND unused_since IS NOT NULL`, at, nr)
}

func (t *tx) removeBlob(_ time.Time, b *parley.BlobChange) error {
	var nr int64
	var since time.Time
	found, err := t.c.one(func(r row) { nr, since = r.int(0), r.time(1) }, `SELECT nr, unused_since FROM blobs WHERE handle = ?`, b.Handle)
	switch {
	case err != nil || !found:
		return err
	case since.IsZero():
		return conflict("blob %q is in use; redact or delete what refers to it first", b.Handle)
	case !b.UnusedBefore.IsZero() && since.UnixMicro() >= b.UnusedBefore.UnixMicro():
		return conflict("blob %q was used at %s", b.Handle, since.Format(time.RFC3339))
	}
	return t.c.exec(`DELETE FROM blobs WHERE nr = ?`, nr)
}

// findBlobs looks up the blobs that the batch's media name. That happens before
// sessions are changed: a batch that names a missing one has written nothing.
func (t *tx) findBlobs(handles []parley.BlobHandle) error {
	if len(handles) == 0 {
		return nil
	}
	t.blobs = make(map[parley.BlobHandle]int64, len(handles))
	for _, handle := range handles {
		found, err := t.c.one(func(r row) { t.blobs[handle] = r.int(0) }, `SELECT nr FROM blobs WHERE handle = ?`, handle)
		if err != nil {
			return err
		}
		if !found {
			return notFound("there is no media %q; store it first, and at most a day before it is used", handle)
		}
	}
	return nil
}

// refer notes that an event refers to blobs.
func (t *tx) refer(event int64, handles []parley.BlobHandle) error {
	for _, handle := range handles {
		if err := t.addRef(t.blobs[handle], event); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) addRef(blob, event int64) error {
	if err := t.c.exec(`INSERT INTO blob_refs (blob, event) VALUES (?, ?)`, blob, event); err != nil {
		return err
	}
	return t.c.exec(`UPDATE blobs SET unused_since = NULL WHERE nr = ? AND unused_since IS NOT NULL`, blob)
}

// dropRefs takes away the references of a range of events. Blobs that have none
// left are unused from at on.
func (t *tx) dropRefs(at time.Time, first, last int64) error {
	var blobs []int64
	err := t.c.each(func(r row) error {
		blobs = append(blobs, r.int(0))
		return nil
	}, `SELECT DISTINCT blob FROM blob_refs WHERE event BETWEEN ? AND ?`, first, last)
	if err != nil || len(blobs) == 0 {
		return err
	}
	if err := t.c.exec(`DELETE FROM blob_refs WHERE event BETWEEN ? AND ?`, first, last); err != nil {
		return err
	}
	for _, nr := range blobs {
		err := t.c.exec(`UPDATE blobs SET unused_since = ?1 WHERE nr = ?2 AND NOT EXISTS (SELECT 1 FROM blob_refs WHERE blob = ?2)`, at, nr)
		if err != nil {
			return err
		}
	}
	return nil
}

// rebuildRefs makes the references of an event anew. What is missing is missing:
// the event still says which blob it was.
func (t *tx) rebuildRefs(event int64, body parley.EventBody) error {
	for _, handle := range parley.BlobsIn(body) {
		var nr int64
		found, err := t.c.one(func(r row) { nr = r.int(0) }, `SELECT nr FROM blobs WHERE handle = ?`, handle)
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		if err := t.addRef(nr, event); err != nil {
			return err
		}
	}
	return nil
}
