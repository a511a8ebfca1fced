package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/blob"
	"github.com/parley-run/parley/route"
)

// Config is how a [Server] works. A zero field is its default.
type Config struct {
	// Prefix is where the server is mounted, such as /parley; empty: at the root.
	Prefix string
	// AuthenticateFunc takes the place of bearer tokens and cookies, for programs
	// with a sign-in of their own. Who it does not know is
	// [parley.CodeUnauthorized]. It may go by cookies: what would change something
	// and comes from a page of another site, which is not in CORS, is refused
	// whatever it says. Nil: People decides.
	AuthenticateFunc func(r *http.Request) (access.Credential, error)
	// People are the users, tokens and codes; nil: there are no routes for them,
	// and AuthenticateFunc is required.
	People *access.People
	// Blobs keeps media; nil: there are no routes for them.
	Blobs *blob.Store
	// Outbox is what is on its way to chats; nil: there are no routes for it.
	Outbox Outbox
	// RouteFunc gives the router of the present configuration; nil: the default
	// one.
	RouteFunc func() *route.Router
	// AgentFunc gives an agent of the present configuration by its name; nil: any
	// name is an agent, and private.
	AgentFunc func(name string) (Agent, bool)
	// HeadFunc says where the log of all sessions ends, which is where a stream
	// over all sessions begins; nil: such a stream begins at the beginning.
	HeadFunc func(ctx context.Context) (parley.Head, error)
	// ReadyFunc says how the program is; nil: it is ready once the engine is.
	ReadyFunc func(ctx context.Context) Readiness
	// Metrics answers GET /metrics, to owners; nil: there is no such route.
	Metrics http.Handler
	// Web answers what is no route; nil: that is not found.
	Web http.Handler
	// PublicURL is what people call the server, if not by its address.
	PublicURL string
	// TrustedProxies may say whom they forward a request for.
	TrustedProxies []netip.Prefix
	// CORS are the origins of other sites whose pages may use the API with a
	// token, such as https://app.example; empty: none may.
	CORS   []string
	Limits Limits
	// Version is shown in the OpenAPI document.
	Version string
	// Log gets a line for each request, and what went wrong inside; nil: nothing
	// is written.
	Log *slog.Logger
	// Clock is where times come from; nil: the system's. Time limits of
	// connections go by the system's clock.
	Clock parley.Clock
}

// Agent is an agent as requests see it.
type Agent struct {
	// Door is what strangers get.
	Door access.Door
	// Snapshot is what sessions keep of its configuration.
	Snapshot parley.AgentSnapshot
}

// Limits bound what one client can take. A zero field is its default; a negative
// rate or number of streams is no limit.
type Limits struct {
	Body     int64         // of a request in JSON. 0: 1 MiB
	BodyTime time.Duration // to send it. 0: 30 seconds
	BlobTime time.Duration // to send a blob. 0: 10 minutes
	Write    time.Duration // for a client to take what it is sent. 0: 30 seconds
	Wait     time.Duration // the longest ?wait. 0: 5 minutes
	// KeepAlive is how often an idle stream gets a comment. 0: 15 seconds
	KeepAlive time.Duration

	// Streams, and requests that wait, that a credential may have open, and requests a second, with a
	// burst of as many as come in four seconds. 0: 64 and 50, for those of owners
	// and channels 16,384 and 2,000.
	Streams, OwnerStreams int
	Rate, OwnerRate       float64
}

// Readiness is the body of GET /readyz. Nothing in it is secret: it is open to
// everybody.
type Readiness struct {
	// Ready says that messages can be taken; else the status is 503.
	Ready     bool              `json:"ready"`
	Store     string            `json:"store" jsonschema:"ok, or what is wrong with the store"`
	Disk      string            `json:"disk" jsonschema:"ok, or what is wrong with the disk"`
	Channels  map[string]string `json:"channels" jsonschema:"each chat app: ok, or what is wrong"`
	Providers map[string]string `json:"providers" jsonschema:"each provider of models: ok, or what is wrong"`
	Backlog   Backlog           `json:"backlog"`
}

// Backlog is how much work there is.
type Backlog struct {
	Running  int `json:"running" jsonschema:"turns that run"`
	Parked   int `json:"parked" jsonschema:"turns that wait for a model that is down"`
	Awaiting int `json:"awaiting" jsonschema:"turns that wait for a person"`
	Queued   int `json:"queued" jsonschema:"messages that wait for their turn"`
	// OldestSeconds is how long the message has waited that waits longest.
	OldestSeconds int64 `json:"oldest_seconds" jsonschema:"how long the oldest of them has waited"`
	// Unsent, Held and Dead are deliveries to chats, each counted up to 100. The daemon
	// counts them; an API without [Config.ReadyFunc] does not.
	Unsent int `json:"unsent" jsonschema:"deliveries that are on their way to chats, counted up to 100"`
	Held   int `json:"held" jsonschema:"deliveries that became old while nothing could be sent, counted up to 100"`
	Dead   int `json:"dead" jsonschema:"deliveries that were given up, counted up to 100"`
}

func (l Limits) withDefaults() Limits {
	setInt := func(field *int, value int) {
		if *field == 0 {
			*field = value
		}
	}
	setTime := func(field *time.Duration, value time.Duration) {
		if *field <= 0 {
			*field = value
		}
	}
	if l.Body <= 0 {
		l.Body = 1 << 20
	}
	if l.Rate == 0 {
		l.Rate = 50
	}
	if l.OwnerRate == 0 {
		l.OwnerRate = 2_000
	}
	setInt(&l.Streams, 64)
	setInt(&l.OwnerStreams, 16_384)
	setTime(&l.BodyTime, 30*time.Second)
	setTime(&l.BlobTime, 10*time.Minute)
	setTime(&l.Write, 30*time.Second)
	setTime(&l.Wait, 5*time.Minute)
	setTime(&l.KeepAlive, 15*time.Second)
	return l
}
