package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/parley-run/parley/internal/disk"
)

// bareFile is what callers who share a file cannot do without: its space is set aside
// beforehand, records are appended and synced, and where there are several callers,
// they hand their records to the one that writes. Nothing is made of a record.
type bareFile struct {
	file   *os.File
	record []byte
	at     int64
	size   int64
}

// newBare makes the file, with room for so many records of the given size.
func newBare(dir string, recordBytes, records int) (*bareFile, error) {
	f, err := os.CreateTemp(dir, "bare-*")
	if err != nil {
		return nil, fmt.Errorf("make the bare file: %w", err)
	}
	b := &bareFile{file: f, record: make([]byte, recordBytes), size: int64(recordBytes) * int64(records)}
	for i := range b.record {
		b.record[i] = byte('a' + i%26)
	}
	err = preallocate(f, b.size)
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("set space aside for the bare file: %w", err), f.Close())
	}
	return b, nil
}

func (b *bareFile) close() error { return b.file.Close() }

// append writes data and makes it durable.
func (b *bareFile) append(data []byte) error {
	if b.at+int64(len(data)) > b.size {
		return errors.New("the bare file is full")
	}
	if _, err := b.file.WriteAt(data, b.at); err != nil {
		return fmt.Errorf("write the bare file: %w", err)
	}
	b.at += int64(len(data))
	if err := disk.SyncData(b.file); err != nil {
		return fmt.Errorf("sync the bare file: %w", err)
	}
	return nil
}

// alone gives the records per second of one writer: append, sync, next.
func (b *bareFile) alone(ctx context.Context, l stretch) (float64, error) {
	start := time.Now()
	n := 0
	for ; n < l.each && !l.over(start, n); n++ {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if err := b.append(b.record); err != nil {
			return 0, err
		}
	}
	return rate(n, time.Since(start)), nil
}

// together gives the records per second of as many writers at once: each, a
// goroutine of its own, hands its record over and waits; when all have, one write
// and one sync serve them. So its time is the disk's and that of the handing over.
func (b *bareFile) together(ctx context.Context, writers int, l stretch) (float64, error) {
	queue := make(chan []byte, writers)
	answers := make([]chan bool, writers)
	var running sync.WaitGroup
	start := time.Now()
	for i := range answers {
		answers[i] = make(chan bool, 1)
		running.Go(func() {
			for more := true; more; more = <-answers[i] {
				queue <- b.record
			}
		})
	}
	batch := make([]byte, 0, writers*len(b.record))
	var err error
	n := 0
	for more := true; more; {
		batch = batch[:0]
		for range writers {
			batch = append(batch, <-queue...)
		}
		if err = b.append(batch); err == nil {
			err = ctx.Err()
		}
		n++
		more = err == nil && n < l.each && !l.over(start, n)
		for _, answer := range answers {
			answer <- more
		}
	}
	running.Wait()
	return rate(n*writers, time.Since(start)), err
}

// fillZeros sets space aside where the system has no call for it.
func fillZeros(f *os.File, size int64) error {
	zeros := make([]byte, 1<<20)
	for at := int64(0); at < size; at += int64(len(zeros)) {
		if _, err := f.WriteAt(zeros[:min(size-at, int64(len(zeros)))], at); err != nil {
			return err
		}
	}
	return nil
}
