package httpapi_test

import (
	"log/slog"
	"testing"

	"github.com/parley-run/parley/httpapi"
)

// writerFunc is a function as a writer.
type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// TestAnswer_BeforeLog has a log that takes no line before the client has its answer.
func TestAnswer_BeforeLog(t *testing.T) {
	t.Parallel()
	answered, logged := make(chan struct{}), make(chan struct{})
	w := newWorld(t, func(c *httpapi.Config) {
		c.Log = slog.New(slog.NewJSONHandler(writerFunc(func(p []byte) (int, error) {
			<-answered
			close(logged)
			return len(p), nil
		}), nil))
	})
	w.must(200, "GET", "/healthz", "", nil)
	close(answered)
	<-logged
}
