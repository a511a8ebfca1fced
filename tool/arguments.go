package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/parley-run/parley"
)

// checker checks the arguments of calls against a tool's schema.
type checker struct {
	raw      json.RawMessage // the schema, without spaces
	schema   *jsonschema.Schema
	resolved *jsonschema.Resolved
	scale    *scale // nil: no schema refers to another
	// scrubFunc takes secrets out of what errors show, before that is cut.
	scrubFunc func(text string) string
}

// newChecker reads a schema.
func newChecker(raw json.RawMessage, scrubFunc func(text string) string) (*checker, error) {
	if len(raw) > MaxSchema {
		return nil, fmt.Errorf("it has %d bytes; at most %d are allowed", len(raw), MaxSchema)
	}
	if _, err := readObject(raw, scrubFunc); err != nil {
		return nil, err
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		return nil, err
	}
	c := &checker{raw: compact.Bytes(), schema: &jsonschema.Schema{}, scrubFunc: scrubFunc}
	if err := json.Unmarshal(c.raw, c.schema); err != nil {
		return nil, err
	}
	if c.schema.Type != "object" {
		return nil, errors.New(`it is not that of an object; it needs "type": "object"`)
	}
	c.schema.Schema = version(c.schema.Schema)
	var err error
	if c.scale, err = newScale(c.schema); err != nil {
		return nil, err
	}
	c.resolved, err = c.schema.Resolve(nil)
	return c, err
}

// version gives the version of the language by which a schema is read. There are
// two; who names another means the same in what is common for tools.
func version(given string) string {
	for _, old := range []string{"draft-04", "draft-06", "draft-07"} {
		if strings.Contains(given, old) {
			return "http://json-schema.org/draft-07/schema#"
		}
	}
	return ""
}

// check gives the arguments as the tool gets them. Its errors are for the model.
func (c *checker) check(raw json.RawMessage) (json.RawMessage, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage("{}")
	}
	if len(raw) > MaxArguments {
		return nil, fmt.Errorf("they have %d bytes; at most %d are allowed", len(raw), MaxArguments)
	}
	if text, ok := notJSON(raw); ok {
		return nil, fmt.Errorf("they are not JSON: %s. Send one JSON object. %s", quote(c.scrubFunc(text)), c.takes())
	}
	object, err := readObject(raw, c.scrubFunc)
	if err != nil {
		return nil, fmt.Errorf("%w. Send one JSON object. %s", err, c.takes())
	}
	if err := c.scale.weigh(object); err != nil {
		return nil, err
	}
	if err := c.resolved.Validate(object); err != nil {
		return nil, fmt.Errorf("%s. %s", c.explain(object, err), c.takes())
	}
	return raw, nil
}

// notJSON gives the text of arguments that a model sent and that were no JSON,
// which are given as a JSON string.
func notJSON(raw json.RawMessage) (string, bool) {
	var text string
	err := json.Unmarshal(raw, &text)
	return text, err == nil && bytes.TrimSpace(raw)[0] == '"'
}

// readObject reads one JSON object, whose keys are there once and which is not
// nested too deeply.
func readObject(raw json.RawMessage, scrubFunc func(text string) string) (map[string]any, error) {
	if !utf8.Valid(raw) {
		return nil, errors.New("the JSON is not valid UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	value, err := readValue(d, 1, scrubFunc)
	if err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, errors.New("the JSON ends too early")
		}
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more after the JSON value")
	}
	// The decoder is lenient about some commas.
	if !json.Valid(raw) {
		return nil, errors.New("the JSON is malformed")
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("they are %s and not an object", kindOfJSON(value))
	}
	return object, nil
}

func readValue(d *json.Decoder, depth int, scrubFunc func(text string) string) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	open, ok := token.(json.Delim)
	if !ok {
		return token, nil
	}
	if depth > parley.MaxDepth {
		return nil, fmt.Errorf("the JSON is nested more than %d deep", parley.MaxDepth)
	}
	if open == '[' {
		list := []any{}
		for d.More() {
			value, err := readValue(d, depth+1, scrubFunc)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		_, err := d.Token()
		return list, err
	}
	object := map[string]any{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, err
		}
		key, _ := token.(string)
		if _, twice := object[key]; twice {
			// Readers differ about which one counts.
			return nil, fmt.Errorf("%s is there twice", quote(scrubFunc(key)))
		}
		if object[key], err = readValue(d, depth+1, scrubFunc); err != nil {
			return nil, err
		}
	}
	_, err = d.Token()
	return object, err
}

func kindOfJSON(value any) string {
	switch value.(type) {
	case []any:
		return "a list"
	case string:
		return "a text"
	case nil:
		return "null"
	}
	return "a number or a boolean"
}

var (
	validating = regexp.MustCompile(`validating (root|<anonymous schema>|(/[^\s:]+))(: |$)`)
	inSchema   = regexp.MustCompile(`/(properties|items|prefixItems|additionalProperties|patternProperties|allOf|anyOf|oneOf|\$defs|definitions)\b(/\d+\b)?`)
)

// explain says in a sentence which argument is wrong, and what was expected.
func (c *checker) explain(object map[string]any, err error) string {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if _, known := c.schema.Properties[name]; !known && c.closed() {
			return "there is no argument " + quote(c.scrubFunc(name)) + meant(name, slices.Sorted(maps.Keys(c.schema.Properties)))
		}
	}
	last := ""
	text := validating.ReplaceAllStringFunc(err.Error(), func(part string) string {
		path := inSchema.ReplaceAllString(validating.FindStringSubmatch(part)[2], "")
		if path != "" {
			last = strings.ReplaceAll(strings.Trim(path, "/"), "/", ".")
		}
		return ""
	})
	if text = head(c.scrubFunc(strings.TrimSpace(text)), 500); last != "" {
		return "argument " + head(c.scrubFunc(last), 100) + ": " + text
	}
	return text
}

// closed reports whether the schema has no other arguments than those it lists.
func (c *checker) closed() bool {
	a := c.schema.AdditionalProperties
	return a != nil && a.Not != nil && len(c.schema.PatternProperties) == 0
}

// takes lists the arguments.
func (c *checker) takes() string {
	if len(c.schema.Properties) == 0 {
		return "It takes no arguments that are described."
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(c.schema.Properties)) {
		p := c.schema.Properties[name]
		kind := p.Type
		if kind == "" && len(p.Types) > 0 {
			kind = strings.Join(p.Types, " or ")
		}
		if slices.Contains(c.schema.Required, name) {
			kind = strings.TrimSpace(kind + " required")
		}
		if kind != "" {
			name += " (" + kind + ")"
		}
		list = append(list, name)
	}
	return "It takes: " + head(strings.Join(list, ", "), 1000) + "."
}
