package sqlite

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/parley-run/parley"
)

// Commit implements [parley.Store].
func (s *Store) Commit(ctx context.Context, b parley.Batch) (parley.Result, error) {
	p, err := prepare(&b)
	if err != nil {
		return parley.Result{}, err
	}
	r := &request{apply: p.apply, findDuplicate: p.findDuplicate, size: p.size, mayWait: b.MayWait}
	if p.size <= maxRecordBytes && recordable(&b) {
		r.batch = &b
	}
	if err := s.writer.submit(ctx, r); err != nil {
		return parley.Result{}, err
	}
	return r.result, nil
}

// hashBytes is how much of an input's content hash is kept: enough to tell any
// two contents apart.
const hashBytes = 16

// prepared is a batch that is checked and encoded, ready for the writer: what
// can be done in the caller's goroutine is done there.
type prepared struct {
	*parley.Batch
	changes []change
	blobs   []parley.BlobHandle // that media name
	size    int
}

// change is a session's part of a batch with its encodings.
type change struct {
	*parley.SessionChange
	inputs []admission // of Admit
	events []encoded   // of Events
}

// encoded is an event body as it is stored.
type encoded struct {
	body  parley.EventBody
	json  string
	blobs []parley.BlobHandle
}

// admission is an input as it is stored.
type admission struct {
	encoded
	hash []byte
}

func prepare(b *parley.Batch) (*prepared, error) {
	if err := b.Validate(); err != nil {
		return nil, err
	}
	p := &prepared{Batch: b, changes: make([]change, len(b.Sessions)), size: b.Size()}
	for i := range b.Sessions {
		c := change{SessionChange: &b.Sessions[i]}
		if n := len(c.Admit); n > 0 {
			c.inputs = make([]admission, n)
		}
		for j := range c.Admit {
			if err := c.inputs[j].prepare(&c.Admit[j]); err != nil {
				return nil, err
			}
			p.size += len(c.inputs[j].json)
			p.blobs = append(p.blobs, c.inputs[j].blobs...)
		}
		if n := len(c.Events); n > 0 {
			c.events = make([]encoded, n)
		}
		for j := range c.Events {
			if err := c.events[j].prepare(c.Events[j].Body); err != nil {
				return nil, err
			}
			p.size += len(c.events[j].json)
			p.blobs = append(p.blobs, c.events[j].blobs...)
		}
		p.changes[i] = c
	}
	if p.size > parley.MaxBatchBytes {
		return nil, parley.Errorf(parley.CodeTooLarge, "the batch is %d bytes long; at most %d are allowed", p.size, parley.MaxBatchBytes)
	}
	return p, nil
}

func (e *encoded) prepare(body parley.EventBody) error {
	data, err := parley.EncodeBody(body)
	if err != nil {
		return err
	}
	e.body, e.json, e.blobs = body, string(data), parley.BlobsIn(body)
	return nil
}

func (a *admission) prepare(in *parley.Input) error {
	if err := a.encoded.prepare(in.Admitted()); err != nil {
		return err
	}
	hash := in.ContentHash()
	a.hash = hash[:hashBytes]
	return nil
}

// toJSON encodes a value of the domain for a column.
func toJSON(v any) (string, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("encode %T: %w", v, err)
	}
	return string(data), nil
}

// fromJSON decodes a column. An empty one leaves v as it is.
func fromJSON(text string, v any) error {
	if text == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(text), v); err != nil {
		return fmt.Errorf("decode %T: %w", v, err)
	}
	return nil
}
