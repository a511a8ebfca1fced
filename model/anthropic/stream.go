package anthropic

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"iter"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/parley-run/parley"
)

// Limits on one answer. What is beyond them is no answer but a fault.
const (
	maxArguments = 256 << 10 // of one call
	maxSignature = 512 << 10 // of one thought; where thoughts are not shown, they are in it
	maxName      = 1024      // of a call's id and name
	maxBlocks    = 1024
	maxTokens    = 1 << 40 // as many a count is believed
)

// errStopped says that nobody wants the rest.
var errStopped = errors.New("stopped")

// Stream sends the request once and yields the answer as it arrives.
//
// Where the request does not say how long the answer may get, it is 16,384
// tokens, or what the model gives at most if that is less, and 8,192 for a model
// whose limit is not known. A budget for thinking comes on top of that, and is
// within what the request says otherwise.
//
// Reasoning goes back to the model only as it came: with its text unchanged,
// and while nothing that stood before it has changed. Other reasoning is left
// out. A model that takes a budget for thinking does not think in a request that
// goes on from calls for which there is no such reasoning.
func (m *Model) Stream(ctx context.Context, req parley.ModelRequest) iter.Seq2[parley.ModelPiece, error] {
	return func(yield func(parley.ModelPiece, error) bool) {
		err := m.stream(ctx, req, func(p parley.ModelPiece) error {
			if !yield(p, nil) {
				return errStopped
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStopped) {
			yield(parley.ModelPiece{}, err)
		}
	}
}

func (m *Model) stream(ctx context.Context, req parley.ModelRequest, emit func(parley.ModelPiece) error) error {
	params, prefix, err := m.params(req)
	if err != nil {
		return err
	}
	key, err := m.key(ctx)
	if err != nil {
		return err
	}
	var options []option.RequestOption
	if key != "" {
		options = append(options, option.WithHeader("X-Api-Key", key))
	}
	// What is still under way ends with the call, whatever the reason.
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	events := m.messages.NewStreaming(inner, params, options...)
	defer func() { _ = events.Close() }() // everything that matters was read
	if err := events.Err(); err != nil {
		return m.failure(ctx, key, err)
	}
	a := answer{model: m, prefix: prefix, emit: emit, open: map[int64]*block{}}
	for events.Next() {
		done, err := a.take(events.Current())
		switch {
		case errors.Is(err, errStopped):
			return err
		case err != nil:
			return m.failure(ctx, key, err)
		case done:
			return nil
		}
	}
	return m.failure(ctx, key, ending(events.Err()))
}

// ending says why a stream ended that had no end. What is neither the network's
// nor the server's is the SDK's trouble with an event.
func ending(err error) error {
	var (
		broken   *brokenError
		inStream *sdk.Error
	)
	switch {
	case err == nil:
		return garbage("broke off")
	case errors.As(err, &broken), errors.As(err, &inStream), errors.Is(err, errEvent):
		return err
	}
	return garbage("makes no sense: an event cannot be read")
}

// key gets the key for one request.
func (m *Model) key(ctx context.Context) (string, error) {
	if m.config.KeyFunc == nil {
		return "", nil
	}
	key, err := m.config.KeyFunc(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return "", m.failure(ctx, "", err)
		}
		return "", &parley.Error{Code: parley.CodeUnauthorized, Op: "ask " + m.info.Name, Message: "cannot get the API key of " + m.config.Provider, Err: err}
	}
	key = strings.TrimSpace(key)
	if key == "" || strings.ContainsFunc(key, isSpaceOrControl) {
		return "", &parley.Error{Code: parley.CodeUnauthorized, Op: "ask " + m.info.Name, Message: "the API key of " + m.config.Provider + " is empty or not one word: set it anew"}
	}
	return key, nil
}

// answer puts an answer together from its events.
type answer struct {
	model  *Model
	prefix string
	emit   func(parley.ModelPiece) error
	open   map[int64]*block
	blocks int
	usage  parley.Usage
	stop   sdk.StopReason
	held   held
}

// block is a part of an answer that is under way.
type block struct {
	kind      string
	id, name  string
	given     string // arguments that came with the beginning
	arguments strings.Builder
	signature strings.Builder
	redacted  string
	text      hash.Hash // of a thought
}

// take takes one event and reports whether it was the last.
func (a *answer) take(e sdk.MessageStreamEventUnion) (bool, error) {
	switch e.Type {
	case "message_start":
		u := e.Message.Usage
		a.usage = parley.Usage{
			InputTokens: count(u.InputTokens), OutputTokens: count(u.OutputTokens),
			CacheReadTokens: count(u.CacheReadInputTokens), CacheWriteTokens: count(u.CacheCreationInputTokens),
		}
	case "content_block_start":
		return false, a.begin(e.Index, e.ContentBlock)
	case "content_block_delta":
		b := a.open[e.Index]
		if b == nil {
			return false, garbage("makes no sense: a piece belongs nowhere")
		}
		return false, a.grow(b, e.Delta)
	case "content_block_stop":
		b := a.open[e.Index]
		if b == nil {
			return false, garbage("makes no sense: a part ends that did not begin")
		}
		delete(a.open, e.Index)
		return false, a.end(b)
	case "message_delta":
		a.count(e.Usage)
		a.stop = e.Delta.StopReason
	case "message_stop":
		return a.finish()
	}
	return false, nil
}

// begin begins a part. The kinds that are not asked for are passed over.
func (a *answer) begin(index int64, start sdk.ContentBlockStartEventContentBlockUnion) error {
	a.blocks++
	if a.open[index] != nil || a.blocks > maxBlocks {
		return garbage("makes no sense: it has too many parts")
	}
	b := &block{kind: start.Type}
	a.open[index] = b
	switch b.kind {
	case "text":
		return a.piece(parley.PartText, start.Text)
	case "thinking":
		b.text = sha256.New()
		b.signature.WriteString(start.Signature)
		return a.think(b, start.Thinking)
	case "redacted_thinking":
		b.redacted = start.Data
	case "tool_use":
		b.id, b.name, b.given = clean(start.ID), clean(start.Name), clean(start.JSON.Input.Raw())
		if b.name == "" || len(b.name) > maxName || len(b.id) > maxName {
			return garbage("makes no sense: a call has no usable name")
		}
		if len(b.given) > maxArguments {
			return garbage("has a call with too long arguments")
		}
	}
	return nil
}

// grow adds a piece to a part.
func (a *answer) grow(b *block, d sdk.MessageStreamEventUnionDelta) error {
	switch {
	case d.Type == "text_delta" && b.kind == "text":
		return a.piece(parley.PartText, d.Text)
	case d.Type == "thinking_delta" && b.kind == "thinking":
		return a.think(b, d.Thinking)
	case d.Type == "signature_delta" && b.kind == "thinking":
		b.signature.WriteString(d.Signature)
		if b.signature.Len() > maxSignature {
			return garbage("makes no sense: a signature is too long")
		}
	case d.Type == "input_json_delta" && b.kind == "tool_use":
		b.arguments.WriteString(clean(d.PartialJSON))
		if b.arguments.Len() > maxArguments {
			return garbage("has a call with too long arguments")
		}
	}
	return nil
}

func (a *answer) think(b *block, text string) error {
	_, _ = b.text.Write([]byte(clean(text))) // a hash takes everything
	return a.piece(parley.PartReasoning, text)
}

func (a *answer) piece(kind parley.PartKind, text string) error {
	if text == "" {
		return nil
	}
	return a.give(parley.ModelPiece{Kind: kind, Text: clean(text)})
}

// clean replaces bytes that are no UTF-8. The SDK lets them through, and nobody
// could store them.
func clean(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// end ends a part.
func (a *answer) end(b *block) error {
	o := opaque{Model: a.model.config.Model, After: a.prefix}
	switch {
	case b.kind == "tool_use":
		call := parley.ToolCall{ID: parley.CallID(b.id), Name: b.name, Arguments: b.finished()}
		return a.give(parley.ModelPiece{Kind: parley.PartToolCall, Call: &call})
	case b.kind == "thinking" && b.signature.Len() > 0:
		o.Text, o.Signature = hex.EncodeToString(b.text.Sum(nil)[:16]), b.signature.String()
	case b.kind == "redacted_thinking" && b.redacted != "":
		o.Redacted = b.redacted
	default:
		return nil
	}
	return a.give(parley.ModelPiece{Kind: parley.PartReasoning, Opaque: o.seal()})
}

// finished gives the arguments of a call: as they came if they are JSON, and else
// as a string of what came.
func (b *block) finished() json.RawMessage {
	text := strings.TrimSpace(b.arguments.String())
	if text == "" {
		text = strings.TrimSpace(b.given)
	}
	if text == "" || text == "null" {
		return json.RawMessage(`{}`)
	}
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	raw, err := json.Marshal(text)
	if err != nil {
		return json.RawMessage(`{}`) // a string can always be encoded
	}
	return raw
}

// count takes the counts at the end, which stand for the whole answer. Those that
// are not there stay as they were at the beginning.
func (a *answer) count(u sdk.MessageDeltaUsage) {
	for _, f := range []struct {
		said bool
		n    int64
		to   *int64
	}{
		{u.JSON.InputTokens.Valid(), u.InputTokens, &a.usage.InputTokens},
		{u.JSON.OutputTokens.Valid(), u.OutputTokens, &a.usage.OutputTokens},
		{u.JSON.CacheReadInputTokens.Valid(), u.CacheReadInputTokens, &a.usage.CacheReadTokens},
		{u.JSON.CacheCreationInputTokens.Valid(), u.CacheCreationInputTokens, &a.usage.CacheWriteTokens},
	} {
		if f.said {
			*f.to = count(f.n)
		}
	}
}

func count(n int64) int64 { return min(max(n, 0), maxTokens) }

// finish ends the answer. The calls of one that was refused are not to be run.
func (a *answer) finish() (bool, error) {
	if len(a.open) > 0 || a.stop == "" {
		return false, garbage("broke off")
	}
	done := parley.ModelDone{StopReason: parley.StopDone, Usage: a.usage}
	switch a.stop {
	case sdk.StopReasonMaxTokens, sdk.StopReasonModelContextWindowExceeded:
		done.StopReason = parley.StopLength
	case sdk.StopReasonRefusal:
		done.StopReason = parley.StopContentFilter
	}
	if err := a.held.release(a.emit, done.StopReason != parley.StopContentFilter); err != nil {
		return false, err
	}
	done.Usage.CostMicroUSD = a.model.cost(a.usage)
	return true, a.emit(parley.ModelPiece{Done: &done})
}
