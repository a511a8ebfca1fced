package request

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/secret"
	"github.com/parley-run/parley/tool"
)

// Name is the tool's.
const Name = "http_request"

// Config is what the tool can be told. The zero value of each field is its
// default.
type Config struct {
	// Guard makes the connections. Nil: to public addresses, on the ports 80 and 443.
	Guard *tool.Guard
	// Timeout is how long a request may take, with all redirects and the whole
	// answer. A call can ask for less. 0: 30 seconds.
	Timeout time.Duration
	// MaxBody is how many bytes of an answer are read, after it was unpacked. Of
	// longer text there is the beginning. 0: 2 MiB.
	MaxBody int64
	// Credentials are added to requests to their hosts.
	Credentials []Credential
	// Scrubber is told of each credential before it is sent, and takes them out of
	// what comes back. Nil: one of the tool's own.
	Scrubber *secret.Scrubber
	// KeepFunc stores answers that are not text, such as the Put of a blob store.
	// Nil: the model is told their type and size.
	KeepFunc func(ctx context.Context, r io.Reader) (parley.Blob, error)
	// UserAgent is what the tool calls itself. "": parley.
	UserAgent string
}

// Limits of a request.
const (
	maxURL      = 8 << 10
	maxHeaders  = 16 << 10
	maxRequest  = 200 << 10 // its body; arguments have a limit as well
	defaultBody = 2 << 20
	// halfSecret is how much of an answer that was not read to its end is left
	// out: a secret there may be cut in two, and is not found then.
	halfSecret = 8 << 10
)

// Tool is http_request. It may be used by many turns at once.
type Tool struct {
	cfg    Config
	client *http.Client
	spec   parley.ToolSpec
}

var _ parley.Tool = (*Tool)(nil)

// New makes the tool. It fails with [parley.CodeInvalid] for credentials that can
// not be used.
func New(cfg Config) (*Tool, error) {
	if cfg.Guard == nil {
		cfg.Guard = tool.NewGuard(tool.GuardConfig{})
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = 30 * time.Second
	}
	if cfg.MaxBody <= 0 {
		cfg.MaxBody = defaultBody
	}
	if cfg.Scrubber == nil {
		cfg.Scrubber = &secret.Scrubber{}
	}
	if cfg.UserAgent == "" {
		cfg.UserAgent = "parley"
	}
	known, err := readCredentials(cfg.Credentials)
	if err != nil {
		return nil, err
	}
	t := &Tool{cfg: cfg, spec: describe(cfg.Timeout)}
	t.client = cfg.Guard.Client(tool.Limits{Timeout: cfg.Timeout, MaxBody: cfg.MaxBody})
	t.client.Transport = &signer{next: t.client.Transport, known: known, scrubber: cfg.Scrubber}
	return t, nil
}

// Spec describes the tool.
func (t *Tool) Spec() parley.ToolSpec { return t.spec }

func describe(timeout time.Duration) parley.ToolSpec {
	schema := fmt.Sprintf(`{
	"type": "object", "additionalProperties": false, "required": ["url"],
	"properties": {
		"method": {"type": "string", "enum": ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"], "description": "GET if it is left out."},
		"url": {"type": "string", "minLength": 1, "maxLength": %d, "description": "An http or https address."},
		"headers": {"type": "object", "maxProperties": 50, "additionalProperties": {"type": "string"}},
		"body": {"type": "string", "maxLength": %d, "description": "The text to send. Its Content-Type is a header."},
		"timeout_seconds": {"type": "integer", "minimum": 1, "maximum": %d}
	}
}`, maxURL, maxRequest, max(1, int(timeout.Seconds())))
	return parley.ToolSpec{
		Name: Name,
		Description: "Sends one HTTP request to a public address and gives back status, some headers and the body. " +
			"Redirects are followed. Credentials that are configured for a host are added by themselves.",
		Schema: json.RawMessage(schema),
	}
}

// arguments are those of a call.
type arguments struct {
	Method         string            `json:"method"`
	URL            string            `json:"url"`
	Headers        map[string]string `json:"headers"`
	Body           *string           `json:"body"`
	TimeoutSeconds int               `json:"timeout_seconds"`
}

// Run sends the request. Whatever goes wrong with it is a result that the model
// reads; an error is returned when ctx has ended. The answer to a request that
// reached a server is no error, whatever its status. A request is sent once.
func (t *Tool) Run(ctx context.Context, _ parley.ToolCaller, call parley.ToolCall) (parley.ToolResult, error) {
	var args arguments
	d := json.NewDecoder(bytes.NewReader(call.Arguments))
	d.DisallowUnknownFields()
	if err := d.Decode(&args); err != nil {
		return failed("the arguments cannot be read: " + err.Error()), nil
	}
	timeout := t.cfg.Timeout
	if n := time.Duration(args.TimeoutSeconds) * time.Second; n > 0 && n < timeout {
		timeout = n
	}
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := t.request(limited, args)
	if err != nil {
		return t.clean(failed(message(err))), nil
	}
	result, err := t.send(limited, req)
	if err == nil {
		return t.clean(result), nil
	}
	if ctx.Err() != nil {
		return parley.ToolResult{}, fmt.Errorf("%s: %w", Name, ctx.Err())
	}
	return t.clean(failed(t.explain(err, timeout))), nil
}

func failed(text string) parley.ToolResult { return parley.ToolResult{Text: text, IsError: true} }

// clean takes the credentials out of a result.
func (t *Tool) clean(r parley.ToolResult) parley.ToolResult {
	r.Text = t.cfg.Scrubber.Text(r.Text)
	return r
}

// send sends a request and reads the answer.
func (t *Tool) send(ctx context.Context, req *http.Request) (parley.ToolResult, error) {
	resp, err := t.client.Do(req)
	if err != nil {
		return parley.ToolResult{}, err
	}
	defer func() { _ = resp.Body.Close() }() // it was only read
	body, err := io.ReadAll(resp.Body)
	cut := errors.Is(err, parley.ErrTooLarge)
	if err != nil && !cut {
		return parley.ToolResult{}, fmt.Errorf("the answer broke off: %w", err)
	}
	return t.show(ctx, req, resp, body, cut), nil
}

// explain says why there is no answer.
func (t *Tool) explain(err error, timeout time.Duration) string {
	if _, ok := errors.AsType[*parley.Error](err); ok && !errors.Is(err, parley.ErrUnavailable) {
		return message(err)
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok && !dns.Timeout() {
		return "there is no host called " + strconv.Quote(dns.Name)
	}
	var slow interface{ Timeout() bool }
	if errors.Is(err, context.DeadlineExceeded) || errors.As(err, &slow) && slow.Timeout() {
		return fmt.Sprintf("there was no whole answer within %s", timeout)
	}
	if outer, ok := errors.AsType[*url.Error](err); ok {
		err = outer.Err // without the address, which is known
	}
	text := t.cfg.Scrubber.Text(err.Error())
	if !utf8.ValidString(text) || len(text) > 1000 {
		text = strings.ToValidUTF8(text[:min(len(text), 1000)], "\uFFFD")
	}
	return "the request failed: " + text
}

// message is what an error says, without what is around it.
func message(err error) string {
	if e, ok := errors.AsType[*parley.Error](err); ok {
		return e.Message
	}
	return err.Error()
}
