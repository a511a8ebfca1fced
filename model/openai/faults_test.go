package openai_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/modelserver"
	"github.com/parley-run/parley/model/openai"
)

// text is an answer that is long enough to be broken in its middle.
var text = modelserver.Reply{Text: []string{"one ", "two ", "three ", "four ", "five ", "six"}}

// broken gives text with a fault.
func broken(f modelserver.Fault) modelserver.Reply {
	r := text
	r.Fault = f
	return r
}

// styles are the connections that faults are tried on.
var styles = map[string]modelserver.OpenAIStyle{"http1": {}, "http2": {TLS: true}}

func TestFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fault modelserver.Fault
		said  bool // there is some text before the error
		want  string
	}{
		{modelserver.FaultHalf, true, "broke off"},
		{modelserver.FaultCut, true, "broke off: "},
		{modelserver.FaultGarbage, false, "did not answer with a stream of events"},
		{modelserver.FaultBadJSON, false, "makes no sense"},
	} {
		for name, style := range styles {
			t.Run(string(c.fault)+" "+name, func(t *testing.T) {
				t.Parallel()
				s := modelserver.OpenAILike(t, style, always(broken(c.fault)))
				g, err := collect(t, model(t, s, nil).Stream(t.Context(), user("hi")))
				if parley.CodeOf(err) != parley.CodeUnavailable || !strings.Contains(err.Error(), c.want) {
					t.Errorf("error is %v (%s), want %q", err, parley.CodeOf(err), c.want)
				}
				if (g.Text != "") != c.said {
					t.Errorf("the text before it is %q", g.Text)
				}
				if n := len(s.Requests()); n != 1 {
					t.Errorf("%d requests were sent; nothing is repeated", n)
				}
			})
		}
	}
}

// TestContextEnds ends the context while the server is silent, before and after
// the first piece, and in the middle of an endless answer.
func TestContextEnds(t *testing.T) {
	t.Parallel()
	for _, fault := range []modelserver.Fault{modelserver.FaultHang, modelserver.FaultStall, modelserver.FaultEndless} {
		for name, style := range styles {
			t.Run(string(fault)+" "+name, func(t *testing.T) {
				t.Parallel()
				ctx, cancel := context.WithCancel(t.Context())
				asked := make(chan struct{})
				s := modelserver.OpenAILike(t, style, func(modelserver.Request) modelserver.Reply {
					close(asked)
					return broken(fault)
				})
				if fault != modelserver.FaultEndless {
					go func() {
						<-asked
						cancel()
					}()
				}
				pieces := 0
				var failed error
				for _, err := range model(t, s, nil).Stream(ctx, user("hi")) {
					if pieces++; pieces == 3 {
						cancel()
					}
					failed = err
				}
				cancel()
				if !errors.Is(failed, context.Canceled) {
					t.Errorf("error is %v", failed)
				}
			})
		}
	}
}

func TestDeadline(t *testing.T) {
	t.Parallel()
	s := modelserver.OpenAI(t, always(broken(modelserver.FaultHang)))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := collect(t, model(t, s, nil).Stream(ctx, user("hi"))); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error is %v", err)
	}

	// A time limit of the connection is not one of the caller.
	m := model(t, s, func(c *openai.Config) {
		c.HTTPClient = &http.Client{Transport: s.Client().Transport, Timeout: 20 * time.Millisecond}
	})
	_, err := collect(t, m.Stream(t.Context(), user("hi")))
	if parley.CodeOf(err) != parley.CodeUnavailable || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error is %v (%s)", err, parley.CodeOf(err))
	}
}

// TestStopEarly stops in the middle of an endless answer: the server sees that
// nobody listens any more.
func TestStopEarly(t *testing.T) {
	t.Parallel()
	for name, style := range styles {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := modelserver.OpenAILike(t, style, always(broken(modelserver.FaultEndless)))
			gone := make(chan struct{})
			handler := s.Config.Handler
			s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				defer close(gone)
				handler.ServeHTTP(w, r)
			})
			n := 0
			for _, err := range model(t, s, nil).Stream(t.Context(), user("hi")) {
				if err != nil {
					t.Fatal(err)
				}
				if n++; n == 5 {
					break
				}
			}
			select {
			case <-gone:
			case <-time.After(30 * time.Second):
				t.Error("the server is still listened to")
			}
		})
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	s := modelserver.OpenAI(t, always(text))
	m := model(t, s, nil)
	s.Close()
	_, err := collect(t, m.Stream(t.Context(), user("hi")))
	if parley.CodeOf(err) != parley.CodeUnavailable || !strings.Contains(err.Error(), "openai/gpt-5 cannot be reached") {
		t.Errorf("error is %v (%s)", err, parley.CodeOf(err))
	}
}

func TestKey(t *testing.T) {
	t.Parallel()
	secret := errors.New("the keyring is locked")
	for _, c := range []struct {
		name    string
		keyFunc func(context.Context) (string, error)
		dialect openai.Dialect
		header  string
		code    parley.Code
	}{
		{name: "one", keyFunc: withKey, header: "Bearer " + testKey},
		{name: "with a line break", keyFunc: func(context.Context) (string, error) { return testKey + "\n", nil }, header: "Bearer " + testKey},
		{name: "none"},
		{name: "empty", keyFunc: func(context.Context) (string, error) { return "", nil }},
		{name: "empty for openai", dialect: openai.DialectOpenAI, keyFunc: func(context.Context) (string, error) { return " ", nil }, code: parley.CodeUnauthorized},
		{name: "fails", keyFunc: func(context.Context) (string, error) { return "", secret }, code: parley.CodeUnauthorized},
		{name: "fails for now", keyFunc: func(context.Context) (string, error) { return "", parley.ErrUnavailable }, code: parley.CodeUnavailable},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := modelserver.OpenAILike(t, modelserver.OpenAIStyle{NoKey: true}, always(text))
			m := model(t, s, func(cfg *openai.Config) { cfg.KeyFunc, cfg.Dialect = c.keyFunc, c.dialect })
			_, err := collect(t, m.Stream(t.Context(), user("hi")))
			if parley.CodeOf(err) != c.code {
				t.Fatalf("error is %v (%s), want %s", err, parley.CodeOf(err), c.code)
			}
			requests := s.Requests()
			if c.code != "" {
				if len(requests) != 0 {
					t.Error("a request was sent")
				}
				return
			}
			if got := requests[0].Header.Get("Authorization"); got != c.header {
				t.Errorf("header is %q", got)
			}
		})
	}
}

// TestEnvironment sets what the SDK would read, and expects that it is not.
func TestEnvironment(t *testing.T) {
	for name, value := range map[string]string{
		"OPENAI_API_KEY": "sk-from-environment", "OPENAI_BASE_URL": "http://127.0.0.1:1", "OPENAI_ORG_ID": "org-env",
		"OPENAI_PROJECT_ID": "proj-env", "OPENAI_ADMIN_KEY": "sk-admin", "OPENAI_CUSTOM_HEADERS": "X-Env: yes",
	} {
		t.Setenv(name, value)
	}
	s := modelserver.OpenAILike(t, modelserver.OpenAIStyle{NoKey: true}, always(text))
	m := model(t, s, func(c *openai.Config) { c.KeyFunc, c.Dialect = nil, openai.DialectCompatible })
	if _, err := collect(t, m.Stream(t.Context(), user("hi"))); err != nil {
		t.Fatal(err)
	}
	h := s.Requests()[0].Header
	for _, name := range []string{"Authorization", "Openai-Organization", "Openai-Project", "X-Env"} {
		if got := h.Get(name); got != "" {
			t.Errorf("%s is %q", name, got)
		}
	}
}
