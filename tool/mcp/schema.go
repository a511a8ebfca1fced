package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/secret"
)

// schemaOf makes the schema that a server gives for a tool's arguments one of an
// object. What leaves that open is completed; what says something else, or is too
// much, is an error that says why.
func schemaOf(given any, known *secret.Scrubber) (json.RawMessage, error) {
	object, err := objectSchema(given, known)
	if err != nil {
		return nil, err
	}
	if deep(object, parley.MaxDepth) {
		return nil, fmt.Errorf("its schema is nested more than %d deep", parley.MaxDepth)
	}
	data, err := json.Marshal(object)
	if err != nil {
		return nil, errors.New("its schema cannot be written")
	}
	if data = []byte(known.Text(string(data))); len(data) > maxSchema {
		return nil, fmt.Errorf("its schema has more than %d bytes", maxSchema)
	}
	if bytes.Contains(data, []byte(`\u0000`)) {
		return nil, errors.New("its schema has a NUL in it")
	}
	return data, nil
}

func objectSchema(given any, known *secret.Scrubber) (map[string]any, error) {
	switch v := given.(type) {
	case nil:
		return map[string]any{"type": "object"}, nil
	case bool:
		if v {
			return map[string]any{"type": "object"}, nil
		}
		return nil, errors.New("its schema allows no arguments at all")
	case map[string]any:
		object := maps.Clone(v)
		switch kind := v["type"].(type) {
		case nil:
		case string:
			if kind != "object" {
				return nil, fmt.Errorf("its schema is of type %.20q; arguments are an object", plain(known, kind))
			}
		case []any:
			if !slices.Contains(kind, any("object")) {
				return nil, errors.New("its schema does not allow an object; arguments are one")
			}
		default:
			return nil, errors.New("the type of its schema is not a text")
		}
		object["type"] = "object"
		if p, ok := object["properties"]; ok && p == nil {
			delete(object, "properties")
		}
		return object, nil
	}
	return nil, errors.New("its schema is not an object")
}

// deep reports whether a value is nested deeper than so many levels.
func deep(value any, levels int) bool {
	if levels < 0 {
		return true
	}
	switch v := value.(type) {
	case map[string]any:
		for _, inner := range v {
			if deep(inner, levels-1) {
				return true
			}
		}
	case []any:
		for _, inner := range v {
			if deep(inner, levels-1) {
				return true
			}
		}
	}
	return false
}
