package httpapi

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/parley-run/parley"
)

var (
	rawType         = reflect.TypeFor[json.RawMessage]()
	timeType        = reflect.TypeFor[time.Time]()
	durationType    = reflect.TypeFor[time.Duration]()
	unmarshalerType = reflect.TypeFor[json.Unmarshaler]()
)

// fields are what a route reads from the path, the query and the body.
type fields struct {
	path, query []field
	body        bool // there are others, which are the JSON body
}

type field struct {
	name  string
	doc   string
	index int
	typ   reflect.Type
}

// fieldsOf finds what a request struct reads.
func fieldsOf(t reflect.Type) *fields {
	f := &fields{}
	for i := range t.NumField() {
		sf := t.Field(i)
		one := field{index: i, typ: sf.Type, doc: sf.Tag.Get("jsonschema")}
		switch {
		case sf.Tag.Get("path") != "":
			one.name = sf.Tag.Get("path")
			f.path = append(f.path, one)
		case sf.Tag.Get("query") != "":
			one.name = sf.Tag.Get("query")
			f.query = append(f.query, one)
		default:
			f.body = true
		}
	}
	return f
}

// jsonFieldCache has the names of each type's fields: what arrives is compared with
// them letter by letter.
var jsonFieldCache sync.Map

func jsonFields(t reflect.Type) map[string]reflect.Type {
	if known, ok := jsonFieldCache.Load(t); ok {
		return known.(map[string]reflect.Type) //nolint:forcetypeassert // nothing else is stored
	}
	names := map[string]reflect.Type{}
	for _, sf := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(sf.Tag.Get("json"), ",")
		if name != "" && name != "-" {
			names[name] = sf.Type
		}
	}
	jsonFieldCache.Store(t, names)
	return names
}

// read fills a request struct from the path, the query and the body.
func (c *call) read(v reflect.Value, e *entry) error {
	for _, f := range e.fields.path {
		if err := setText(v.Field(f.index), f.name, c.r.PathValue(f.name)); err != nil {
			return err
		}
	}
	if err := readQuery(v, c.r.URL.RawQuery, e.fields.query); err != nil {
		return err
	}
	if e.takes != "" || c.r.Method == http.MethodGet || c.r.Method == http.MethodHead {
		return nil
	}
	data, err := c.body()
	if err != nil {
		return err
	}
	if len(data) == 0 {
		return nil // every field may be left out, or the handler says
	}
	return decodeJSON(data, v)
}

// body reads the whole body, within its limits.
func (c *call) body() ([]byte, error) {
	if encoding := c.r.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return nil, invalidf("a body with content encoding %q is not taken; send it as it is", encoding)
	}
	c.readDeadline(c.cfg.Limits.BodyTime)
	data, err := io.ReadAll(http.MaxBytesReader(c.w.ResponseWriter, c.r.Body, c.cfg.Limits.Body))
	if err != nil {
		return nil, c.bodyError(err, c.cfg.Limits.BodyTime)
	}
	c.readDeadline(0)
	return data, nil
}

// readDeadline limits how long the client may take to send; 0: no limit.
func (c *call) readDeadline(d time.Duration) {
	var at time.Time
	if d > 0 {
		at = time.Now().Add(d)
	}
	_ = http.NewResponseController(c.w.ResponseWriter).SetReadDeadline(at) // not every server can
}

// bodyError says why a body could not be read. What is left of it is not read.
func (c *call) bodyError(err error, limit time.Duration) error {
	c.w.Header().Set("Connection", "close")
	if e, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return parley.Errorf(parley.CodeTooLarge, "the body is too large; at most %d bytes are allowed", e.Limit)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return invalidf("the body did not arrive within %s", limit)
	}
	if _, ok := errors.AsType[*parley.Error](err); ok {
		return err
	}
	return &parley.Error{Code: parley.CodeInvalid, Message: "the body did not arrive whole", Err: err}
}

// readQuery fills the fields of the query. Each name may come once, and no other.
func readQuery(v reflect.Value, raw string, known []field) error {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return invalidf("the query cannot be read: write & between parameters, and %% only in escapes such as %%20")
	}
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		f, rest, ok := queryField(known, name)
		switch {
		case !ok:
			return invalidf("there is no query parameter %q here", name)
		case len(values[name]) > 1:
			return invalidf("query parameter %q is there twice", name)
		case f.typ.Kind() == reflect.Map:
			if !utf8.ValidString(rest) || !utf8.ValidString(values[name][0]) {
				return invalidf("query parameter %q is not valid UTF-8", name)
			}
			m := v.Field(f.index)
			if m.IsNil() {
				m.Set(reflect.MakeMap(f.typ))
			}
			m.SetMapIndex(reflect.ValueOf(rest), reflect.ValueOf(values[name][0]))
		default:
			if err := setText(v.Field(f.index), name, values[name][0]); err != nil {
				return err
			}
			if name == "limit" && v.Field(f.index).Int() < 1 {
				return invalidf("query parameter limit must be 1 or more")
			}
		}
	}
	return nil
}

// queryField finds a parameter; one whose name ends in .* takes all that begin so.
func queryField(known []field, name string) (f field, rest string, ok bool) {
	for _, f := range known {
		if f.name == name {
			return f, "", true
		}
		if prefix, many := strings.CutSuffix(f.name, "*"); many && len(name) > len(prefix) && strings.HasPrefix(name, prefix) {
			return f, name[len(prefix):], true
		}
	}
	return field{}, "", false
}

// setText sets a field from the text of a path or a query.
func setText(v reflect.Value, name, text string) error {
	if !utf8.ValidString(text) {
		return invalidf("%s is not valid UTF-8", name)
	}
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	wrong := invalidf("%s must be %s, not %q", name, kindName(v.Type()), cut(text))
	switch k := v.Kind(); {
	case v.Type() == timeType:
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return wrong
		}
		v.Set(reflect.ValueOf(at))
	case v.Type() == durationType:
		d, err := time.ParseDuration(text)
		if err != nil || d < 0 {
			return wrong
		}
		v.SetInt(int64(d))
	case k == reflect.String:
		v.SetString(text)
	case k == reflect.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return wrong
		}
		v.SetBool(b)
	case k >= reflect.Int && k <= reflect.Int64:
		n, err := strconv.ParseInt(text, 10, v.Type().Bits())
		if err != nil {
			return wrong
		}
		v.SetInt(n)
	case k >= reflect.Uint && k <= reflect.Uint64:
		n, err := strconv.ParseUint(text, 10, v.Type().Bits())
		if err != nil {
			return wrong
		}
		v.SetUint(n)
	default:
		return parley.Errorf(parley.CodeInternal, "no way to read %s", v.Type())
	}
	return nil
}

// cut shortens what is quoted in an error.
func cut(text string) string {
	const most = 60
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
