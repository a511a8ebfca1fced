package tool_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/tool"
)

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	one := func(f fake) []tool.Group { return []tool.Group{{Name: "g", Tools: []parley.Tool{f}}} }
	schema := func(text string) []tool.Group { return one(fake{name: "t", schema: text}) }
	// Each part is the next one twice: checking the last takes 2^20 steps.
	var double strings.Builder
	for i := range 20 {
		double.WriteString(`"d` + string(rune('a'+i)) + `": {"allOf": [{"$ref": "#/$defs/d` + string(rune('a'+i+1)) + `"}, {"$ref": "#/$defs/d` + string(rune('a'+i+1)) + `"}]}, `)
	}
	doubled := `{"type": "object", "$ref": "#/$defs/da", "$defs": {` + double.String() + `"du": {}}}`
	for _, tt := range []struct {
		title  string
		groups []tool.Group
		cfg    tool.Config
		want   string // "": it is fine
	}{
		{"nothing", nil, tool.Config{}, ""},
		{"the usual", usual(), tool.Config{}, ""},
		{"no name of a group", []tool.Group{group("")}, tool.Config{}, "cannot be called"},
		{"a bad name of a group", []tool.Group{group("a b")}, tool.Config{}, "cannot be called"},
		{"two groups", []tool.Group{group("a"), group("a")}, tool.Config{}, "two groups"},
		{"no name", one(fake{}), tool.Config{}, "cannot be called"},
		{"a bad name", one(fake{name: "läuft"}), tool.Config{}, "cannot be called"},
		{"a long name", one(fake{name: strings.Repeat("a", 65)}), tool.Config{}, "cannot be called"},
		{"the longest name", one(fake{name: strings.Repeat("a", 64)}), tool.Config{}, ""},
		{"a line break in a name", one(fake{name: "a\n"}), tool.Config{}, "cannot be called"},
		{"two tools", []tool.Group{group("a", "t"), group("b", "t")}, tool.Config{}, "two tools called t, in the groups a and b"},
		{"a tool called as another group", []tool.Group{group("a", "b"), group("b", "t")}, tool.Config{}, "b is the name of a group and of a tool in the group a"},
		{"a tool called as its own group", []tool.Group{group("a", "a", "b")}, tool.Config{}, ""},
		{"no JSON", schema("x"), tool.Config{}, "schema of the tool t"},
		{"not an object", schema(`"object"`), tool.Config{}, "not an object"},
		{"true", schema(`true`), tool.Config{}, "not an object"},
		{"no type", schema(`{}`), tool.Config{}, `it needs "type": "object"`},
		{"of a list", schema(`{"type": "array"}`), tool.Config{}, `it needs "type": "object"`},
		{"of several", schema(`{"type": ["object", "null"]}`), tool.Config{}, `it needs "type": "object"`},
		{"a type that does not exist", schema(`{"type": "object", "properties": {"a": {"type": 5}}}`), tool.Config{}, "type"},
		{"a bad expression", schema(`{"type": "object", "properties": {"a": {"pattern": "("}}}`), tool.Config{}, "pattern"},
		{"a reference to nothing", schema(`{"type": "object", "properties": {"a": {"$ref": "#/$defs/b"}}}`), tool.Config{}, "not a part of it"},
		{"a reference to elsewhere", schema(`{"type": "object", "properties": {"a": {"$ref": "https://example.org/x"}}}`), tool.Config{}, "not a part of it"},
		{"a reference to itself", schema(`{"type": "object", "$ref": "#"}`), tool.Config{}, "never end"},
		{"references in a circle", schema(`{"type": "object", "properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"b": {"anyOf": [{"$ref": "#/$defs/c"}]}, "c": {"not": {"$ref": "#/$defs/b"}}}}`), tool.Config{}, "never end"},
		{"a dynamic reference", schema(`{"type": "object", "$dynamicAnchor": "a", "properties": {"a": {"$dynamicRef": "#a"}}}`), tool.Config{}, "dynamic"},
		{"an id inside", schema(`{"type": "object", "properties": {"a": {"$id": "https://example.org/x"}}}`), tool.Config{}, "$id"},
		{"a part that is null", schema(`{"type": "object", "properties": {"a": null}}`), tool.Config{}, "null"},
		{"a tree, which is fine", schema(`{"type": "object", "properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}}`), tool.Config{}, ""},
		{"doubled", schema(doubled), tool.Config{}, "takes too long"},
		{"too deep", schema(`{"type": "object", "properties": ` + strings.Repeat(`{"a": `, 70) + "{}" + strings.Repeat("}", 70) + "}"), tool.Config{}, "nested"},
		{"too large", schema(`{"type": "object", "title": "` + strings.Repeat("a", tool.MaxSchema) + `"}`), tool.Config{}, "at most"},
		{"a key twice", schema(`{"type": "object", "type": "object"}`), tool.Config{}, "twice"},
		{"another version", schema(`{"type": "object", "$schema": "https://json-schema.org/draft/2019-09/schema"}`), tool.Config{}, ""},
		{"a rule without a tool", nil, tool.Config{Rules: []tool.Rule{{Effect: allow}}}, "cannot be about the tool"},
		{"a rule without an effect", nil, tool.Config{Rules: []tool.Rule{{Tool: "*"}}}, "allow, approve or deny"},
		{"an effect that does not exist", nil, tool.Config{Rules: []tool.Rule{{Tool: "*", Effect: "ask"}}}, "allow, approve or deny"},
		{"a role that does not exist", nil, tool.Config{Rules: []tool.Rule{{Tool: "*", Effect: deny, Roles: []parley.Role{"admin"}}}}, "owner, user or guest"},
		{"a user without a name", nil, tool.Config{Rules: []tool.Rule{{Tool: "*", Effect: deny, Users: []parley.UserID{""}}}}, "without a name"},
		{"a small limit", nil, tool.Config{MaxResult: 10}, "between"},
		{"a negative limit", nil, tool.Config{MaxResult: -1}, "between"},
		{"a large limit", nil, tool.Config{MaxResult: 1 << 20}, "between"},
	} {
		t.Run(tt.title, func(t *testing.T) {
			t.Parallel()
			_, err := tool.New(tt.groups, tt.cfg)
			if tt.want == "" {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			wantCode(t, err, parley.CodeInvalid, tt.want)
		})
	}
}

func TestSpecs(t *testing.T) {
	t.Parallel()
	specs := func(groups []tool.Group) []parley.ToolSpec {
		r, err := tool.New(groups, tool.Config{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := r.For(who(parley.RoleOwner, ""), nil)
		if err != nil {
			t.Fatal(err)
		}
		first := s.Specs()
		again := s.Specs()
		if !cmp.Equal(first, again) {
			t.Error("the same set gives something else the second time")
		}
		again[0].Schema[0] = 'x' // who changes what he got changes nobody else's
		if !cmp.Equal(first, s.Specs()) {
			t.Error("the set can be changed from outside")
		}
		return first
	}
	a := usual()
	b := usual()
	slices.Reverse(b)
	for i := range b {
		slices.Reverse(b[i].Tools)
	}
	if diff := cmp.Diff(specs(a), specs(b)); diff != "" {
		t.Errorf("the order of groups shows: %s", diff)
	}
	if got := string(specs(a)[0].Schema); got != `{"type":"object"}` {
		t.Errorf("the schema has become %s", got)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	rules := []tool.Rule{{Tool: "serach", Effect: deny}, {Tool: "*", Effect: allow}, {Tool: "files", Effect: allow}, {Tool: "read_file", Effect: allow}}
	r, err := tool.New(usual(), tool.Config{Rules: rules})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"files", "git_commit", "http_request", "read_file", "run_command", "search", "search_find", "write_file"}, r.Names()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(rules[:1], r.Unmatched()); diff != "" {
		t.Error(diff)
	}
}
