package access

import (
	"strings"

	"github.com/parley-run/parley"
)

// Target is the session of a request, as far as it matters for who may do what.
type Target struct {
	// ID or Name is what the request named: a session, or a key or an alias. Both
	// are empty if it named none. Refusals name these alone.
	ID   parley.SessionID
	Name string
	// Session is what is there, whoever may see it; nil: nothing.
	Session *parley.Session
	// Scope is that of the conversation if the request came with an inbound; nil:
	// it did not, or the conversation is the caller's own by its name.
	Scope *parley.Scope
	// Participant says that the caller takes part; see [Caller.In].
	Participant bool
	// Requester says that the turn, the input or the call was asked for by the
	// caller; see [Caller.Is].
	Requester bool
	// Routed says that the session is the current one of the key that an inbound of
	// the caller's own channel leads to, be it in another namespace. It matters for
	// channels alone: for all others a key is not a permission.
	Routed bool
	// Approval is how the question stands that is answered; empty: there is none.
	Approval parley.ApprovalState
	// Automations is how many are bound to the session's key and would stay behind
	// when it is removed.
	Automations int
}

// Check decides whether the caller may do this to that session, and gives nil if so.
// In this order:
//
//   - [parley.CodeUnauthorized]: there is no credential.
//   - [parley.CodeForbidden]: the credential can never do it, whatever is there: an
//     operation of owners, another namespace than that of the channel.
//   - [parley.CodeNotFound]: there is no such session, or the caller may not see
//     it; both in the same words. Starting one is the exception: whoever has a role
//     may, except where an inbound leads to a conversation that is not the caller's
//     own.
//   - [parley.CodeForbidden]: the caller sees the session, and its role does not go
//     as far.
//   - [parley.CodeConflict]: it is allowed, and the session is not in the state for
//     it.
//
// An operation that is not known is [parley.CodeInvalid].
func Check(c Caller, op Op, t Target) error {
	if err := c.known(); err != nil {
		return err
	}
	r, ok := ruleOf(op)
	if !ok {
		return parley.Errorf(parley.CodeInvalid, "operation %q is not known", op)
	}
	if err := c.credential(r, t); err != nil {
		return err
	}
	switch {
	case t.Session == nil && op == OpOpen && c.mayStart(t):
		return nil
	case t.Session == nil || !c.sees(t):
		return notFound(t)
	case op == OpApprove && t.Approval == "":
		return parley.Errorf(parley.CodeNotFound, "no approval was asked for this call")
	}
	if err := c.role(r, t); err != nil {
		return err
	}
	return state(op, t)
}

// credential refuses what the credential can never do. It looks at what the request
// named, so that the answer is the same whatever is there.
func (c Caller) credential(r rule, t Target) error {
	if c.namespace != "" {
		if !r.channel {
			return parley.Errorf(parley.CodeForbidden, "the credential of a channel may not %s", r.does)
		}
		elsewhere := t.ID != "" && !within(c.namespace, t.ID) || t.Scope != nil && t.Scope.Channel != c.namespace
		if elsewhere && !t.Routed {
			return otherNamespace(c.namespace)
		}
	}
	if r.owners() && !c.owner() {
		return parley.Errorf(parley.CodeForbidden, "only an owner may %s", r.does)
	}
	return nil
}

// mayStart reports whether the caller may start the conversation, of which there is
// none yet. Who starts one takes part in it. So a conversation that an inbound leads
// to is started by the channel, which knows who is there, or by an owner; anybody
// else would wait in it for those it belongs to.
func (c Caller) mayStart(t Target) bool {
	if t.Scope == nil || c.namespace != "" || c.owner() {
		return true
	}
	of := func(name string) bool {
		return c.In([]parley.IdentityID{parley.IdentityID(t.Scope.Channel + ":" + name)})
	}
	chat, isDirect := strings.CutPrefix(t.Scope.Values[parley.DimensionChat], "direct:")
	return isDirect && of(chat) || of(t.Scope.Values[parley.DimensionSender])
}

// sees reports whether the session is there for the caller.
func (c Caller) sees(t Target) bool {
	if c.namespace != "" {
		return t.Routed || within(c.namespace, t.Session.ID)
	}
	return c.owner() || t.Participant
}

// role refuses what the caller's role does not allow in a session it sees.
func (c Caller) role(r rule, t Target) error {
	who, granted := "guests", r.guest
	switch c.principal.Role {
	case parley.RoleOwner:
		return nil
	case parley.RoleUser:
		who, granted = "users", r.user
	}
	limit := ""
	switch {
	case granted == always, granted == own && t.Requester, granted == direct && isDirect(t):
		return nil
	case granted == own:
		limit = " that somebody else asked for"
	case granted == direct:
		limit = " that is a group's"
	}
	return parley.Errorf(parley.CodeForbidden, "%s may not %s%s; ask an owner", who, r.does, limit)
}

// state refuses what is allowed, but not as things stand.
func state(op Op, t Target) error {
	switch op {
	case OpApprove:
		if t.Approval != parley.ApprovalPending {
			return parley.Errorf(parley.CodeConflict, "it is settled: the call is %s", t.Approval)
		}
	case OpDelete, OpPurge:
		return removable(op, t)
	}
	return nil
}

func removable(op Op, t Target) error {
	switch {
	case op == OpDelete && !isDirect(t):
		return parley.Errorf(parley.CodeConflict, "a group's session is kept, as it belongs to several people; an owner can purge it")
	case t.Session.Status == parley.StatusRunning:
		return parley.Errorf(parley.CodeConflict, "a turn is running; stop it first")
	case t.Session.Status == parley.StatusAwaitingApproval:
		return parley.Errorf(parley.CodeConflict, "a turn waits for approval; answer or stop it first")
	case t.Automations > 0:
		return parley.Errorf(parley.CodeConflict, "automations are bound to the session; delete them with it, or first")
	}
	return nil
}

// isDirect reports whether the session is between the agent and one person. What is
// neither that nor a group counts as a group.
func isDirect(t Target) bool { return t.Session.Type == parley.SessionDirect }

// Audited reports whether it is to be written down that the caller did this: an
// owner in a session without taking part, and, whoever it is, answers to approvals,
// exports, redactions, changes of who takes part, and purges.
func Audited(c Caller, op Op, t Target) bool {
	r, ok := ruleOf(op)
	if !ok || t.Session == nil {
		return false
	}
	return r.audit || c.owner() && c.namespace == "" && !t.Participant
}

// notFound says that what was named is not there, as a store and the engine say it.
func notFound(t Target) error {
	switch {
	case t.ID != "":
		return parley.Errorf(parley.CodeNotFound, "there is no session %q", t.ID)
	case t.Name != "":
		return parley.Errorf(parley.CodeNotFound, "there is no conversation %q", t.Name)
	}
	return parley.Errorf(parley.CodeNotFound, "there is no such conversation")
}

func otherNamespace(namespace string) error {
	return parley.Errorf(parley.CodeForbidden, "this credential is for sessions of %s: alone", namespace)
}
