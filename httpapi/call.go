package httpapi

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"unicode"

	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/engine"
)

// call is one request that is being answered.
type call struct {
	*Server
	w       *recorder
	r       *http.Request
	id      string // of the request
	method  string
	pattern string
	address string // where a request comes from that was let go
	cred    access.Credential
	log     *slog.Logger
	status  int  // of the answer, if it is no error
	took    bool // the handler answers by itself
	// detached says that the answer goes on after the request
	detached bool
	refused  int // the status of an error, if not that of its code
}

// newCall begins to answer a request.
func (s *Server) newCall(w http.ResponseWriter, r *http.Request) *call {
	c := &call{Server: s, w: &recorder{ResponseWriter: w, limit: s.cfg.Limits.Write}, r: r, method: cut(r.Method), log: s.log, status: http.StatusOK}
	if c.id = r.Header.Get("X-Request-Id"); !saneID(c.id) {
		var random [8]byte
		_, _ = rand.Read(random[:]) // it never fails
		c.id = hex.EncodeToString(random[:])
	}
	return c
}

// saneID reports whether a client's request id can stand in a log.
func saneID(id string) bool {
	if id == "" || len(id) > 64 {
		return false
	}
	for _, r := range id {
		if r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-", r) {
			return false
		}
	}
	return true
}

// handle gives the engine for who asks.
func (c *call) handle() *engine.Handle { return c.engine.As(c.cred.Caller) }

// write answers with a body in JSON.
func (c *call) write(status int, body any) {
	if status == http.StatusNoContent || status == http.StatusNotModified {
		c.w.WriteHeader(status)
		return
	}
	var data []byte
	if raw, ok := body.(json.RawMessage); ok {
		data = append(append(data, raw...), '\n')
	} else {
		var err error
		if data, err = encode(body); err != nil {
			c.log.Error("an answer cannot be encoded", "request", c.id, "route", c.pattern, "error", err)
			status, data = http.StatusInternalServerError, []byte(`{"error":{"code":"internal","message":"the answer cannot be written"}}`+"\n")
		}
	}
	h := c.w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(data)))
	c.w.WriteHeader(status)
	_, _ = c.w.Write(data) // the client has gone; there is nobody to tell
	// At once: what follows, the log and the figures, is not for the client to wait for.
	_ = http.NewResponseController(c.w).Flush() // not every server can; then it comes a little later
}

// encode is JSON as people expect it in a text: with < and & as they are.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return b.Bytes(), err
}
