package httpapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/engine"
)

// The parts of an OpenAPI 3.1 document that are used here.
type (
	document struct {
		OpenAPI    string                           `json:"openapi"`
		Info       map[string]string                `json:"info"`
		Servers    []map[string]string              `json:"servers,omitempty"`
		Security   []map[string][]string            `json:"security"`
		Paths      map[string]map[string]*operation `json:"paths"`
		Components components                       `json:"components"`
	}
	components struct {
		Schemas         map[string]*jsonschema.Schema `json:"schemas"`
		SecuritySchemes map[string]map[string]string  `json:"securitySchemes"`
	}
	operation struct {
		ID          string               `json:"operationId"`
		Summary     string               `json:"summary"`
		Description string               `json:"description"`
		Security    *[]map[string]string `json:"security,omitempty"`
		Parameters  []parameter          `json:"parameters,omitempty"`
		Body        *body                `json:"requestBody,omitempty"`
		Responses   map[string]response  `json:"responses"`
	}
	parameter struct {
		Name        string             `json:"name"`
		In          string             `json:"in"`
		Description string             `json:"description,omitempty"`
		Required    bool               `json:"required,omitempty"`
		Schema      *jsonschema.Schema `json:"schema"`
	}
	body struct {
		Content map[string]content `json:"content"`
	}
	response struct {
		Description string             `json:"description"`
		Content     map[string]content `json:"content,omitempty"`
	}
	content struct {
		Schema *jsonschema.Schema `json:"schema"`
	}
)

// openAPI makes the document of all routes.
func (s *Server) openAPI() ([]byte, error) {
	version := s.cfg.Version
	if version == "" {
		version = "0"
	}
	d := document{
		OpenAPI: "3.1.0",
		Info: map[string]string{
			"title": "Parley", "version": version,
			"description": "Conversations with agents that last. Errors are {\"error\":{\"code\",\"message\",\"details\"?}}; unknown fields and parameters are refused by name; lists go on with an opaque cursor.",
		},
		Security: []map[string][]string{{"bearer": {}}, {"cookie": {}}},
		Paths:    map[string]map[string]*operation{},
		Components: components{
			Schemas: map[string]*jsonschema.Schema{},
			SecuritySchemes: map[string]map[string]string{
				"bearer": {"type": "http", "scheme": "bearer"},
				"cookie": {"type": "apiKey", "in": "cookie", "name": cookieName},
			},
		},
	}
	if s.cfg.Prefix != "" {
		d.Servers = []map[string]string{{"url": s.cfg.Prefix}}
	}
	m := schemaMaker{schemas: d.Components.Schemas}
	for _, t := range []reflect.Type{reflect.TypeFor[errorBody](), reflect.TypeFor[eventView](), reflect.TypeFor[parley.Receipt](), reflect.TypeFor[finishedOut]()} {
		m.ref(t)
	}
	for _, e := range s.entries {
		if d.Paths[e.path] == nil {
			d.Paths[e.path] = map[string]*operation{}
		}
		d.Paths[e.path][strings.ToLower(e.method)] = m.operation(e)
	}
	if m.err != nil {
		return nil, m.err
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(d); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// schemaMaker makes schemas of types, and keeps the first error.
type schemaMaker struct {
	schemas map[string]*jsonschema.Schema
	err     error
}

func (m *schemaMaker) operation(e *entry) *operation {
	op := &operation{ID: e.name, Summary: firstSentence(e.summary), Description: e.summary + "\n\nAccess: " + e.gate.String() + ".", Responses: map[string]response{}}
	if e.gate.kind == kindPublic {
		op.Security = &[]map[string]string{}
	}
	for _, f := range e.fields.path {
		op.Parameters = append(op.Parameters, parameter{Name: f.name, In: "path", Description: f.doc, Required: true, Schema: m.scalar(f.typ)})
	}
	for _, f := range e.fields.query {
		op.Parameters = append(op.Parameters, parameter{Name: f.name, In: "query", Description: f.doc, Schema: m.scalar(f.typ)})
	}
	switch {
	case e.takes != "":
		op.Body = &body{Content: map[string]content{e.takes: {Schema: &jsonschema.Schema{}}}}
	case e.fields.body:
		op.Body = &body{Content: map[string]content{"application/json": {Schema: m.ref(e.in)}}}
	}
	m.responses(e, op)
	return op
}

func (m *schemaMaker) responses(e *entry, op *operation) {
	answer := map[string]content{}
	switch {
	case e.gives != "":
		answer[e.gives] = content{Schema: &jsonschema.Schema{}}
	case e.out == rawType:
		answer["application/json"] = content{Schema: &jsonschema.Schema{}}
	case e.name == "postMessage":
		answer["application/json"] = content{Schema: m.ref(reflect.TypeFor[parley.Receipt]())}
	case e.out != reflect.TypeFor[none]():
		answer["application/json"] = content{Schema: m.ref(e.out)}
	}
	if e.stream {
		answer["text/event-stream"] = content{Schema: m.ref(reflect.TypeFor[eventView]())}
	}
	op.Responses[strconv.Itoa(e.status)] = response{Description: http.StatusText(e.status), Content: answer}
	for status, means := range e.also {
		also := response{Description: means, Content: answer}
		switch {
		case status == http.StatusNotModified:
			also.Content = nil
		case e.name == "postMessage":
			also.Content = map[string]content{
				"application/json":  {Schema: m.ref(reflect.TypeFor[finishedOut]())},
				"text/event-stream": {Schema: m.ref(reflect.TypeFor[eventView]())},
			}
		}
		op.Responses[strconv.Itoa(status)] = also
	}
	op.Responses["default"] = response{Description: "An error", Content: map[string]content{"application/json": {Schema: m.ref(reflect.TypeFor[errorBody]())}}}
}

var schemaName = regexp.MustCompile(`(In|Out|View)$`)

// ref names the schema of a struct, which is made the first time.
func (m *schemaMaker) ref(t reflect.Type) *jsonschema.Schema {
	name := t.Name()
	if suffix := schemaName.FindString(name); suffix != "" {
		name = strings.TrimSuffix(name, suffix) + map[string]string{"In": "Request", "Out": "Response", "View": ""}[suffix]
	}
	name = strings.ToUpper(name[:1]) + name[1:]
	if m.schemas[name] == nil {
		schema, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: knownSchemas()})
		if err != nil && m.err == nil {
			m.err = err
		}
		if schema != nil {
			tidySchema(schema)
			for _, f := range fieldsOfStruct(t) {
				delete(schema.Properties, f)
			}
		}
		m.schemas[name] = schema
	}
	return &jsonschema.Schema{Ref: "#/components/schemas/" + name}
}

// scalar is the schema of a parameter.
func (m *schemaMaker) scalar(t reflect.Type) *jsonschema.Schema {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == durationType {
		return &jsonschema.Schema{Type: "string"}
	}
	if t.Kind() == reflect.Map {
		t = t.Elem()
	}
	schema, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: knownSchemas()})
	if err != nil && m.err == nil {
		m.err = err
	}
	return schema
}

func fieldsOfStruct(t reflect.Type) []string {
	var names []string
	for sf := range t.Fields() {
		if sf.Tag.Get("path") != "" || sf.Tag.Get("query") != "" {
			names = append(names, sf.Name)
		}
	}
	return names
}

// tidySchema takes out what only this module's types know: a pointer is a field that
// may be left out, not one that may be null.
func tidySchema(s *jsonschema.Schema) {
	if len(s.Types) == 2 && s.Types[0] == "null" {
		s.Type, s.Types = s.Types[1], nil
	}
	for _, p := range s.Properties {
		tidySchema(p)
	}
	for _, next := range append(s.AnyOf, s.Items, s.AdditionalProperties) {
		if next != nil {
			tidySchema(next)
		}
	}
}

// knownSchemas are those of types that say less than they allow.
func knownSchemas() map[reflect.Type]*jsonschema.Schema {
	enum := func(values ...any) *jsonschema.Schema { return &jsonschema.Schema{Type: "string", Enum: values} }
	return map[reflect.Type]*jsonschema.Schema{
		rawType:                               {},
		timeType:                              {Type: "string", Format: "date-time"},
		reflect.TypeFor[time.Duration]():      {Type: "string"},
		reflect.TypeFor[sourceView]():         sourceSchema(),
		reflect.TypeFor[map[string]any]():     {Type: "object"},
		reflect.TypeFor[parley.Status]():      enum(parley.StatusIdle, parley.StatusRunning, parley.StatusAwaitingApproval, parley.StatusInactive),
		reflect.TypeFor[parley.SessionType](): enum(parley.SessionDirect, parley.SessionGroup),
		reflect.TypeFor[parley.Role]():        enum(parley.RoleOwner, parley.RoleUser, parley.RoleGuest),
		reflect.TypeFor[parley.BusyMode](): enum(parley.BusyQueue, parley.BusyCollect, parley.BusySteer, parley.BusyInterrupt,
			parley.BusyReject, ""),
		reflect.TypeFor[parley.InputState](): enum(parley.InputQueued, parley.InputRunning, parley.InputSteered, parley.InputLogged,
			parley.InputCarriedOut, parley.InputDone, parley.InputDropped),
		reflect.TypeFor[parley.StopReason]():  enum(parley.StopDone, parley.StopLength, parley.StopContentFilter, parley.StopAborted, parley.StopError),
		reflect.TypeFor[parley.TokenKind]():   enum(parley.TokenOwner, parley.TokenUser, parley.TokenDevice, parley.TokenChannel, parley.TokenJoin),
		reflect.TypeFor[parley.MessageRole](): enum(parley.MessageUser, parley.MessageAssistant, parley.MessageTool, parley.MessageSystem),
		reflect.TypeFor[parley.PartKind]():    enum(parley.PartText, parley.PartReasoning, parley.PartMedia, parley.PartToolCall, parley.PartToolResult),
		reflect.TypeFor[parley.ApprovalState](): enum(parley.ApprovalPending, parley.ApprovalApproved, parley.ApprovalDenied,
			parley.ApprovalExpired, parley.ApprovalCanceled),
		reflect.TypeFor[parley.TurnState](): enum(parley.TurnRunning, parley.TurnAwaitingApproval, parley.TurnParked, parley.TurnDone),
		reflect.TypeFor[engine.Remember]():  enum(engine.RememberOnce, engine.RememberSession),
		reflect.TypeFor[parley.Code]():      enum(codes()...),
	}
}

func codes() []any {
	var all []any
	for _, code := range parley.Codes() {
		all = append(all, code)
	}
	return all
}

// sourceSchema is an object, or its kind alone.
func sourceSchema() *jsonschema.Schema {
	type plain sourceView
	object, err := jsonschema.For[plain](nil)
	if err != nil {
		object = &jsonschema.Schema{Type: "object"}
	}
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{object, {Type: "string"}}}
}

func firstSentence(text string) string {
	first, _, _ := strings.Cut(text, ". ")
	first, _, _ = strings.Cut(first, ": ")
	return strings.TrimSuffix(first, ".")
}
