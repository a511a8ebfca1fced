package httpapi

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"time"
)

// pipe is how a stream gets to its client.
type pipe interface {
	// write hands over all of b within a time, or fails.
	write(b []byte, within time.Duration) error
	// close frees it, and gives how much was written.
	close() int64
}

// responsePipe writes through the server, as with HTTP/2.
type responsePipe struct {
	w       *recorder
	control *http.ResponseController
}

func (p *responsePipe) write(b []byte, within time.Duration) error {
	_ = p.control.SetWriteDeadline(time.Now().Add(within)) // not every server can
	if _, err := p.w.Write(b); err != nil {
		return err
	}
	return p.control.Flush()
}

func (p *responsePipe) close() int64 { return p.w.bytes }

// connPipe writes to a connection that was taken over.
type connPipe struct {
	conn    net.Conn
	bytes   int64
	watcher chan struct{} // closed when nobody watches any more
}

func (p *connPipe) write(b []byte, within time.Duration) error {
	if err := p.conn.SetWriteDeadline(time.Now().Add(within)); err != nil {
		return err
	}
	n, err := p.conn.Write(b)
	p.bytes += int64(n)
	return err
}

// close ends the connection, and waits for who watches it.
func (p *connPipe) close() int64 {
	_ = p.conn.Close() // there is nobody to tell
	<-p.watcher
	return p.bytes
}

// takeOver takes the connection from the server, and writes the head of the
// answer. It reports false if the server keeps its connections. Unlink unties the
// stream from the request, which is over then.
func (st *stream) takeOver(unlink func() bool) bool {
	c := st.call
	conn, _, err := http.NewResponseController(c.w.ResponseWriter).Hijack()
	if err != nil {
		return false
	}
	unlink()
	p := &connPipe{conn: conn, watcher: make(chan struct{})}
	st.out = p
	c.w.status, c.w.begun = http.StatusOK, true
	header := c.w.Header()
	header.Set("Connection", "close")
	header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	var head bytes.Buffer
	head.WriteString("HTTP/1.1 200 OK\r\n")
	_ = header.Write(&head) // it is memory
	head.WriteString("\r\n")
	st.mu.Lock()
	st.sendLocked(head.Bytes())
	st.mu.Unlock()
	go st.watch(p)
	return true
}

// watch ends the stream when the client goes. One that sends more after its request
// does not want an answer to it here.
func (st *stream) watch(p *connPipe) {
	defer close(p.watcher)
	var b [1]byte
	_, _ = p.conn.Read(b[:]) // whatever it gives, the stream is over
	st.stop(context.Canceled)
}
