package parley

import (
	"context"
	"encoding/json"
)

// Tool is something a model can ask to be run. A tool is used by many turns at
// once.
type Tool interface {
	// Spec describes the tool. It does not change.
	Spec() ToolSpec
	// Run runs one call, whose arguments fit the schema. What the model should
	// read, also of a failure, is a result (IsError); the error return is for
	// failures of the runtime, and for ctx: when it ends, Run stops what it
	// started before it returns. The result's CallID is set by the caller.
	Run(ctx context.Context, by ToolCaller, call ToolCall) (ToolResult, error)
}

// ToolSpec describes a tool to a model.
type ToolSpec struct {
	Name        string          // letters, digits, _ and -, at most 64
	Description string          //
	Schema      json.RawMessage // JSON schema of the arguments, an object
}

// ToolCaller is for whom a tool runs.
type ToolCaller struct {
	Principal Principal
	Session   SessionID
	Turn      TurnID
	Budget    Budget // of the turn; nil: none. For tools that call models themselves
}

// ToolEffect is what a policy says about a call.
type ToolEffect string

// The effects. A refusal counts before an approval, that before a permission.
const (
	ToolAllow   ToolEffect = "allow"
	ToolApprove ToolEffect = "approve" // a person has to allow it first
	ToolDeny    ToolEffect = "deny"
)
