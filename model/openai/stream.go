package openai

import (
	"context"
	"iter"
	"net/http"
	"strings"

	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"github.com/parley-run/parley"
)

// Stream sends the request and yields the answer as it arrives; see
// [parley.Model]. Calls come whole, after the text, in the order of the answer;
// one that has no id there has none here. When ctx ends, the error is the one of
// ctx. An account without credit is [parley.CodeUnauthorized]: the key is right, and
// waiting does not help.
func (m *Model) Stream(ctx context.Context, req parley.ModelRequest) iter.Seq2[parley.ModelPiece, error] {
	return func(yield func(parley.ModelPiece, error) bool) {
		params, err := m.params(req)
		if err != nil {
			yield(parley.ModelPiece{}, err)
			return
		}
		key, err := m.key(ctx)
		if err != nil {
			yield(parley.ModelPiece{}, err)
			return
		}
		f := failures{model: m, key: key}
		options := []option.RequestOption{option.WithMiddleware(f.check)}
		if key != "" {
			options = append(options, option.WithAPIKey(key))
		}
		var res *http.Response
		stream := m.chat.NewStreaming(ctx, params, append(options, option.WithResponseInto(&res))...)
		if err := stream.Err(); err != nil {
			yield(parley.ModelPiece{}, f.sent(ctx, err))
			return
		}
		defer func() { _ = res.Body.Close() }() // it was only read
		// The SDK's own stream takes an error field that is null for an error, and
		// knows no reasoning; its decoder of events is what is used of it.
		m.read(ctx, ssestream.NewDecoder(res), f, yield)
	}
}

// read reads the answer until it is done or broken, or nobody wants it.
func (m *Model) read(ctx context.Context, events ssestream.Decoder, f failures, yield func(parley.ModelPiece, error) bool) {
	a := answer{failures: f}
	give := func(pieces []parley.ModelPiece, err error) bool {
		for _, p := range pieces {
			if !yield(p, nil) {
				return false
			}
		}
		if err != nil {
			yield(parley.ModelPiece{}, err)
		}
		return err == nil
	}
	for !a.over && ctx.Err() == nil && events.Next() {
		if !give(a.take(events.Event().Data)) {
			return
		}
	}
	if err := ctx.Err(); err != nil && !a.over {
		yield(parley.ModelPiece{}, f.ended(err))
		return
	}
	give(a.end(events.Err()))
}

// key asks for the key.
func (m *Model) key(ctx context.Context) (string, error) {
	if m.cfg.KeyFunc == nil {
		return "", nil
	}
	key, err := m.cfg.KeyFunc(ctx)
	key = strings.TrimSpace(key)
	switch {
	case ctx.Err() != nil:
		return "", failures{model: m}.ended(ctx.Err())
	case err != nil:
		code := parley.CodeOf(err)
		if code != parley.CodeUnavailable {
			code = parley.CodeUnauthorized
		}
		return "", &parley.Error{Code: code, Message: "the API key of " + m.cfg.Provider + " cannot be read", Err: err}
	case key == "" && m.official:
		return "", parley.Errorf(parley.CodeUnauthorized, "the API key of %s is empty; set it", m.cfg.Provider)
	}
	return key, nil
}
