package mcp

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/secret"
	"github.com/parley-run/parley/tool"
)

// Limits on what a server says.
const (
	maxTools       = 256
	maxPages       = 64       // of a list of tools
	maxRawName     = 256      // bytes of a tool's name as the server gives it
	maxSchema      = 64 << 10 // bytes of a tool's schema
	maxDescription = 4 << 10  // bytes
	maxMessage     = 8 << 20  // bytes of one message
	maxSaid        = 1 << 10  // bytes of an error text
)

// Config says which server it is and how to reach it: by a command or by a URL.
type Config struct {
	// Name is the server's name: letters, digits, _ and -, at most 32. Its tools
	// are called NAME_TOOL.
	Name string

	// Command is the program to start, and its arguments.
	Command []string
	// Dir is the folder it starts in. "": the one of this process.
	Dir string
	// Env is what it has in its environment besides PATH, HOME and LANG, which
	// are those of this process unless they are here.
	Env map[string]Setting

	// URL is the address of a server that runs already, by https or http.
	URL string
	// Headers are added to each request.
	Headers map[string]Setting
	// Guard makes the connections. Nil: one that reaches public addresses only.
	Guard *tool.Guard

	ConnectTimeout time.Duration // until the server is ready; 0: 20 seconds
	Timeout        time.Duration // of a call; 0: a minute
	StopTimeout    time.Duration // how long a server may take to end by itself; 0: 2 seconds
	MaxResult      int           // bytes of a result's text; 0: 256 KiB

	// Scrubber takes secrets out of what the server says, those of Env and
	// Headers at least. Nil: one of its own.
	Scrubber *secret.Scrubber
	// KeepFunc keeps media of results. Nil: results tell only what there was.
	KeepFunc func(ctx context.Context, r io.Reader) (parley.Blob, error)
	// WarnFunc is told what is wrong with the server without making a call fail:
	// tools that were left out, output that is no message. The text holds no
	// secrets. It is called by several goroutines at once. Nil: nobody is told.
	WarnFunc func(text string)
}

// Setting is a variable of the environment or a header: Text, followed by the
// secret if there is one. SecretFunc is called for each connection, just before
// it is made.
type Setting struct {
	Text       string
	SecretFunc func(ctx context.Context) (secret.Value, error)
}

// value gives the whole, which is a secret if a part of it is.
func (s Setting) value(ctx context.Context, known *secret.Scrubber) (secret.Value, error) {
	if s.SecretFunc == nil {
		return secret.NewValue(s.Text), nil
	}
	v, err := s.SecretFunc(ctx)
	if err != nil {
		return secret.Value{}, err
	}
	known.Add(v)
	return secret.NewValue(s.Text + v.Reveal()), nil
}

// values gives what all settings are at this moment.
func values(ctx context.Context, what string, settings map[string]Setting, known *secret.Scrubber) (map[string]secret.Value, error) {
	all := make(map[string]secret.Value, len(settings))
	for name, s := range settings {
		v, err := s.value(ctx, known)
		if err != nil {
			return nil, &parley.Error{Code: parley.CodeOf(err), Message: "cannot get " + what + " " + name, Err: err}
		}
		all[name] = v
	}
	return all, nil
}

var (
	validName   = regexp.MustCompile(`^[A-Za-z0-9_-]{1,32}$`)
	validHeader = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")
)

func (c Config) withDefaults() Config {
	if c.ConnectTimeout <= 0 {
		c.ConnectTimeout = 20 * time.Second
	}
	if c.Timeout <= 0 {
		c.Timeout = time.Minute
	}
	if c.StopTimeout <= 0 {
		c.StopTimeout = 2 * time.Second
	}
	if c.MaxResult <= 0 {
		c.MaxResult = 256 << 10
	}
	if c.Scrubber == nil {
		c.Scrubber = &secret.Scrubber{}
	}
	if c.WarnFunc == nil {
		c.WarnFunc = func(string) {}
	}
	if c.Guard == nil {
		c.Guard = tool.NewGuard(tool.GuardConfig{})
	}
	c.Command = slices.Clone(c.Command)
	return c
}

func (c Config) check() error {
	if !validName.MatchString(c.Name) {
		return parley.Errorf(parley.CodeInvalid, "the name of an MCP server has letters, digits, _ and -, at most 32; %q does not fit", c.Name)
	}
	if (len(c.Command) > 0) == (c.URL != "") {
		return parley.Errorf(parley.CodeInvalid, "MCP server %s: give a command or a URL, and not both", c.Name)
	}
	if c.URL != "" {
		return c.checkURL()
	}
	if c.Command[0] == "" {
		return parley.Errorf(parley.CodeInvalid, "MCP server %s: the command is empty", c.Name)
	}
	for name := range c.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return parley.Errorf(parley.CodeInvalid, "MCP server %s: %q cannot be the name of a variable", c.Name, name)
		}
	}
	return nil
}

// ours are the headers that the protocol and the connection need themselves.
var ours = []string{
	"Accept", "Accept-Encoding", "Connection", "Content-Length", "Content-Type", "Host", "Last-Event-Id", "Mcp-Method", "Mcp-Name",
	"Mcp-Protocol-Version", "Mcp-Session-Id", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

func (c Config) checkURL() error {
	u, err := url.Parse(c.URL)
	switch {
	case err != nil:
		return parley.Errorf(parley.CodeInvalid, "MCP server %s: the URL cannot be read", c.Name)
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return parley.Errorf(parley.CodeInvalid, "MCP server %s: the URL starts with http:// or https:// and has a host", c.Name)
	case u.User != nil:
		return parley.Errorf(parley.CodeInvalid, "MCP server %s: the URL has a user name in it; put credentials into a header", c.Name)
	}
	for name := range c.Headers {
		if !validHeader.MatchString(name) || slices.Contains(ours, http.CanonicalHeaderKey(name)) {
			return parley.Errorf(parley.CodeInvalid, "MCP server %s: the header %q cannot be set", c.Name, name)
		}
	}
	return nil
}
