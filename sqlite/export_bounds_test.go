package sqlite

import (
	"context"

	"github.com/ncruces/go-sqlite3"
)

// What docs/store.md says how much there is of at most.
const (
	MaxQueue         = maxQueue
	MaxGroupRequests = maxGroupRequests
	MaxGroupBytes    = maxGroupBytes
	RestartPages     = restartPages
)

// How long readers are waited for that are in the way, and when that is tried again.
const (
	ReaderTimeout = readerTimeout
	RetryPause    = retryPause
)

// What the write-ahead log is made of.
const (
	PageBytes      = pageBytes
	FrameBytes     = frameBytes
	WALHeaderBytes = walHeaderBytes
)

// TransactionSize is what a transaction has added to logs: to those of so many sessions, in so many bytes.
type TransactionSize struct{ Sessions, Bytes int }

// WatchTransactions tells the size of each transaction that is committed from now on, in the writer's goroutine.
func WatchTransactions(ctx context.Context, s *Store, tell func(TransactionSize)) error {
	return s.writer.submit(ctx, &request{apply: func(t *tx) error {
		c, last := t.c, t.pos
		c.db.WALHook(func(_ *sqlite3.Conn, _ string, pages int) error {
			s.writer.wal.noteLength(pages)
			var size TransactionSize
			_, err := c.one(func(r row) { size.Sessions, size.Bytes, last = int(r.int(0)), int(r.int(1)), r.seq(2) },
				`SELECT count(DISTINCT id >> 32), ifnull(sum(octet_length(body)), 0), ifnull(max(pos), ?1) FROM events WHERE pos > ?1`, last)
			tell(size)
			return err
		})
		return nil
	}})
}
