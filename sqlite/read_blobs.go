package sqlite

import (
	"context"
	"math"
	"time"

	"github.com/parley-run/parley"
)

const blobColumns = `b.handle, b.type, b.size, b.created_at, b.unused_since`

func decodeBlob(r row) parley.Blob {
	return parley.Blob{
		Handle: parley.BlobHandle(r.text(0)), Type: r.text(1), Size: r.int(2), CreatedAt: r.time(3), UnusedSince: r.time(4),
	}
}

// Blob implements [parley.BlobReader].
func (s *Store) Blob(ctx context.Context, v parley.Visibility, handle parley.BlobHandle) (parley.Blob, error) {
	var blob parley.Blob
	err := s.read(ctx, "read blob", func(c *conn) error {
		var nr int64
		found, err := c.one(func(r row) { blob, nr = decodeBlob(r), r.int(5) },
			`SELECT `+blobColumns+`, b.nr FROM blobs b WHERE b.handle = ?`, handle)
		if err == nil && found {
			found, err = seesBlob(c, v, nr)
		}
		if err == nil && !found {
			err = notFound("there is no media %q", handle)
		}
		return err
	})
	if err != nil {
		return parley.Blob{}, err
	}
	return blob, nil
}

// seesBlob reports whether a session that v sees shows an event that refers to
// the blob. It goes by the references, or, where those are many, by the reader's
// own sessions.
func seesBlob(c *conn, v parley.Visibility, nr int64) (bool, error) {
	switch {
	case v.Empty():
		return false, nil
	case seesEverything(v):
		return true, nil
	}
	if !v.All {
		many, err := c.exists(`SELECT 1 FROM blob_refs WHERE blob = ? LIMIT 1 OFFSET ?`, nr, maxScan)
		if err != nil {
			return false, err
		}
		if many {
			return sessionsSeeBlob(c, v, nr)
		}
	}
	condition, args := visible(v)
	args = append([]any{nr}, args...)
	return c.exists(`SELECT 1 FROM blob_refs r JOIN sessions s ON s.nr = r.event >> 32 WHERE r.blob = ? AND `+condition+`
		UNION ALL SELECT 1 FROM blob_refs r JOIN session_logs l ON l.log = r.event >> 32 AND l.upto >= r.event & 0xFFFFFFFF
			JOIN sessions s ON s.nr = l.session WHERE r.blob = ? AND `+condition+` LIMIT 1`, append(args, args...)...)
}

// sessionsSeeBlob looks for the blob in each session of the reader's identities.
func sessionsSeeBlob(c *conn, v parley.Visibility, nr int64) (bool, error) {
	condition, args := visible(v)
	args = append([]any{identityList(v)}, args...)
	return c.exists(`SELECT 1 FROM participants p JOIN sessions s ON s.nr = p.session
		WHERE p.identity IN (SELECT value FROM json_each(?)) AND `+condition+` AND (
			EXISTS (SELECT 1 FROM blob_refs r WHERE r.blob = ? AND r.event BETWEEN s.nr << 32 AND s.nr << 32 | 0xFFFFFFFF)
			OR EXISTS (SELECT 1 FROM session_logs l JOIN blob_refs r ON r.blob = ? AND r.event BETWEEN l.log << 32 AND l.log << 32 | l.upto
				WHERE l.session = s.nr)) LIMIT 1`, append(args, nr, nr)...)
}

// Blobs implements [parley.BlobReader].
func (s *Store) Blobs(ctx context.Context, after parley.BlobHandle, limit int) ([]parley.Blob, error) {
	return s.listBlobs(ctx, "read blobs", `SELECT `+blobColumns+` FROM blobs b WHERE b.handle > ? ORDER BY b.handle LIMIT ?`,
		after, parley.PageSize(limit))
}

// UnusedBlobs implements [parley.BlobReader].
func (s *Store) UnusedBlobs(ctx context.Context, before time.Time, after parley.Blob, limit int) ([]parley.Blob, error) {
	since := int64(math.MinInt64)
	if !after.UnusedSince.IsZero() {
		since = after.UnusedSince.UnixMicro()
	}
	return s.listBlobs(ctx, "read unused blobs", `SELECT `+blobColumns+` FROM blobs b
		WHERE b.unused_since < ? AND (b.unused_since, b.handle) > (?, ?) ORDER BY b.unused_since, b.handle LIMIT ?`,
		before, since, after.Handle, parley.PageSize(limit))
}

func (s *Store) listBlobs(ctx context.Context, op, sql string, args ...any) ([]parley.Blob, error) {
	var list []parley.Blob
	err := s.read(ctx, op, func(c *conn) error {
		return c.each(func(r row) error {
			list = append(list, decodeBlob(r))
			return nil
		}, sql, args...)
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}
