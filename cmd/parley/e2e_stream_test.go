package main_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// frame is an event of a stream, with its id.
type frame struct {
	event

	ID string
}

// following is an open stream.
type following struct {
	frames chan frame // closed when the stream has ended
	stop   context.CancelFunc
	done   sync.WaitGroup
}

// follow opens a stream. It is closed at the end of the test.
func (d *process) follow(path, last string, headers ...string) *following {
	d.t.Helper()
	ctx, stop := context.WithCancel(d.t.Context())
	f := &following{frames: make(chan frame, 1<<16), stop: stop}
	if last != "" {
		headers = append(headers, "Last-Event-ID: "+last)
	}
	req := d.request(ctx, http.MethodGet, path, http.NoBody, append(headers, "Accept: text/event-stream")...)
	resp, err := d.client.Do(req)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(f.close)
	if resp.StatusCode != http.StatusOK {
		d.t.Errorf("the stream is refused: %s", resp.Status)
	}
	f.done.Go(func() {
		defer close(f.frames)
		defer func() { _ = resp.Body.Close() }() // it was read to its end
		var next frame
		lines := bufio.NewScanner(resp.Body)
		lines.Buffer(nil, 4<<20)
		for lines.Scan() {
			name, value, _ := strings.Cut(lines.Text(), ": ")
			switch name {
			case "data":
				_ = json.Unmarshal([]byte(value), &next.event) // what is no JSON is seen as empty
			case "id":
				next.ID = value
			case "":
				if next.Type != "" {
					f.frames <- next
				}
				next = frame{}
			}
		}
	})
	return f
}

func (f *following) close() {
	f.stop()
	f.done.Wait()
}

// until gives the events up to one that is looked for.
func (f *following) until(t *testing.T, found func(frame) bool) []frame {
	t.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	var all []frame
	for {
		select {
		case e, ok := <-f.frames:
			if !ok {
				t.Fatalf("the stream ended after %v", all)
			}
			all = append(all, e)
			if found(e) {
				return all
			}
		case <-late.C:
			t.Fatalf("what is waited for does not come; there was %v", all)
		}
	}
}

// rest gives the events up to the end of the stream.
func (f *following) rest(t *testing.T) []frame {
	t.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	var all []frame
	for {
		select {
		case e, ok := <-f.frames:
			if !ok {
				return all
			}
			all = append(all, e)
		case <-late.C:
			t.Fatalf("the stream does not end; there was %v", all)
		}
	}
}

// lastID gives the id that a client goes on from.
func lastID(seen []frame) string {
	id := ""
	for _, e := range seen {
		id = cmp.Or(e.ID, id)
	}
	return id
}

// checkSeqs fails unless the stored events among those seen are all that there are,
// each once and in order.
func checkSeqs(t *testing.T, seen []frame, stored []event) {
	t.Helper()
	var got, want []string
	for _, e := range seen {
		if e.Seq > 0 {
			got = append(got, fmt.Sprint(e.Seq, " ", e.Type))
		}
	}
	for _, e := range stored {
		want = append(want, fmt.Sprint(e.Seq, " ", e.Type))
	}
	if len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("seen were\n%s\nstored are\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
