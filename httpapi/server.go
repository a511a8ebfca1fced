package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/engine"
	"github.com/parley-run/parley/route"
)

// Server answers requests for an engine. Its methods may be called by many
// goroutines.
type Server struct {
	engine   *engine.Engine
	cfg      Config
	log      *slog.Logger
	mux      *http.ServeMux
	entries  []*entry
	document []byte              // the OpenAPI document
	origin   string              // of Config.PublicURL; empty: not given
	requests [2]*access.Throttle // nil: no limit
	bad      *access.Throttle
	streams  streams
	frames   frames
}

// New makes a server for an engine. A configuration that cannot work is
// [parley.CodeInvalid].
func New(eng *engine.Engine, cfg Config) (*Server, error) {
	if cfg.People == nil && cfg.AuthenticateFunc == nil {
		return nil, invalidf("a server needs people, or a way to authenticate requests")
	}
	if cfg.Prefix != "" && (cfg.Prefix[0] != '/' || strings.HasSuffix(cfg.Prefix, "/") || strings.ContainsAny(cfg.Prefix, "{}")) {
		return nil, invalidf("prefix %q must begin with a slash and not end with one", cfg.Prefix)
	}
	if cfg.Clock == nil {
		cfg.Clock = parley.SystemClock{}
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.RouteFunc == nil {
		rt, err := route.New(route.Config{})
		if err != nil {
			return nil, err
		}
		cfg.RouteFunc = func() *route.Router { return rt }
	}
	if cfg.AgentFunc == nil {
		cfg.AgentFunc = func(name string) (Agent, bool) {
			return Agent{Door: access.DoorPrivate, Snapshot: parley.AgentSnapshot{Name: name}}, true
		}
	}
	cfg.Limits = cfg.Limits.withDefaults()
	s := &Server{engine: eng, cfg: cfg, log: cfg.Log, mux: http.NewServeMux()}
	if cfg.PublicURL != "" {
		u, err := url.Parse(cfg.PublicURL)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return nil, invalidf("public URL %q must be one such as https://parley.example", cfg.PublicURL)
		}
		s.origin = u.Scheme + "://" + u.Host
	}
	s.requests, s.bad = newThrottles(cfg)
	s.streams.init()
	s.routes()
	document, err := s.openAPI()
	if err != nil {
		return nil, fmt.Errorf("make the OpenAPI document: %w", err)
	}
	s.document = document
	return s, nil
}

// routes registers everything there is.
func (s *Server) routes() {
	s.systemRoutes()
	s.sessionRoutes()
	s.messageRoutes()
	s.actRoutes()
	s.eventRoutes()
	if s.cfg.Blobs != nil {
		s.blobRoutes()
	}
	if s.cfg.Outbox != nil {
		s.outboxRoutes()
	}
	if s.cfg.People != nil {
		s.signInRoutes()
		s.peopleRoutes()
		s.tokenRoutes()
		s.linkRoutes()
	}
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := s.newCall(w, r)
	started := time.Now()
	defer func() {
		c.recovered(recover())
		if !c.detached {
			c.logged(time.Since(started))
		}
	}()
	header := c.w.Header()
	header.Set("X-Request-Id", c.id)
	header.Set("X-Content-Type-Options", "nosniff")
	if r.ContentLength != 0 {
		// Also of a body that nobody asks for: the server waits for the end of it.
		c.readDeadline(s.cfg.Limits.BodyTime)
	}
	if err := checkPath(r); err != nil {
		c.fail(err)
		return
	}
	if s.cors(c) {
		return
	}
	r = r.WithContext(context.WithValue(r.Context(), callKey{}, c))
	c.r = r
	handler, pattern := s.mux.Handler(r)
	if pattern == "" {
		c.unrouted(handler)
		return
	}
	s.mux.ServeHTTP(c.w, r)
}

// callKey is where a request's context has its call.
type callKey struct{}

// run answers a request to a route: the gate first, then the limits, then the
// request itself.
func (s *Server) run(e *entry, _ http.ResponseWriter, r *http.Request) {
	c, _ := r.Context().Value(callKey{}).(*call)
	c.r, c.pattern, c.status = r, e.method+" "+e.path, e.status
	if e.gate.kind != kindPublic {
		if err := c.authenticate(e); err != nil {
			c.fail(err)
			return
		}
	}
	if strings.HasPrefix(e.path, "/api") {
		c.w.Header().Set("Cache-Control", "no-store")
	}
	e.serve(c)
}

// recovered answers when a handler panicked.
func (c *call) recovered(cause any) {
	if cause == nil {
		return
	}
	if err, ok := cause.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(cause)
	}
	c.log.Error("a request panicked", "request", c.id, "route", c.pattern, "panic", fmt.Sprint(cause), "stack", string(debug.Stack()))
	if !c.w.begun {
		c.fail(parley.Errorf(parley.CodeInternal, "panic"))
	}
}

// unrouted answers what is no route: the web interface, or that there is nothing.
func (c *call) unrouted(handler http.Handler) {
	probe := &methodProbe{header: http.Header{}}
	handler.ServeHTTP(probe, c.r)
	path, inside := strings.CutPrefix(c.r.URL.Path, c.cfg.Prefix)
	switch {
	case probe.status == http.StatusMethodNotAllowed:
		c.w.Header().Set("Allow", probe.header.Get("Allow"))
		c.refused = http.StatusMethodNotAllowed
		c.fail(invalidf("%s is not possible here; there is %s", c.r.Method, probe.header.Get("Allow")))
	case c.cfg.Web != nil && inside && path == "":
		c.pattern = "web"
		http.Redirect(c.w, c.r, c.cfg.Prefix+"/", http.StatusPermanentRedirect)
	case c.cfg.Web != nil && inside && path != "/api" && !strings.HasPrefix(path, "/api/"):
		c.pattern = "web"
		http.StripPrefix(c.cfg.Prefix, c.cfg.Web).ServeHTTP(c.w, c.r)
	default:
		c.fail(parley.Errorf(parley.CodeNotFound, "there is nothing at this address"))
	}
}

// methodProbe finds out what the mux would say.
type methodProbe struct {
	header http.Header
	status int
}

func (p *methodProbe) Header() http.Header         { return p.header }
func (p *methodProbe) Write(b []byte) (int, error) { return len(b), nil }
func (p *methodProbe) WriteHeader(status int)      { p.status = status }

// Close ends all streams with a last event, so that clients come back, and waits
// for them until ctx ends. From then on there are no new ones. Other requests go
// on being answered.
func (s *Server) Close(ctx context.Context) error { return s.streams.close(ctx) }

// NewHTTPServer makes a server with the limits that one on a network needs: slow
// headers, idle connections and large headers do not hold it up. Slow bodies and
// slow readers are the [Server]'s own concern.
func NewHTTPServer(handler http.Handler, log *slog.Logger) *http.Server {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}
