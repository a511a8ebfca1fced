package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/model/openai"
	"github.com/parley-run/parley/turn"
)

// cancelStream measures how long a run goes on whose model writes without end.
func (r *run) cancelStream(ctx context.Context) (err error) {
	server, err := startEndless(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.close()) }()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	model, err := openai.New(openai.Config{Model: "endless", Provider: "local", BaseURL: server.url + "/v1", HTTPClient: client})
	if err != nil {
		return err
	}
	runner, err := turn.New(turn.Config{AgentFunc: func(context.Context, parley.TurnContext) (turn.Agent, error) {
		return turn.Agent{Models: []parley.Model{model}}, nil
	}})
	if err != nil {
		return err
	}
	return r.cancels(ctx, CancelStream,
		func(ctx context.Context, i int) (time.Duration, error) {
			journal := &watchedJournal{Transcript: turn.NewTranscript(), at: 1 + i%5, seen: make(chan struct{})}
			end, took, err := stopRun(ctx, runner, question(journal), journal.wait)
			if err == nil && (end.Last == nil || parley.PlainText(end.Last.Parts) == "") {
				err = wrong("a run that was stopped has not kept what its model had said")
			}
			return took, err
		},
		func(ctx context.Context, i int) (time.Duration, error) { return server.leave(ctx, client, 1+i%5) })
}

// watchedJournal is a journal that says when so many pieces of the answer were shown.
type watchedJournal struct {
	*turn.Transcript
	at   int
	seen chan struct{}
}

// Delta implements [parley.Journal].
func (w *watchedJournal) Delta(_ string, n int, _ parley.PartKind, _ string) {
	if n == w.at {
		close(w.seen)
	}
}

func (w *watchedJournal) wait(ctx context.Context) error {
	select {
	case <-w.seen:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// endlessModel is a model's server on loopback that never stops writing.
type endlessModel struct {
	url    string
	http   *http.Server
	served chan error
}

// endlessPause is between two pieces.
const endlessPause = 2 * time.Millisecond

func startEndless(ctx context.Context) (*endlessModel, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, &parley.Error{Code: parley.CodeUnavailable, Message: "no server can be started on 127.0.0.1", Err: err}
	}
	e := &endlessModel{
		url:    "http://" + listener.Addr().String(),
		http:   &http.Server{Handler: http.HandlerFunc(stream), ReadHeaderTimeout: cancelLimit},
		served: make(chan error, 1),
	}
	go func() { e.served <- e.http.Serve(listener) }()
	return e, nil
}

// close stops the server. Who was answered has to have gone by then: else it fails.
func (e *endlessModel) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	err := e.http.Shutdown(ctx)
	if err != nil {
		err = errors.Join(wrong("a connection is open still after its run was stopped: %v", err), e.http.Close())
	}
	<-e.served
	return err
}

// stream answers as the Chat Completions API does, until nobody reads any more.
func stream(w http.ResponseWriter, req *http.Request) {
	if _, err := io.Copy(io.Discard, req.Body); err != nil {
		return // the client is gone
	}
	w.Header().Set("Content-Type", "text/event-stream")
	tick := time.NewTicker(endlessPause)
	defer tick.Stop()
	flush := http.NewResponseController(w)
	for n := 0; ; n++ {
		_, err := fmt.Fprintf(w, "data: {\"id\":\"1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"endless\","+
			"\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"more %d \"},\"finish_reason\":null}]}\n\n", n)
		if err != nil || flush.Flush() != nil {
			return
		}
		select {
		case <-tick.C:
		case <-req.Context().Done():
			return
		}
	}
}

// leave reads the stream without a model around it, and gives how long the reading
// goes on when it is not wanted any more.
func (e *endlessModel) leave(ctx context.Context, client *http.Client, pieces int) (_ time.Duration, err error) {
	reading, cancel := context.WithCancel(ctx)
	defer cancel()
	req, err := http.NewRequestWithContext(reading, http.MethodPost, e.url, http.NoBody)
	if err != nil {
		return 0, err
	}
	res, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	defer func() { _ = res.Body.Close() }() // it was read to its end
	begun, ended := make(chan struct{}), make(chan time.Time, 1)
	go func() {
		buf := make([]byte, 4<<10)
		for n := 1; ; n++ {
			_, err := res.Body.Read(buf)
			if n == pieces {
				close(begun)
			}
			if err != nil && n >= pieces {
				break
			}
		}
		ended <- time.Now()
	}()
	<-begun
	start := time.Now()
	cancel()
	return (<-ended).Sub(start), context.Cause(ctx)
}
