package parley

import (
	"context"
	"encoding/json"
	"iter"
)

// Model answers requests, token by token. No vendor's type leaves the package
// that implements it.
type Model interface {
	// Name is <provider>/<model>.
	Name() string
	// Stream sends the request and yields the answer as it arrives. The last
	// piece has Done set. A failure that may pass is [CodeRateLimited] or
	// [CodeUnavailable]; a refused credential [CodeUnauthorized]; a request that
	// no retry will help [CodeInvalid].
	Stream(ctx context.Context, req ModelRequest) iter.Seq2[ModelPiece, error]
}

// ModelRequest is what a model is asked.
type ModelRequest struct {
	System    string
	Messages  []Message
	Tools     []ToolSpec
	MaxTokens int
	Opaque    []byte // the provider's state of this turn's earlier calls
}

// ModelPiece is a piece of an answer.
type ModelPiece struct {
	Kind PartKind
	Text string
	Call *ToolCall // complete
	Done *ModelDone
}

// ModelDone ends an answer.
type ModelDone struct {
	StopReason StopReason
	Usage      Usage
	Opaque     []byte
}

// Tool is something a model can ask to be run.
type Tool interface {
	Spec() ToolSpec
	// Run runs one call. An error the model should read is a result with
	// IsError; the error return is for failures of the runtime.
	Run(ctx context.Context, p Principal, call ToolCall) (ToolResult, error)
}

// ToolSpec describes a tool to a model.
type ToolSpec struct {
	Name        string
	Description string
	Schema      json.RawMessage // of the arguments
}
