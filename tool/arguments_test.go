package tool_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/tool"
)

const person = `{
	"type": "object", "additionalProperties": false, "required": ["name"],
	"properties": {
		"name": {"type": "string", "minLength": 1},
		"age": {"type": "integer", "minimum": 0},
		"kind": {"enum": ["adult", "child"]},
		"children": {"type": "array", "items": {"$ref": "#"}}
	}
}`

func TestArguments(t *testing.T) {
	t.Parallel()
	deep := func(n int) string {
		return strings.Repeat(`{"name": "a", "children": [`, n) + `{"name": "a"}` + strings.Repeat("]}", n)
	}
	for _, tt := range []struct {
		title, schema, arguments string
		want                     string // "": they fit
	}{
		{"they fit", person, `{"name": "a", "age": 3, "kind": "child", "children": [{"name": "b"}]}`, ""},
		{"none, and none needed", anyObject, ``, ""},
		{"spaces, and none needed", anyObject, " \n", ""},
		{"none, but one needed", person, ``, `missing properties: ["name"]`},
		{"what it takes is said", person, ``, "It takes: age (integer), children (array), kind, name (string required)."},
		{"another type", person, `{"name": 5}`, `argument name: type: 5 has type "integer", want "string"`},
		{"too short", person, `{"name": ""}`, "argument name: minLength"},
		{"too small", person, `{"name": "a", "age": -1}`, "argument age: minimum"},
		{"not in the list", person, `{"name": "a", "kind": "dog"}`, "argument kind: enum"},
		{"inside", person, `{"name": "a", "children": [{"age": 3}]}`, "missing properties"},
		{"one too many", person, `{"nam": "a"}`, `there is no argument "nam"; did you mean name?`},
		{"one of something else", person, `{"name": "a", "zzz": 1}`, `there is no argument "zzz"; there are age, children, kind, name`},
		{"no JSON, as models send it", person, `"{name: a"`, `they are not JSON: "{name: a". Send one JSON object.`},
		{"no JSON at all", person, `{name: "a"}`, "Send one JSON object"},
		{"half", person, `{"name": "a"`, "ends too early"},
		{"more after it", person, `{"name": "a"} {}`, "more after"},
		{"a comma too many", person, `{"name": "a",}`, "Send one JSON object"},
		{"a list", person, `[]`, "they are a list and not an object"},
		{"null", person, `null`, "they are null and not an object"},
		{"a number", person, `5`, "and not an object"},
		{"a name twice", person, `{"name": "a", "name": "b"}`, `"name" is there twice`},
		{"a name twice, written otherwise", person, `{"name": "a", "n\u0061me": "b"}`, `"name" is there twice`},
		{"a number out of reach", person, `{"name": "a", "age": 1e999}`, "1e999"},
		{"broken UTF-8", person, "{\"name\": \"\xff\"}", "not valid UTF-8"},
		{"as deep as may be", person, deep(31), ""},
		{"too deep", person, deep(32), "nested more than 64 deep"},
		{"much too deep", anyObject, `{"a":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + "}", "nested more than 64 deep"},
		{"as long as may be", anyObject, `{"a":"` + strings.Repeat("x", tool.MaxArguments-8) + `"}`, ""},
		{"too long", anyObject, `{"a":"` + strings.Repeat("x", tool.MaxArguments-7) + `"}`, "at most 262144 are allowed"},
	} {
		t.Run(tt.title, func(t *testing.T) {
			t.Parallel()
			res, err := runOne(t.Context(), t, fake{name: "t", schema: tt.schema}, tool.Config{MaxResult: 300_000}, tt.arguments)
			if err != nil {
				t.Fatal(err)
			}
			if res.CallID != "c1" || res.IsError != (tt.want != "") {
				t.Errorf("got %+v", res)
			}
			want := tt.want
			if want == "" {
				if want = "ran " + tt.arguments; strings.TrimSpace(tt.arguments) == "" {
					want = "ran {}"
				}
			}
			if !strings.Contains(res.Text, want) {
				t.Errorf("got %q, want %q", res.Text, want)
			}
			if res.IsError && len(res.Text) > 3000 {
				t.Errorf("the answer has %d bytes", len(res.Text))
			}
		})
	}
}

// TestSchemasThatExplode has schemas that take small arguments and years.
func TestSchemasThatExplode(t *testing.T) {
	t.Parallel()
	both := `{"type": "object", "properties": {"a": {"$ref": "#/$defs/n"}}, "$defs": {"n": {"anyOf": [{"properties": {"a": {"$ref": "#/$defs/n"}}}, {"properties": {"a": {"$ref": "#/$defs/n"}}}]}}}`
	deep := func(n int) string { return strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n) }
	for _, tt := range []struct {
		title, schema, arguments string
		refused                  bool
	}{
		{"shallow", both, deep(8), false},
		{"deep", both, deep(60), true},
		{"as a list", strings.NewReplacer(`"properties": {"a": {"$ref"`, `"properties": {"a": {"$ref"`, `{"properties": {"a": {"$ref": "#/$defs/n"}}}`, `{"items": {"$ref": "#/$defs/n"}}`).Replace(both), `{"a":` + strings.Repeat("[", 60) + strings.Repeat("]", 60) + "}", true},
		{"one way only", `{"type": "object", "properties": {"a": {"$ref": "#"}}}`, deep(60) + "", true},
		{"one way only, an object at the end", `{"type": "object", "properties": {"a": {"$ref": "#"}}}`, strings.Replace(deep(60), "1", "{}", 1), false},
	} {
		res, err := runOne(t.Context(), t, fake{name: "t", schema: tt.schema}, tool.Config{}, tt.arguments)
		if err != nil || res.IsError != tt.refused {
			t.Errorf("%s: got %+v, %v", tt.title, res, err)
		}
	}
}

func TestUnknownTool(t *testing.T) {
	t.Parallel()
	r, err := tool.New(usual(), tool.Config{})
	if err != nil {
		t.Fatal(err)
	}
	p := who(parley.RoleUser, "")
	s, err := r.For(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"http_requst":            `there is no tool called "http_requst"; did you mean http_request?`,
		"find":                   "did you mean search_find?",
		"reed_file":              "there are http_request, search_find", // and not what is denied
		"":                       `called ""`,
		strings.Repeat("é", 999): "there are",
	} {
		res, err := s.Run(t.Context(), parley.ToolCaller{Principal: p}, parley.ToolCall{ID: "c", Name: name})
		if err != nil || !res.IsError || res.CallID != "c" || !strings.Contains(res.Text, want) || !utf8.ValidString(res.Text) {
			t.Errorf("%s: got %+v, %v", name, res, err)
		}
	}
}

func FuzzArguments(f *testing.F) {
	for _, text := range []string{
		``, `{}`, `{"name":"a"}`, `{"name":"a","age":1}`, `{"name":"a","age":1.5}`, `{"name":"a","age":1e2}`, `"{name"`, `[]`, `null`, `{"name":"a","name":"b"}`,
		`{"name":"a","children":[{"name":"b"}]}`, `{"name":"a",}`, `{"name":"\u0000"}`, `{"name":"a"}x`, `{"name":"a","kind":"child"}`, "{\"name\":\"\xff\"}", `{"Name":"a"}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		res, err := runOne(t.Context(), t, fake{name: "t", schema: person}, tool.Config{MaxResult: 300_000}, string(raw))
		if err != nil {
			t.Fatal(err)
		}
		fits := len(raw) <= tool.MaxArguments && utf8.Valid(raw) && json.Valid(raw) && isPerson(raw)
		if fits == res.IsError && !twice(raw) {
			t.Fatalf("%q fits: %v; got %+v", raw, fits, res)
		}
		if !res.IsError && twice(raw) {
			t.Fatalf("%q has a name twice", raw)
		}
		if !utf8.ValidString(res.Text) || strings.ContainsRune(res.Text, 0) {
			t.Fatalf("the answer cannot be stored: %q", res.Text)
		}
	})
}

// isPerson is the schema by other means.
func isPerson(raw []byte) bool {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil || fields["name"] == nil {
		return false
	}
	for key, value := range fields {
		text := strings.TrimSpace(string(value))
		var name string
		var number float64
		var list []json.RawMessage
		switch key {
		case "name":
			if text[0] != '"' || json.Unmarshal(value, &name) != nil || name == "" {
				return false
			}
		case "age":
			if text == "null" || json.Unmarshal(value, &number) != nil || number < 0 || number != float64(int64(number)) && number < 1e15 {
				return false
			}
		case "kind":
			if json.Unmarshal(value, &name) != nil || name != "adult" && name != "child" {
				return false
			}
		case "children":
			if text[0] != '[' || json.Unmarshal(value, &list) != nil {
				return false
			}
			for _, child := range list {
				if !isPerson(child) {
					return false
				}
			}
		default:
			return false
		}
	}
	return true
}

// twice reports whether some object in valid JSON has a name twice.
func twice(raw []byte) bool {
	d := json.NewDecoder(strings.NewReader(string(raw)))
	var walk func() bool
	walk = func() bool {
		token, err := d.Token()
		if err != nil {
			return false
		}
		found, seen := false, map[json.Token]bool{}
		if open, ok := token.(json.Delim); ok {
			for d.More() {
				if open == '{' {
					key, err := d.Token()
					if err != nil {
						return found
					}
					found = found || seen[key]
					seen[key] = true
				}
				found = walk() || found
				if d.InputOffset() >= int64(len(raw)) {
					break
				}
			}
			_, _ = d.Token()
		}
		return found
	}
	return json.Valid(raw) && walk()
}
