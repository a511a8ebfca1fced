package openai_test

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/modelserver"
	"github.com/parley-run/parley/model/openai"
)

// TestMain runs the tests and finds goroutines they left behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const testKey = "sk-test-5f0c2b7d9e"

func withKey(context.Context) (string, error) { return testKey, nil }

// model makes a model that asks a server.
func model(t testing.TB, s *modelserver.Server, change func(*openai.Config)) *openai.Model {
	t.Helper()
	cfg := openai.Config{Model: "gpt-5", BaseURL: s.URL + "/v1", KeyFunc: withKey, HTTPClient: s.Client(), Dialect: openai.DialectOpenAI}
	if change != nil {
		change(&cfg)
	}
	m, err := openai.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// always gives the same answer to every request.
func always(r modelserver.Reply) func(modelserver.Request) modelserver.Reply {
	return func(modelserver.Request) modelserver.Reply { return r }
}

// got is an answer, taken apart.
type got struct {
	Text, Reasoning string
	Calls           []parley.ToolCall
	Done            *parley.ModelDone
}

// collect reads an answer to its end. It fails the test if the answer has more
// than one end.
func collect(t testing.TB, answer iter.Seq2[parley.ModelPiece, error]) (got, error) {
	t.Helper()
	var g got
	var failed error
	ends := 0
	for p, err := range answer {
		if ends > 0 {
			t.Errorf("after the end came %+v, %v", p, err)
		}
		switch {
		case err != nil:
			failed = err
			ends++
		case p.Done != nil:
			g.Done = p.Done
			ends++
		case p.Call != nil:
			g.Calls = append(g.Calls, *p.Call)
		case p.Kind == parley.PartText:
			g.Text += p.Text
		case p.Kind == parley.PartReasoning:
			g.Reasoning += p.Text
		default:
			t.Errorf("a piece is nothing: %+v", p)
		}
	}
	if ends != 1 {
		t.Errorf("the answer has %d ends", ends)
	}
	return g, failed
}

// user is a request with one message.
func user(text string) parley.ModelRequest {
	return parley.ModelRequest{Messages: []parley.ModelMessage{message(parley.MessageUser, parley.TextPart(text))}}
}

func message(role parley.MessageRole, parts ...parley.Part) parley.ModelMessage {
	m := parley.ModelMessage{Role: role}
	for _, p := range parts {
		m.Parts = append(m.Parts, parley.ModelPart{Part: p})
	}
	return m
}

func call(id, name, arguments string) parley.Part {
	return parley.Part{Kind: parley.PartToolCall, Call: &parley.ToolCall{ID: parley.CallID(id), Name: name, Arguments: []byte(arguments)}}
}

func result(id, text string) parley.Part {
	return parley.Part{Kind: parley.PartToolResult, Result: &parley.ToolResult{CallID: parley.CallID(id), Text: text}}
}

// canned is a connection that answers every request with the same bytes.
type canned struct {
	status int
	header http.Header
	body   string
	closed *bool
}

func (c canned) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		if err := req.Body.Close(); err != nil {
			return nil, err
		}
	}
	h := http.Header{"Content-Type": {"text/event-stream"}}
	for name, values := range c.header {
		h[http.CanonicalHeaderKey(name)] = values
	}
	status := c.status
	if status == 0 {
		status = http.StatusOK
	}
	return &http.Response{
		StatusCode: status, ProtoMajor: 1, ProtoMinor: 1, Header: h, Request: req,
		Body: &closeNoter{Reader: strings.NewReader(c.body), closed: c.closed},
	}, nil
}

type closeNoter struct {
	io.Reader
	closed *bool
}

func (c *closeNoter) Close() error {
	if c.closed != nil {
		*c.closed = true
	}
	return nil
}

// over makes a model that is answered by a canned connection.
func over(t testing.TB, c canned, change func(*openai.Config)) *openai.Model {
	t.Helper()
	cfg := openai.Config{Model: "gpt-5", BaseURL: "http://models.example/v1", KeyFunc: withKey, HTTPClient: &http.Client{Transport: c}}
	if change != nil {
		change(&cfg)
	}
	m, err := openai.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// quoted gives text as JSON.
func quoted(text string) string {
	data, err := json.Marshal(text)
	if err != nil {
		panic(err) // strings are always JSON
	}
	return string(data)
}
