package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// filtered is a transport that lets through only what is of use here: answers,
// and that the list of tools has changed. All requests of the server are answered
// right away, so that it cannot pile up work, and its other notifications are
// dropped.
type filtered struct {
	below sdk.Transport
	// changedFunc is told that the list has changed, and reports whether that is
	// news.
	changedFunc func() bool
	// versionFunc is told the version that was agreed upon.
	versionFunc func(version string)

	made *filter // by Connect
}

// Connect makes the connection below, and a goroutine that answers the server.
func (t *filtered) Connect(ctx context.Context) (sdk.Connection, error) {
	below, err := t.below.Connect(ctx)
	if err != nil {
		return nil, err
	}
	t.made = &filter{Connection: below, filtered: t, answers: make(chan *jsonrpc.Response, 16), quit: make(chan struct{})}
	t.made.work.Go(t.made.answer)
	return t.made, nil
}

// wait returns when the goroutine of a closed connection has ended.
func (t *filtered) wait() {
	if t.made != nil {
		_ = t.made.Close() // it is closed, or was given up before anybody could
		t.made.work.Wait()
	}
}

type filter struct {
	sdk.Connection
	*filtered

	answers chan *jsonrpc.Response
	quit    chan struct{}
	once    sync.Once
	work    sync.WaitGroup

	mu        sync.Mutex
	handshake jsonrpc.ID
}

// answerTimeout is how long an answer to a request of the server may take. The
// next one waits for it.
const answerTimeout = 5 * time.Second

func (f *filter) answer() {
	for {
		select {
		case a := <-f.answers:
			ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
			_ = f.Connection.Write(ctx, a) // a server that does not take answers goes without
			cancel()
		case <-f.quit:
			return
		}
	}
}

// Close closes the connection below.
func (f *filter) Close() error {
	f.once.Do(func() { close(f.quit) })
	return f.Connection.Close()
}

// Write sends a message.
func (f *filter) Write(ctx context.Context, msg jsonrpc.Message) error {
	req, ok := msg.(*jsonrpc.Request)
	if !ok || !req.IsCall() {
		ctx = withNote(ctx, nil) // that of the call this is about, which has its own fate
	} else if req.Method == "initialize" {
		f.mu.Lock()
		f.handshake = req.ID
		f.mu.Unlock()
	}
	return f.Connection.Write(ctx, msg)
}

// Read gives the next message that is of use.
func (f *filter) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		msg, err := f.Connection.Read(ctx)
		if err != nil {
			return nil, err
		}
		switch m := msg.(type) {
		case *jsonrpc.Response:
			f.agreed(m)
			m.Result = verbatim(m.Result)
			return m, nil
		case *jsonrpc.Request:
			switch {
			case m.IsCall():
				f.refuse(m)
			case m.Method == "notifications/tools/list_changed" && f.changedFunc():
				return m, nil
			}
		}
	}
}

// refuse answers a request of the server. If it asks faster than it takes the
// answers, some get none.
func (f *filter) refuse(req *jsonrpc.Request) {
	a := &jsonrpc.Response{ID: req.ID, Error: &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "not supported by this client"}}
	if req.Method == "ping" {
		a = &jsonrpc.Response{ID: req.ID, Result: json.RawMessage("{}")}
	}
	select {
	case f.answers <- a:
	default:
	}
}

// agreed notes the version in the answer to the first request.
func (f *filter) agreed(m *jsonrpc.Response) {
	f.mu.Lock()
	first := f.handshake.IsValid() && m.ID == f.handshake
	f.mu.Unlock()
	var v struct {
		ProtocolVersion string `json:"protocolVersion"`
	}
	if first && json.Unmarshal(m.Result, &v) == nil {
		f.versionFunc(v.ProtocolVersion)
	}
}

// verbatim puts the structured content of a result into a text. Decoded as it is,
// its large numbers would come out as others.
func verbatim(result json.RawMessage) json.RawMessage {
	const field = "structuredContent"
	if !bytes.Contains(result, []byte(`"`+field+`"`)) {
		return result
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(result, &fields) != nil || fields[field] == nil || string(fields[field]) == "null" {
		return result
	}
	text, err := json.Marshal(string(fields[field]))
	if err != nil {
		return result
	}
	fields[field] = text
	if changed, err := json.Marshal(fields); err == nil {
		return changed
	}
	return result
}
