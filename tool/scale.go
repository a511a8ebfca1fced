package tool

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// scale finds out, before arguments are checked against a schema, how much work
// that is. Schemas come from servers that nobody here has seen: one that refers
// to itself would never be done, or only after years.
type scale struct {
	root    *jsonschema.Schema
	parts   map[*jsonschema.Schema][]part
	index   map[string]*jsonschema.Schema                         // by JSON pointer
	closure map[*jsonschema.Schema]map[*jsonschema.Schema]float64 // what else is checked, how often, where the schema is
}

const (
	maxSubschemas = 2_000     // of one schema
	maxWork       = 1_000_000 // subschemas that one call is checked against, each time counted
)

// newScale makes the scale of a schema; nil if no part of it refers to another,
// as then the work is limited by its size.
func newScale(root *jsonschema.Schema) (*scale, error) {
	s := &scale{
		root: root, parts: map[*jsonschema.Schema][]part{}, index: map[string]*jsonschema.Schema{},
		closure: map[*jsonschema.Schema]map[*jsonschema.Schema]float64{},
	}
	if err := s.collect(root, ""); err != nil {
		return nil, err
	}
	refers := false
	for path, sub := range s.index {
		switch {
		case sub.DynamicRef != "" || sub.Extra["$recursiveRef"] != nil:
			return nil, errors.New("it has dynamic references; use $ref")
		case sub.ID != "" && path != "":
			return nil, errors.New("a part of it has an $id of its own; use $defs")
		}
		refers = refers || sub.Ref != ""
	}
	if !refers {
		return nil, nil //nolint:nilnil // there is nothing to weigh, which is no error
	}
	for _, sub := range s.index {
		if _, err := s.close(sub, map[*jsonschema.Schema]bool{}); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// part is a schema inside of another.
type part struct {
	keyword string
	key     string // in a map or a list
	single  bool   // in neither
	schema  *jsonschema.Schema
}

// partsOf gives what is inside of a schema.
func partsOf(s *jsonschema.Schema) []part {
	var list []part
	for keyword, sub := range map[string]*jsonschema.Schema{
		"items": s.Items, "additionalItems": s.AdditionalItems, "contains": s.Contains, "unevaluatedItems": s.UnevaluatedItems,
		"additionalProperties": s.AdditionalProperties, "propertyNames": s.PropertyNames, "unevaluatedProperties": s.UnevaluatedProperties,
		"not": s.Not, "if": s.If, "then": s.Then, "else": s.Else, "contentSchema": s.ContentSchema,
	} {
		if sub != nil {
			list = append(list, part{keyword, "", true, sub})
		}
	}
	for keyword, subs := range map[string][]*jsonschema.Schema{
		"allOf": s.AllOf, "anyOf": s.AnyOf, "oneOf": s.OneOf, "prefixItems": s.PrefixItems, "items": s.ItemsArray,
	} {
		for i, sub := range subs {
			list = append(list, part{keyword, strconv.Itoa(i), false, sub})
		}
	}
	for keyword, subs := range map[string]map[string]*jsonschema.Schema{
		"$defs": s.Defs, "definitions": s.Definitions, "properties": s.Properties, "patternProperties": s.PatternProperties,
		"dependentSchemas": s.DependentSchemas, "dependencies": s.DependencySchemas,
	} {
		for key, sub := range subs {
			list = append(list, part{keyword, key, false, sub})
		}
	}
	return list
}

// collect finds all schemas inside of one.
func (s *scale) collect(schema *jsonschema.Schema, path string) error {
	if schema == nil {
		return errors.New("a part of it is null")
	}
	if s.index[path] = schema; len(s.index) > maxSubschemas {
		return fmt.Errorf("it has more than %d parts", maxSubschemas)
	}
	s.parts[schema] = partsOf(schema)
	for _, p := range s.parts[schema] {
		at := path + "/" + p.keyword
		if !p.single {
			at += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(p.key)
		}
		if err := s.collect(p.schema, at); err != nil {
			return err
		}
	}
	return nil
}

// target gives what a schema refers to.
func (s *scale) target(schema *jsonschema.Schema) (*jsonschema.Schema, error) {
	fragment, ok := strings.CutPrefix(schema.Ref, "#")
	path, err := url.PathUnescape(fragment)
	if to := s.index[path]; ok && err == nil && to != nil {
		return to, nil
	}
	return nil, fmt.Errorf("it refers to %s, which is not a part of it", quote(schema.Ref))
}

// close finds which schemas, and how often, are checked at the place where one
// is. Open are those that are being looked at: to meet one again is a circle.
func (s *scale) close(schema *jsonschema.Schema, open map[*jsonschema.Schema]bool) (map[*jsonschema.Schema]float64, error) {
	if known := s.closure[schema]; known != nil {
		return known, nil
	}
	if open[schema] {
		return nil, errors.New("a part of it refers to itself, and checking it would never end")
	}
	open[schema] = true
	defer delete(open, schema)
	counts := map[*jsonschema.Schema]float64{schema: 1}
	add := func(sub *jsonschema.Schema) error {
		inner, err := s.close(sub, open)
		for at, n := range inner {
			counts[at] += n
		}
		return err
	}
	if schema.Ref != "" {
		to, err := s.target(schema)
		if err != nil {
			return nil, err
		}
		if err := add(to); err != nil {
			return nil, err
		}
	}
	for _, p := range s.parts[schema] {
		switch p.keyword {
		case "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies":
			if err := add(p.schema); err != nil {
				return nil, err
			}
		}
	}
	total := 0.0
	for _, n := range counts {
		total += n
	}
	if total > maxWork {
		return nil, errors.New("its parts refer to each other so often that checking it takes too long")
	}
	s.closure[schema] = counts
	return counts, nil
}

// weigh refuses arguments that would take too long to check.
func (s *scale) weigh(object map[string]any) error {
	if s == nil {
		return nil
	}
	work := 0.0
	if s.visit(object, map[*jsonschema.Schema]float64{s.root: 1}, &work); work > maxWork {
		return errors.New("they are nested too deeply for their schema; send less at a time")
	}
	return nil
}

// visit counts the work for a value that is checked against schemas, each as often
// as given.
func (s *scale) visit(value any, schemas map[*jsonschema.Schema]float64, work *float64) {
	here := map[*jsonschema.Schema]float64{}
	for schema, n := range schemas {
		for at, m := range s.closure[schema] {
			here[at] += n * m
			*work += n * m
		}
	}
	if *work > maxWork {
		return
	}
	// Each visit is work of its own, also where no schema is left.
	*work++
	switch value := value.(type) {
	case map[string]any:
		for key, child := range value {
			s.visit(child, s.inner(here, func(p part) bool { return ofKey(p, key) }), work)
		}
	case []any:
		for i, child := range value {
			s.visit(child, s.inner(here, func(p part) bool { return ofItem(p, i) }), work)
		}
	}
}

// inner gives the schemas that a child of a value is checked against.
func (s *scale) inner(here map[*jsonschema.Schema]float64, fits func(part) bool) map[*jsonschema.Schema]float64 {
	counts := map[*jsonschema.Schema]float64{}
	for schema, n := range here {
		for _, p := range s.parts[schema] {
			if fits(p) {
				counts[p.schema] += n
			}
		}
	}
	return counts
}

func ofKey(p part, key string) bool {
	switch p.keyword {
	case "properties":
		return p.key == key
	case "patternProperties", "additionalProperties", "unevaluatedProperties":
		return true
	}
	return false
}

func ofItem(p part, i int) bool {
	switch p.keyword {
	case "items", "prefixItems":
		return p.single || p.key == strconv.Itoa(i)
	case "additionalItems", "contains", "unevaluatedItems":
		return true
	}
	return false
}
