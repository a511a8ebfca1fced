package files

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"

	"github.com/parley-run/parley"
)

// tool is one of the tools: a description, and what a call does. The text of a
// [refusal] is for the model to read, any other error for the runtime.
type tool struct {
	spec parley.ToolSpec
	call func(ctx context.Context, arguments json.RawMessage) (string, error)
}

// Spec describes the tool.
func (t *tool) Spec() parley.ToolSpec { return t.spec }

// Run runs one call.
func (t *tool) Run(ctx context.Context, _ parley.ToolCaller, call parley.ToolCall) (parley.ToolResult, error) {
	if err := ctx.Err(); err != nil {
		return parley.ToolResult{}, err
	}
	text, err := t.call(ctx, call.Arguments)
	no, refused := errors.AsType[refusal](err)
	switch {
	case err == nil:
		return parley.ToolResult{Text: text}, nil
	case ctx.Err() != nil:
		return parley.ToolResult{}, ctx.Err()
	case refused:
		return parley.ToolResult{Text: string(no), IsError: true}, nil
	case errors.Is(err, os.ErrClosed):
		return parley.ToolResult{}, parley.Errorf(parley.CodeUnavailable, "%s: the folder was closed", t.spec.Name)
	}
	return parley.ToolResult{Text: systemText(err), IsError: true}, nil
}

// newTool makes a tool whose arguments are read into an A. Fields that A does not
// have are refused: a misspelt one would be ignored otherwise.
func newTool[A any](name, description, schema string, call func(context.Context, A) (string, error)) *tool {
	return &tool{
		spec: parley.ToolSpec{Name: name, Description: description, Schema: json.RawMessage(schema)},
		call: func(ctx context.Context, arguments json.RawMessage) (string, error) {
			var a A
			dec := json.NewDecoder(bytes.NewReader(arguments))
			dec.DisallowUnknownFields()
			if err := dec.Decode(&a); err != nil {
				return "", refusef("the arguments do not fit: %v", err)
			}
			if _, err := dec.Token(); !errors.Is(err, io.EOF) {
				return "", refusef("the arguments do not fit: something follows after them")
			}
			return call(ctx, a)
		},
	}
}
