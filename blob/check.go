package blob

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"io"

	"github.com/parley-run/parley"
)

// The kinds of problems that [Store.Check] finds.
const (
	KindMissing    = "media_missing"    // a registered blob has no file
	KindDamaged    = "media_damaged"    // a file does not hold what was put
	KindUnreadable = "media_unreadable" // a file cannot be read here: another form, or the disk
)

// CheckConfig of [Store.Check]. The zero value looks at every file, and reads
// none to its end.
type CheckConfig struct {
	// Deep reads everything and compares it with its name.
	Deep bool
	// ProgressFunc, if set, is told now and then how many blobs were looked at.
	ProgressFunc func(done int64)
}

// Check looks whether every registered blob has its file. It reports what it
// finds and goes on; its error says that it could not look. The store may be in
// use meanwhile.
func (s *Store) Check(ctx context.Context, cfg CheckConfig, report func(parley.Problem)) error {
	if cfg.Deep && len(s.cfg.Key) == 0 {
		return parley.Errorf(parley.CodeInvalid, "media cannot be compared with their names without the key that names them")
	}
	return s.each(ctx, cfg.ProgressFunc, func(b parley.Blob) error {
		err := s.examine(ctx, b, cfg.Deep)
		if err == nil || ctx.Err() != nil {
			return ctx.Err()
		}
		// It may have been swept meanwhile.
		if _, gone := s.index.Blob(ctx, parley.SeeAll(), b.Handle); errors.Is(gone, parley.ErrNotFound) {
			return nil
		}
		report(parley.Problem{Kind: kindOf(err), Detail: err.Error()})
		return nil
	})
}

// each calls f for every registered blob, by handle.
func (s *Store) each(ctx context.Context, progress func(int64), f func(parley.Blob) error) error {
	var after parley.BlobHandle
	var done int64
	for {
		page, err := s.index.Blobs(ctx, after, parley.MaxPageSize)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, b := range page {
			if err := f(b); err != nil {
				return err
			}
			done++
			if progress != nil {
				progress(done)
			}
		}
		after = page[len(page)-1].Handle
	}
}

// examine opens a blob and, if deep, reads it.
func (s *Store) examine(ctx context.Context, b parley.Blob, deep bool) error {
	content, err := s.open(b)
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }() // it was only read
	if !deep {
		return nil
	}
	mac := hmac.New(sha256.New, s.cfg.Key)
	if _, err := copyLimited(ctx, mac, content, b.Size); err != nil {
		return err
	}
	if handleOf(mac.Sum(nil)) != b.Handle {
		return damaged(b.Handle, "because its content is not what its name says (or was named with another key)")
	}
	return nil
}

func kindOf(err error) string {
	switch {
	case errors.Is(err, ErrMissing):
		return KindMissing
	case errors.Is(err, ErrDamaged), errors.Is(err, io.ErrUnexpectedEOF):
		return KindDamaged
	}
	return KindUnreadable
}
