package openai_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/modelserver"
)

// upToLast gives a body up to the end of its last message. It fails the test if
// the messages are not the first thing in the body.
func upToLast(t testing.TB, body []byte) []byte {
	t.Helper()
	if !bytes.HasPrefix(body, []byte(`{"messages":[`)) {
		t.Fatalf("the messages are not first: %.100s", body)
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	for range 3 { // {, "messages", [
		if _, err := dec.Token(); err != nil {
			t.Fatal(err)
		}
	}
	for dec.More() {
		var m json.RawMessage
		if err := dec.Decode(&m); err != nil {
			t.Fatal(err)
		}
	}
	return body[:dec.InputOffset()]
}

// TestBodiesBeginAlike asks five times, each time with what was said since, and
// with everything else changed. Each body begins with the one before it, up to
// the end of its messages.
func TestBodiesBeginAlike(t *testing.T) {
	t.Parallel()
	s := modelserver.OpenAI(t, always(text))
	m := model(t, s, nil)
	failed := result("call-2", "no <such> file")
	failed.Result.IsError = true
	said := []parley.ModelMessage{
		message(parley.MessageUser, parley.TextPart("What is in <it>? \u2028 & \"so\" on")),
		message(parley.MessageAssistant, parley.Part{Kind: parley.PartReasoning, Text: "hm"}, parley.TextPart("I look."), call("call-1", "look", `{"b":1,"a":[1.50, 1e3]}`), call("call-2", "read", `"{broken"`)),
		{Role: parley.MessageTool, Parts: []parley.ModelPart{shown("call-1", "a picture", "image/png", "pixels")}},
		message(parley.MessageTool, failed),
		message(parley.MessageAssistant, parley.TextPart("A cat.")),
		message(parley.MessageUser, parley.TextPart("And this?")),
		{Role: parley.MessageUser, Parts: []parley.ModelPart{media("image/jpeg", "x.jpg", "more pixels"), media("text/csv", "t.csv", "1,2")}},
		message(parley.MessageSystem, parley.TextPart("It is Tuesday.")),
		message(parley.MessageAssistant, call("call-1", "look", ``)),
		message(parley.MessageTool, result("call-1", "")),
		message(parley.MessageAssistant, parley.TextPart("A dog.")),
		message(parley.MessageUser, parley.TextPart("Thanks.")),
	}
	for i, n := range []int{1, 5, 7, 10, 12} {
		req := parley.ModelRequest{System: "Be kind.", Messages: said[:n], MaxTokens: 100 + i, CacheKey: fmt.Sprint("key", i)}
		for j := range i {
			req.Tools = append(req.Tools, parley.ToolSpec{Name: fmt.Sprint("tool", j), Schema: json.RawMessage(`{"type":"object","properties":{}}`)})
		}
		if _, err := collect(t, m.Stream(t.Context(), req)); err != nil {
			t.Fatal(err)
		}
	}
	requests := s.Requests()
	if len(requests) != 5 {
		t.Fatalf("%d requests", len(requests))
	}
	for i := 1; i < len(requests); i++ {
		before := upToLast(t, requests[i-1].Body)
		if !bytes.HasPrefix(requests[i].Body, before) {
			t.Errorf("request %d does not begin with what request %d said:\n%s\n%s", i+1, i, before, requests[i].Body)
		}
		if len(upToLast(t, requests[i].Body)) <= len(before) {
			t.Errorf("request %d says nothing more", i+1)
		}
	}
}
