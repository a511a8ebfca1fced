package httpapi

import (
	"net/http"
	"reflect"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
)

// gate says whom a route is for. It is asked before the request is read.
type gate struct {
	kind gateKind
	op   access.Op
}

type gateKind int

const (
	kindUnset    gateKind = iota // registering a route without a gate is a fault
	kindPublic                   // anybody
	kindSignedIn                 // who has a credential
	kindSession                  // as well; the engine asks for the right to the session
	kindOwner                    // owners
)

// The gates.
var (
	public   = gate{kind: kindPublic}
	signedIn = gate{kind: kindSignedIn}
	owners   = gate{kind: kindOwner}
)

// onSession is for who may do this to the session that the path names. The gate
// asks for a credential; the engine's handle asks for the right.
func onSession(op access.Op) gate { return gate{kind: kindSession, op: op} }

// allows decides what does not depend on what is stored.
func (g gate) allows(c access.Caller) error {
	if g.kind == kindOwner && (c.Principal().Role != parley.RoleOwner || c.Namespace() != "") {
		return parley.Errorf(parley.CodeForbidden, "only owners may do this")
	}
	return nil
}

func (g gate) String() string {
	switch g.kind {
	case kindPublic:
		return "open to everybody"
	case kindSignedIn:
		return "needs a credential"
	case kindSession:
		return "needs the right to " + string(g.op) + " on the session"
	case kindOwner:
		return "for owners"
	}
	return ""
}

// endpoint is one thing that can be asked for. In has what comes with the request:
// fields with a path or query tag, the others are the JSON body. Out is the body
// of the answer.
type endpoint[In, Out any] struct {
	method, path, summary string
	// name is the operation's id in the OpenAPI document.
	name string
	// status is that of an answer without an error; 0: 200.
	status int
	// also are other statuses without an error, and what they mean.
	also map[int]string
	// stream says that the answer may be a stream of events.
	stream bool
	// takes and gives are media types of bodies that are not JSON.
	takes, gives string
	do           func(c *call, in *In) (Out, error)
}

// none is the body of answers and requests without one.
type none struct{}

// entry is a route as the server and the OpenAPI document know it.
type entry struct {
	method, path, summary, name string

	gate         gate
	status       int
	also         map[int]string
	stream       bool
	takes, gives string
	in, out      reflect.Type
	fields       *fields
	serve        func(c *call)
}

// add registers a route behind its gate.
func add[In, Out any](s *Server, g gate, r endpoint[In, Out]) {
	if g.kind == kindUnset {
		panic("httpapi: " + r.path + " has no gate")
	}
	e := &entry{
		method: r.method, path: r.path, summary: r.summary, name: r.name, gate: g, status: r.status, also: r.also,
		stream: r.stream, takes: r.takes, gives: r.gives, in: reflect.TypeFor[In](), out: reflect.TypeFor[Out](),
	}
	if e.status == 0 {
		e.status = http.StatusOK
	}
	e.fields = fieldsOf(e.in)
	e.serve = func(c *call) {
		in := new(In)
		if err := c.read(reflect.ValueOf(in).Elem(), e); err != nil {
			c.fail(err)
			return
		}
		out, err := r.do(c, in)
		switch {
		case err != nil:
			c.fail(err)
		case !c.took:
			c.write(c.status, out)
		}
	}
	s.entries = append(s.entries, e)
	s.mux.HandleFunc(e.method+" "+s.cfg.Prefix+e.path, func(w http.ResponseWriter, req *http.Request) {
		s.run(e, w, req)
	})
}

// RouteOf gives the pattern of the route that answers a request, such as
// "GET /api/sessions/{id}", or "" if none does. It is for what measures requests:
// a pattern names no session and no user.
func (s *Server) RouteOf(r *http.Request) string {
	_, pattern := s.mux.Handler(r)
	return pattern
}
