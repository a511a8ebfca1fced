package parley

import (
	"context"
	"iter"
	"math/bits"
	"strings"
)

// Model answers requests, token by token. No vendor's type leaves the package
// that implements it.
type Model interface {
	// Info says what is known about the model. It does not change.
	Info() ModelInfo
	// Stream sends the request once and yields the answer as it arrives. The last
	// piece has Done set; an error ends the answer as well. Who stops early, or
	// ends ctx, closes the connection; nothing is left behind.
	//
	// A failure that may pass is [CodeRateLimited] or [CodeUnavailable] (overload,
	// time-outs, broken connections, answers that make no sense), with
	// [Error.RetryAfter] if the provider said when; a refused credential, or an
	// account without credit, is [CodeUnauthorized], a request that is longer than the model takes
	// [CodeTooLarge], and one that no repetition will help [CodeInvalid]. No error
	// holds the credential. Stream does not repeat anything by itself.
	Stream(ctx context.Context, req ModelRequest) iter.Seq2[ModelPiece, error]
}

// ModelInfo is what is known about a model.
type ModelInfo struct {
	Name      string // <provider>/<model>
	Context   int    // tokens of a request and its answer together; 0: unknown
	MaxOutput int    // tokens of an answer; 0: unknown
	Price     *Price // nil: unknown
}

// Provider gives the part of the name before the slash.
func (m ModelInfo) Provider() string {
	provider, _, _ := strings.Cut(m.Name, "/")
	return provider
}

// Price is what a million tokens cost, in millionths of a US dollar.
type Price struct {
	Input      int64
	Output     int64
	CacheRead  int64
	CacheWrite int64
}

// Cost gives what usage costs in millionths of a dollar, rounded up.
func (p Price) Cost(u Usage) int64 {
	var hi, lo uint64
	for _, f := range []struct{ tokens, price int64 }{
		{u.InputTokens, p.Input},
		{u.OutputTokens, p.Output},
		{u.CacheReadTokens, p.CacheRead},
		{u.CacheWriteTokens, p.CacheWrite},
	} {
		h, l := bits.Mul64(uint64(max(f.tokens, 0)), uint64(max(f.price, 0)))
		var carry uint64
		lo, carry = bits.Add64(lo, l, 0)
		hi += h + carry
	}
	const million, most = 1_000_000, 1 << 53 // the most a Usage holds
	if hi >= million {
		return most
	}
	cost, rest := bits.Div64(hi, lo, million)
	if rest > 0 {
		cost++
	}
	return int64(min(cost, most))
}

// ModelRequest is what a model is asked. Requests of one session begin alike, so
// that a provider can use what it remembers of the one before.
type ModelRequest struct {
	System    string
	Messages  []ModelMessage
	Tools     []ToolSpec
	MaxTokens int    // of the answer; 0: what the model does by itself
	CacheKey  string // the same for requests that begin alike
}

// ModelMessage is a [Message] on its way to a model.
type ModelMessage struct {
	Role  MessageRole
	Parts []ModelPart
}

// ModelPart is a [Part] in flight, with what is not stored with the message. For
// a reasoning part without Opaque the model has no use: it is left out of
// requests.
type ModelPart struct {
	Part
	Data   []byte // the bytes of the media, also of a tool result's
	Opaque []byte // the same model's own form of the part, such as signed reasoning
}

// ModelPiece is a piece of an answer: a few tokens of text or reasoning, the end
// of a reasoning part, a whole call, or the end.
type ModelPiece struct {
	Kind   PartKind
	Text   string
	Call   *ToolCall // complete; arguments that are not JSON are given as a JSON string of what came
	Opaque []byte    // closes a reasoning part; see [ModelPart]
	Done   *ModelDone
}

// ModelDone ends an answer. An answer with calls ends with [StopDone].
type ModelDone struct {
	StopReason StopReason
	Usage      Usage // with its cost, if the model's price is known
}
