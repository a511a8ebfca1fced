package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/parley-run/parley"
)

// decodeJSON reads one JSON value into v, and refuses what a client did not mean:
// names that are not known or come twice, values of another type, bytes that are
// no text, more after the value. It says where.
func decodeJSON(data []byte, v reflect.Value) error {
	if !utf8.Valid(data) {
		return invalidf("the body is not valid UTF-8")
	}
	w := walker{dec: json.NewDecoder(bytes.NewReader(data))}
	w.dec.UseNumber()
	if err := w.value("", v.Type(), 0); err != nil {
		return w.explain(err)
	}
	if _, err := w.dec.Token(); !errors.Is(err, io.EOF) {
		return invalidf("the body goes on after its JSON value, at byte %d", w.dec.InputOffset())
	}
	if err := json.Unmarshal(data, v.Addr().Interface()); err != nil {
		if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return invalidf("%s must be %s, not %s", e.Field, kindName(e.Type), e.Value)
		}
		if parley.CodeOf(err) == parley.CodeInvalid {
			return err
		}
		return invalidf("the body cannot be read: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// walker looks at each value and the type it is for.
type walker struct{ dec *json.Decoder }

// explain makes an error for the client of one of the decoder's.
func (w *walker) explain(err error) error {
	if _, ok := errors.AsType[*parley.Error](err); ok {
		return err
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return invalidf("the body ends in the middle of its JSON")
	}
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		return invalidf("the body is not JSON: %s, at byte %d", e.Error(), e.Offset)
	}
	return invalidf("the body is not JSON: %s", err)
}

func (w *walker) value(at string, t reflect.Type, depth int) error {
	if depth > parley.MaxDepth {
		return invalidf("%s is nested too deep; at most %d levels are allowed", at, parley.MaxDepth)
	}
	token, err := w.dec.Token()
	if err != nil {
		return err
	}
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t != nil && (t == rawType || t.Kind() == reflect.Interface || reflect.PointerTo(t).Implements(unmarshalerType)) {
		t = nil // whatever it is, it reads itself
	}
	switch token {
	case json.Delim('{'):
		return w.object(at, t, depth)
	case json.Delim('['):
		return w.list(at, t, depth)
	}
	return w.scalar(at, t, token)
}

func (w *walker) object(at string, t reflect.Type, depth int) error {
	var names map[string]reflect.Type
	var element reflect.Type
	switch {
	case t == nil:
	case t.Kind() == reflect.Struct:
		names = jsonFields(t)
	case t.Kind() == reflect.Map:
		element = t.Elem()
	default:
		return mistyped(at, t, "an object")
	}
	seen := map[string]bool{}
	for w.dec.More() {
		token, err := w.dec.Token()
		if err != nil {
			return err
		}
		name, _ := token.(string)
		field := join(at, name)
		if seen[name] {
			return invalidf("%s is there twice", field)
		}
		seen[name] = true
		next := element
		if names != nil {
			known, ok := names[name]
			if !ok {
				return invalidf("there is no field %s here", field)
			}
			next = known
		}
		if err := w.value(field, next, depth+1); err != nil {
			return err
		}
	}
	_, err := w.dec.Token()
	return err
}

func (w *walker) list(at string, t reflect.Type, depth int) error {
	var element reflect.Type
	switch {
	case t == nil:
	case t.Kind() == reflect.Slice || t.Kind() == reflect.Array:
		element = t.Elem()
	default:
		return mistyped(at, t, "a list")
	}
	for i := 0; w.dec.More(); i++ {
		if err := w.value(at+"["+strconv.Itoa(i)+"]", element, depth+1); err != nil {
			return err
		}
	}
	_, err := w.dec.Token()
	return err
}

func (w *walker) scalar(at string, t reflect.Type, token json.Token) error {
	if t == nil || token == nil {
		return nil
	}
	fits, is := false, ""
	switch token := token.(type) {
	case string:
		fits, is = t.Kind() == reflect.String, "a text"
	case bool:
		fits, is = t.Kind() == reflect.Bool, strconv.FormatBool(token)
	case json.Number:
		is = "the number " + token.String()
		switch {
		case t.Kind() >= reflect.Int && t.Kind() <= reflect.Int64:
			_, err := strconv.ParseInt(token.String(), 10, t.Bits())
			fits = err == nil
		case t.Kind() >= reflect.Uint && t.Kind() <= reflect.Uint64:
			_, err := strconv.ParseUint(token.String(), 10, t.Bits())
			fits = err == nil
		default:
			fits = t.Kind() == reflect.Float64
		}
	}
	if !fits {
		return mistyped(at, t, is)
	}
	return nil
}

func mistyped(at string, t reflect.Type, is string) error {
	if at == "" {
		at = "the body"
	}
	return invalidf("%s must be %s, not %s", at, kindName(t), is)
}

// kindName says for people what a type takes.
func kindName(t reflect.Type) string {
	switch k := t.Kind(); {
	case t == timeType:
		return "a time such as 2026-01-02T15:04:05Z"
	case t == durationType:
		return "a duration such as 30s"
	case k == reflect.String:
		return "a text"
	case k == reflect.Bool:
		return "true or false"
	case k >= reflect.Int && k <= reflect.Int64:
		return "a whole number"
	case k >= reflect.Uint && k <= reflect.Uint64:
		return "a whole number that is not negative"
	case k == reflect.Slice:
		return "a list"
	case k == reflect.Struct || k == reflect.Map:
		return "an object"
	}
	return fmt.Sprint("a ", t.Kind())
}

func join(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}
