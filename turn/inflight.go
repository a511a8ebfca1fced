package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/parley-run/parley"
)

// Messages have two forms: as they are stored, and in flight, with the bytes of
// media and the provider's own state. inFlight goes one way; answer.message, in
// answer.go, the other.

// opaque is the provider's own state of an open turn: by message, and by the index
// of the part in it. It is stored with the turn and goes with it.
type opaque map[string]map[int][]byte

func parseOpaque(data []byte) (opaque, error) {
	o := opaque{}
	if len(data) == 0 {
		return o, nil
	}
	if err := json.Unmarshal(data, &o); err != nil {
		return nil, fmt.Errorf("read the turn's provider state: %w", err)
	}
	return o, nil
}

// encode gives the state as it is stored with the turn. If there is too much of it,
// the oldest thoughts, in the order of the turn's messages, are forgotten.
func (o opaque) encode(turn []parley.Message) ([]byte, error) {
	for _, m := range turn {
		data, err := json.Marshal(o)
		if err != nil || len(data) <= parley.MaxBodyBytes {
			return data, err
		}
		delete(o, m.ID)
	}
	data, err := json.Marshal(o)
	if err == nil && len(data) > parley.MaxBodyBytes {
		clear(o)
		return []byte("{}"), nil
	}
	return data, err
}

// media gives the bytes of media, each once in a run.
type media struct {
	open  func(context.Context, parley.SessionID, parley.Media) ([]byte, error)
	of    parley.SessionID
	known map[string][]byte
}

// bytes gives nothing for media that models do not look at, and for those that are
// gone: then the model reads the name.
func (m *media) bytes(ctx context.Context, ref *parley.Media) ([]byte, error) {
	if ref == nil || m.open == nil || !strings.HasPrefix(ref.Type, "image/") {
		return nil, nil
	}
	if data, ok := m.known[ref.Handle]; ok {
		return data, nil
	}
	data, err := m.open(ctx, m.of, *ref)
	if err != nil && !errors.Is(err, parley.ErrNotFound) {
		return nil, fmt.Errorf("read media: %w", err)
	}
	m.known[ref.Handle] = data
	return data, nil
}

// inFlight gives messages as a model takes them. Only the model that made it gets
// back what is opaque.
func (m *media) inFlight(ctx context.Context, messages []parley.Message, state opaque, model string) ([]parley.ModelMessage, error) {
	out := make([]parley.ModelMessage, 0, len(messages))
	for _, msg := range messages {
		parts := make([]parley.ModelPart, 0, len(msg.Parts))
		for i, p := range msg.Parts {
			part := parley.ModelPart{Part: p}
			if msg.Model == model {
				part.Opaque = state[msg.ID][i]
			}
			ref := p.Media
			if p.Result != nil {
				ref = p.Result.Media
			}
			var err error
			if part.Data, err = m.bytes(ctx, ref); err != nil {
				return nil, err
			}
			parts = append(parts, part)
		}
		out = append(out, parley.ModelMessage{Role: msg.Role, Parts: parts})
	}
	return out, nil
}
