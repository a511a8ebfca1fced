package parley_test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-run/parley"
)

// declaredTypes reads the constants of type EventType from the source.
func declaredTypes(t *testing.T) []parley.EventType {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "event.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var types []parley.EventType
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if name, ok := spec.Type.(*ast.Ident); !ok || name.Name != "EventType" {
			return true
		}
		for _, v := range spec.Values {
			lit, ok := v.(*ast.BasicLit)
			if !ok {
				t.Fatalf("%v is not a plain constant", spec.Names)
			}
			text, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatal(err)
			}
			types = append(types, parley.EventType(text))
		}
		return true
	})
	slices.Sort(types)
	return types
}

func TestEveryEventTypeHasItsBody(t *testing.T) {
	t.Parallel()
	declared := declaredTypes(t)
	if len(declared) < 20 {
		t.Fatalf("found only the types %v", declared)
	}
	if diff := cmp.Diff(declared, parley.EventTypes()); diff != "" {
		t.Errorf("the types in the source are not those with a body (-source +bodies):\n%s", diff)
	}
	cases := make(map[parley.EventType]parley.EventBody)
	for _, c := range bodyCases() {
		cases[c.valid.EventType()] = c.valid
	}
	for _, typ := range declared {
		body, ok := cases[typ]
		if !ok {
			t.Errorf("%s has no case in the tests", typ)
			continue
		}
		data, err := parley.EncodeBody(body)
		if err != nil {
			t.Fatal(err)
		}
		decoded, err := parley.DecodeBody(typ, data)
		if err != nil {
			t.Fatal(err)
		}
		if decoded.EventType() != typ || reflect.TypeOf(decoded) != reflect.TypeOf(body) {
			t.Errorf("%s decodes to %T of type %s, want %T", typ, decoded, decoded.EventType(), body)
		}
	}
}

func TestBodies(t *testing.T) {
	t.Parallel()
	for _, c := range bodyCases() {
		t.Run(string(c.valid.EventType()), func(t *testing.T) {
			t.Parallel()
			data, err := parley.EncodeBody(c.valid)
			if err != nil {
				t.Fatal(err)
			}
			back, err := parley.Event{Type: c.valid.EventType(), Data: data}.Decode()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.valid, back); diff != "" {
				t.Errorf("a round trip changes it (-before +after):\n%s", diff)
			}
			for _, broken := range c.broken {
				t.Run(broken.name, func(t *testing.T) {
					t.Parallel()
					_, err := parley.EncodeBody(broken.body)
					wantCode(t, err, broken.code)
					// What reaches the decoder by another way is refused as well.
					data, err := json.Marshal(broken.body)
					if err != nil {
						return
					}
					_, err = parley.DecodeBody(broken.body.EventType(), data)
					wantCode(t, err, broken.code)
				})
			}
		})
	}
}

// TestNilBodies: a pointer to no body is refused as no body is, whatever it would point to.
func TestNilBodies(t *testing.T) {
	t.Parallel()
	bodies := []parley.EventBody{nil, (*parley.Custom)(nil), (*parley.Tombstone)(nil)}
	for _, name := range parley.EventTypes() {
		of := reflect.TypeOf(parley.NewBody(name))
		bodies = append(bodies, reflect.Zero(of).Interface().(parley.EventBody))
	}
	for _, body := range bodies {
		_, err := parley.EncodeBody(body)
		wantCode(t, err, parley.CodeInvalid)
		batch := parley.Batch{At: time.Unix(1, 0), Sessions: []parley.SessionChange{{Session: "cli:a", Events: []parley.NewEvent{{Body: body}}}}}
		wantCode(t, batch.Validate(), parley.CodeInvalid)
	}
}

func TestMinimalBodies(t *testing.T) {
	t.Parallel()
	for _, body := range []parley.EventBody{
		&parley.Updated{},
		&parley.Message{ID: "m", Role: parley.MessageUser},
		&parley.Admitted{ID: "m", Origin: "o", Kind: parley.InputRecovery},
		&parley.Resumed{},
		&parley.Rewound{},
		&parley.ApprovalResolved{Call: "c", State: parley.ApprovalExpired},
		&parley.ApprovalRequested{Call: "c", Tool: "t", Default: parley.ApprovalDenied},
		&parley.TurnCompleted{StopReason: parley.StopDone},
		&parley.Ended{Reason: "deleted"},
	} {
		data, err := parley.EncodeBody(body)
		if err != nil {
			t.Errorf("%T: %v", body, err)
			continue
		}
		back, err := parley.DecodeBody(body.EventType(), data)
		if err != nil {
			t.Errorf("%T: %v", body, err)
			continue
		}
		if diff := cmp.Diff(body, back); diff != "" {
			t.Errorf("a round trip changes %T (-before +after):\n%s", body, diff)
		}
	}
}

func TestDecodeBodyRefuses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		typ  parley.EventType
		data string
		code parley.Code
	}{
		{"nothing", parley.EventStarted, "", invalid},
		{"null", parley.EventStarted, "null", invalid},
		{"no JSON", parley.EventStarted, "{", invalid},
		{"two values", parley.EventResumed, "{}{}", invalid},
		{"broken UTF-8", parley.EventSuspended, "{\"reason\":\"\xff\"}", invalid},
		{"another shape", parley.EventSuspended, `["reason"]`, invalid},
		{"another type", parley.EventSuspended, `{"reason":7}`, invalid},
		{"a number that is no integer", parley.EventRewound, `{"to_seq":1.5}`, invalid},
		{"a negative seq", parley.EventRewound, `{"to_seq":-1}`, invalid},
		{"a NUL that was escaped", parley.EventMessage, `{"id":"m","role":"user","parts":[{"type":"text","text":"a\u0000"}]}`, invalid},
		{"an unknown part", parley.EventMessage, `{"id":"m","role":"user","parts":[{"type":"video"}]}`, invalid},
		{"deep", parley.EventResumed, string(nested(10_000)), invalid},
		{"deep and cut off", parley.EventResumed, strings.Repeat("[", 1<<20), invalid},
		{"deep in a field nobody reads", parley.EventResumed, `{"x":` + string(nested(10_000)) + `}`, invalid},
		{"large", parley.EventResumed, `{"x":"` + strings.Repeat("x", parley.MaxBodyBytes) + `"}`, tooLarge},
		{"a type with a newline", "shop:a\nb", `{}`, invalid},
		{"a long type", parley.EventType("shop:" + strings.Repeat("x", 1<<20)), `{}`, tooLarge},
		{"no type", "", `{}`, invalid},
		{"a program's type without data", "shop:ordered", "", invalid},
		{"a program's type, deep", "shop:ordered", string(nested(parley.MaxDepth + 1)), invalid},
		{"a long type and large data", parley.EventType(strings.Repeat("\x00", 1<<20)), strings.Repeat(" ", 1<<20+1), tooLarge},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			body, err := parley.DecodeBody(test.typ, []byte(test.data))
			wantCode(t, err, test.code)
			if body != nil {
				t.Errorf("got a body as well: %v", body)
			}
		})
	}
}

// TestTooDeepIsNotDecoded holds that hostile data costs no more than a look at its bytes: it is refused as too deep before
// it is decoded. What decodes it finds out that it is cut off, and says that instead.
func TestTooDeepIsNotDecoded(t *testing.T) {
	t.Parallel()
	cutOff := bytes.Repeat([]byte(`{"a":`), 10_000)
	_, encoding := parley.EncodeBody(&parley.Message{ID: "m", Role: parley.MessageAssistant, Parts: []parley.Part{
		{Kind: parley.PartToolCall, Call: &parley.ToolCall{ID: "c", Name: "t", Arguments: cutOff}},
	}})
	_, decoding := parley.DecodeBody(parley.EventMessage, slices.Concat([]byte(`{"id":`), cutOff))
	_, custom := parley.DecodeBody("shop:ordered", cutOff)
	for name, err := range map[string]error{"encoding": encoding, "decoding": decoding, "decoding a program's": custom} {
		wantCode(t, err, invalid)
		if err != nil && !strings.Contains(err.Error(), "nested more than") {
			t.Errorf("%s is not refused for its depth: %v", name, err)
		}
	}
}

// TestWhatIsEncodedCanBeDecoded holds the two ends of the limits together.
func TestWhatIsEncodedCanBeDecoded(t *testing.T) {
	t.Parallel()
	call := func(arguments []byte) parley.EventBody {
		return &parley.Message{ID: "m", Role: parley.MessageAssistant, Parts: []parley.Part{
			{Kind: parley.PartToolCall, Call: &parley.ToolCall{ID: "c", Name: "t", Arguments: arguments}},
		}}
	}
	for _, test := range []struct {
		name string
		body parley.EventBody
		code parley.Code
	}{
		{"as deep as can be", call(nested(parley.MaxDepth)), ""},
		{"deeper", call(nested(parley.MaxDepth + 1)), invalid},
		{"brackets in a string", call([]byte(`"` + strings.Repeat(`[`, 100) + `\"` + strings.Repeat(`{`, 100) + `"`)), ""},
		{"a program's, as deep as can be", &parley.Custom{Type: "a:b", Data: nested(parley.MaxDepth)}, ""},
		{"a program's, deeper", &parley.Custom{Type: "a:b", Data: nested(parley.MaxDepth + 1)}, invalid},
		{"a program's null", &parley.Custom{Type: "a:b", Data: []byte(`null`)}, ""},
		{"a program's number", &parley.Custom{Type: "a:b", Data: []byte(`12345678901234567890123`)}, ""},
		{"a program's, ours by name", &parley.Custom{Type: "session:mine", Data: []byte(`{}`)}, invalid},
		{"a program's, the agent's by name", &parley.Custom{Type: "agent:mine", Data: []byte(`{}`)}, invalid},
		{"a program's, no JSON", &parley.Custom{Type: "a:b", Data: []byte(`{`)}, invalid},
		{"a program's, broken UTF-8", &parley.Custom{Type: "a:b", Data: []byte("\"\xff\"")}, invalid},
		{"a program's, like a tombstone", &parley.Custom{Type: "a:b", Data: []byte(`{ "redacted" : true }`)}, invalid},
		{"a tombstone", &parley.Tombstone{Of: parley.EventMessage}, invalid},
		{"as large as can be", &parley.Custom{Type: "a:b", Data: []byte(`"` + strings.Repeat("x", parley.MaxBodyBytes-2) + `"`)}, ""},
		{"larger", &parley.Custom{Type: "a:b", Data: []byte(`"` + strings.Repeat("x", parley.MaxBodyBytes-1) + `"`)}, tooLarge},
		{"a text as large as can be leaves no room", &parley.Message{ID: "m", Role: parley.MessageUser, Parts: []parley.Part{
			parley.TextPart(strings.Repeat("x", parley.MaxBodyBytes)),
		}}, tooLarge},
		{"a text that grows when it is escaped", &parley.Message{ID: "m", Role: parley.MessageUser, Parts: []parley.Part{
			parley.TextPart(strings.Repeat("\x01", parley.MaxBodyBytes/4)),
		}}, tooLarge},
		{"a deadline nobody can write", &parley.ApprovalRequested{
			Call: "c", Tool: "t", Default: parley.ApprovalDenied, Deadline: time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC),
		}, invalid},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			data, err := parley.EncodeBody(test.body)
			wantCode(t, err, test.code)
			if err != nil {
				return
			}
			back, err := parley.DecodeBody(test.body.EventType(), data)
			if err != nil {
				t.Fatalf("it is encoded, but cannot be decoded: %v", err)
			}
			// Some are large, and cmp is slow at large things that are equal.
			if !reflect.DeepEqual(test.body, back) {
				t.Errorf("a round trip changes it (-before +after):\n%s", cmp.Diff(test.body, back))
			}
		})
	}
}

func TestEncodeBodyKeepsHTML(t *testing.T) {
	t.Parallel()
	data, err := parley.EncodeBody(&parley.Message{ID: "m", Role: parley.MessageUser, Parts: []parley.Part{
		parley.TextPart(`if a < b && b > c {}`),
		{Kind: parley.PartToolCall, Call: &parley.ToolCall{ID: "c", Name: "t", Arguments: []byte(`{"q": "<&>"}`)}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`if a < b && b > c {}`, `{"q":"<&>"}`} {
		if !bytes.Contains(data, []byte(want)) {
			t.Errorf("%s is not in %s", want, data)
		}
	}
	if bytes.HasSuffix(data, []byte("\n")) {
		t.Error("the data ends with a newline")
	}
}

func TestTombstone(t *testing.T) {
	t.Parallel()
	for _, typ := range []parley.EventType{parley.EventMessage, parley.EventInput, "shop:ordered"} {
		e := parley.Event{Type: typ, Data: slices.Clone(parley.TombstoneData)}
		if !e.Redacted() {
			t.Errorf("%s does not count as redacted", typ)
		}
		body, err := e.Decode()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(parley.EventBody(&parley.Tombstone{Of: typ}), body); diff != "" {
			t.Error(diff)
		}
		if body.EventType() != typ {
			t.Errorf("the tombstone of %s says %s", typ, body.EventType())
		}
	}
	if (parley.Event{Type: parley.EventResumed, Data: []byte(`{}`)}).Redacted() {
		t.Error("an empty body counts as redacted")
	}
}

// TestLaterTypes holds that a log stays readable to a version that does not
// know all of its types.
func TestLaterTypes(t *testing.T) {
	t.Parallel()
	for _, typ := range []parley.EventType{"session:invented_later", "agent:invented_later", "shop:ordered"} {
		body, err := parley.DecodeBody(typ, []byte(`{"a":1}`))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(parley.EventBody(&parley.Custom{Type: typ, Data: []byte(`{"a":1}`)}), body); diff != "" {
			t.Error(diff)
		}
	}
	if _, err := parley.DecodeBody(parley.EventSuspended, []byte(`{"reason":"x","invented_later":[1]}`)); err != nil {
		t.Errorf("a field of a later version is refused: %v", err)
	}
}

func TestEventTypeProperties(t *testing.T) {
	t.Parallel()
	activity := []parley.EventType{
		parley.EventStarted, parley.EventInput, parley.EventMessage, parley.EventTurnStarted, parley.EventTurnCompleted,
	}
	redactable := []parley.EventType{parley.EventInput, parley.EventMessage, "shop:ordered"}
	for _, typ := range append(parley.EventTypes(), "shop:ordered") {
		if got, want := typ.Activity(), slices.Contains(activity, typ); got != want {
			t.Errorf("%s: activity is %v", typ, got)
		}
		if got, want := typ.Redactable(), slices.Contains(redactable, typ); got != want {
			t.Errorf("%s: redactable is %v", typ, got)
		}
	}
}

// TestOnlyRedactableBodiesHoldProse holds the rule that makes redaction
// complete: no body but an input's and a message's has a place for content.
func TestOnlyRedactableBodiesHoldProse(t *testing.T) {
	t.Parallel()
	content := reflect.TypeFor[[]parley.Part]()
	for _, c := range bodyCases() {
		typ := reflect.TypeOf(c.valid).Elem()
		for field := range typ.Fields() {
			if field.Type == content && !c.valid.EventType().Redactable() {
				t.Errorf("%s holds content, but cannot be redacted", c.valid.EventType())
			}
		}
	}
}

func TestCustomJSON(t *testing.T) {
	t.Parallel()
	var got struct{ Body parley.Custom }
	if err := json.Unmarshal([]byte(`{"Body": {"a": [1, "<"]}}`), &got); err != nil {
		t.Fatal(err)
	}
	if string(got.Body.Data) != `{"a": [1, "<"]}` {
		t.Errorf("got %s", got.Body.Data)
	}
	if data, err := got.Body.MarshalJSON(); err != nil || string(data) != `{"a": [1, "<"]}` {
		t.Errorf("got %s, %v", data, err)
	}
}

func TestEventJSON(t *testing.T) {
	t.Parallel()
	data, err := json.Marshal(parley.Event{
		Session: "cli:work", Seq: 3, Pos: 99, Type: parley.EventResumed, Turn: "t1", At: at, Identity: "telegram:7", Data: []byte(`{}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"session_id":"cli:work","seq":3,"type":"session:resumed","turn_id":"t1","at":"2026-03-01T12:30:45.123456Z","identity":"telegram:7","data":{}}`
	if string(data) != want {
		t.Errorf("got  %s\nwant %s", data, want)
	}
}
