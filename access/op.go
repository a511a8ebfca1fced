package access

import "slices"

// Op is something a caller wants to do to a session.
type Op string

// The operations.
const (
	OpOpen         Op = "open"         // start it, or open it again
	OpRead         Op = "read"         // the session itself, its history and events, following it
	OpExport       Op = "export"       // take it out whole
	OpPost         Op = "post"         // say something to the agent
	OpAppend       Op = "append"       // say something that is only logged
	OpWithdraw     Op = "withdraw"     // take back an input that waits
	OpCancel       Op = "cancel"       // stop the turn
	OpApprove      Op = "approve"      // answer whether a call may run
	OpReset        Op = "reset"        // let its key start another session
	OpResume       Op = "resume"       // make it its key's current session
	OpFork         Op = "fork"         // go on from a point of it in another session
	OpRewind       Op = "rewind"       // take back its last turns
	OpPatch        Op = "patch"        // title, description, metadata, busy mode
	OpCompact      Op = "compact"      // shorten what the model is shown
	OpCheckpoint   Op = "checkpoint"   // look back, and remember
	OpDelete       Op = "delete"       // remove it, if it is direct
	OpRedact       Op = "redact"       // take away the content of an event
	OpParticipants Op = "participants" // change who takes part
	OpPurge        Op = "purge"        // remove it, also if it is a group's
)

// right is how far a role may go with an operation, in a session it takes part in.
type right int

const (
	never  right = iota
	own          // what the caller asked for: its turn, its input
	direct       // in a direct session
	always
)

// rule is who may do an operation. Owners may do all of them.
type rule struct {
	op          Op
	does        string // completes "may not …"
	guest, user right
	channel     bool // a channel's credential can do it, within its namespace
	audit       bool // it is written down whoever does it
}

// rules is every operation. A channel's credential can do what people do in chats;
// what is taken away for good, and who takes part, is not among it.
var rules = []rule{
	{op: OpOpen, does: "open a session", guest: always, user: always, channel: true},
	{op: OpRead, does: "read a session", guest: always, user: always, channel: true},
	{op: OpExport, does: "export a session", guest: always, user: always, channel: true, audit: true},
	{op: OpPost, does: "write in a session", guest: always, user: always, channel: true},
	{op: OpAppend, does: "write in a session", guest: always, user: always, channel: true},
	{op: OpWithdraw, does: "take back a message", guest: own, user: own, channel: true},
	{op: OpCancel, does: "stop a turn", guest: own, user: always, channel: true},
	{op: OpApprove, does: "answer whether a call may run", user: own, channel: true, audit: true},
	{op: OpReset, does: "reset a session", guest: direct, user: always, channel: true},
	{op: OpResume, does: "resume a session", guest: direct, user: always, channel: true},
	{op: OpFork, does: "fork a session", guest: direct, user: always, channel: true},
	{op: OpRewind, does: "rewind a session", guest: direct, user: always, channel: true},
	{op: OpPatch, does: "change a session", guest: direct, user: always, channel: true},
	{op: OpCompact, does: "compact a session", user: always, channel: true},
	{op: OpCheckpoint, does: "make a checkpoint", user: always, channel: true},
	{op: OpDelete, does: "delete a session", guest: direct, user: always},
	{op: OpRedact, does: "redact an event", audit: true},
	{op: OpParticipants, does: "change who takes part", audit: true},
	{op: OpPurge, does: "purge a session", audit: true},
}

// Ops gives every operation.
func Ops() []Op {
	ops := make([]Op, len(rules))
	for i := range rules {
		ops[i] = rules[i].op
	}
	return ops
}

// ruleOf finds the rule of an operation.
func ruleOf(op Op) (rule, bool) {
	i := slices.IndexFunc(rules, func(r rule) bool { return r.op == op })
	if i < 0 {
		return rule{}, false
	}
	return rules[i], true
}

// owners reports whether the operation is for owners alone.
func (r rule) owners() bool { return r.guest == never && r.user == never }
