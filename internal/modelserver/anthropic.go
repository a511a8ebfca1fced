package modelserver

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// AnthropicFaultError is a fault of the servers of [Anthropic]: half of the
// answer, then an error event with the reply's Body as its data; empty: an
// overload.
const AnthropicFaultError Fault = "anthropic-error"

// AnthropicRedacted begins a piece of [Reply.Reasoning] that is sent as a
// redacted block of its own.
const AnthropicRedacted = "redacted:"

// Anthropic starts a server that speaks Anthropic's Messages API, streaming
// only. What the real one refuses never gets to answer: keys that are missing,
// requests that are not well-formed, and thinking that this server did not sign.
func Anthropic(t testing.TB, answer func(Request) Reply) *Server {
	return start(t, false, anthropicHandler(answer))
}

// AnthropicTLS is [Anthropic] over TLS, with HTTP/2.
func AnthropicTLS(t testing.TB, answer func(Request) Reply) *Server {
	return start(t, true, anthropicHandler(answer))
}

func anthropicHandler(answer func(Request) Reply) func(http.ResponseWriter, *http.Request, Request) {
	return func(w http.ResponseWriter, r *http.Request, req Request) {
		if r.URL.Path != "/v1/messages" || r.Method != http.MethodPost {
			anthropicError(w, http.StatusNotFound, "Not Found")
			return
		}
		parsed, refusal := anthropicParse(req)
		if refusal != nil {
			anthropicError(w, refusal.status, refusal.message)
			return
		}
		reply := answer(req)
		maps.Copy(w.Header(), reply.Header)
		switch {
		case reply.Status != 0 && reply.Body != "":
			w.WriteHeader(reply.Status)
			_, _ = w.Write([]byte(reply.Body)) // who is gone needs no answer
		case reply.Status != 0:
			anthropicError(w, reply.Status, http.StatusText(reply.Status))
		case reply.Fault == FaultHang:
			<-r.Context().Done()
		default:
			s := anthropicStream{w: w, r: r, wait: reply.Wait}
			s.send(parsed, reply)
		}
	}
}

// anthropicError sends an error in the form that fits the status.
func anthropicError(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Request-Id", "req_test")
	w.WriteHeader(status)
	_, _ = w.Write(anthropicErrorBody(anthropicErrorTypes[status], message)) // who is gone needs no answer
}

func anthropicErrorBody(kind, message string) []byte {
	if kind == "" {
		kind = "api_error"
	}
	return anthropicJSON(map[string]any{
		"type":       "error",
		"error":      map[string]any{"type": kind, "message": message},
		"request_id": "req_test",
	})
}

var anthropicErrorTypes = map[int]string{
	http.StatusBadRequest:            "invalid_request_error",
	http.StatusUnauthorized:          "authentication_error",
	http.StatusPaymentRequired:       "billing_error",
	http.StatusForbidden:             "permission_error",
	http.StatusNotFound:              "not_found_error",
	http.StatusRequestEntityTooLarge: "request_too_large",
	http.StatusTooManyRequests:       "rate_limit_error",
	http.StatusInternalServerError:   "api_error",
	http.StatusGatewayTimeout:        "timeout_error",
	529:                              "overloaded_error",
}

// anthropicStream writes one answer.
type anthropicStream struct {
	w    http.ResponseWriter
	r    *http.Request
	wait time.Duration
	gone bool
}

func (s *anthropicStream) send(req *anthropicRequest, reply Reply) {
	s.w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	s.w.Header().Set("Request-Id", "req_test")
	s.w.WriteHeader(http.StatusOK)
	events := anthropicEvents(req, reply)
	half := events[:len(events)/2]
	switch reply.Fault {
	case FaultStall:
		s.write(events[:min(4, len(events))]) // as far as the first piece
		<-s.r.Context().Done()
	case FaultHalf:
		s.write(half)
	case FaultCut:
		s.write(half)
		panic(http.ErrAbortHandler)
	case FaultGarbage:
		s.raw("\x1f\x8b\x00<html>no events here</html>\ndata\n\xff\xfe: ]\n\n")
	case FaultBadJSON:
		s.write(half)
		s.raw("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\n\n")
	case FaultEndless:
		s.write(events[:1])
		s.write([]anthropicEvent{anthropicBlockStart(0, map[string]any{"type": "text", "text": ""})})
		for !s.gone && s.r.Context().Err() == nil {
			s.write([]anthropicEvent{anthropicDelta(0, "text_delta", "text", "and so on ")})
		}
	case AnthropicFaultError:
		s.write(half)
		body := reply.Body
		if body == "" {
			body = string(anthropicErrorBody("overloaded_error", "Overloaded"))
		}
		s.raw("event: error\ndata: " + body + "\n\n")
	default:
		s.write(events)
	}
}

func (s *anthropicStream) write(events []anthropicEvent) {
	for _, e := range events {
		if s.wait > 0 {
			select {
			case <-time.After(s.wait):
			case <-s.r.Context().Done():
				return
			}
		}
		s.raw("event: " + e.name + "\ndata: " + string(e.data) + "\n\n")
	}
}

func (s *anthropicStream) raw(text string) {
	if _, err := s.w.Write([]byte(text)); err != nil {
		s.gone = true
		return
	}
	if err := http.NewResponseController(s.w).Flush(); err != nil {
		s.gone = true
	}
}

type anthropicEvent struct {
	name string
	data []byte
}

func anthropicMake(name string, fields map[string]any) anthropicEvent {
	fields["type"] = name
	return anthropicEvent{name, anthropicJSON(fields)}
}

func anthropicBlockStart(index int, block map[string]any) anthropicEvent {
	return anthropicMake("content_block_start", map[string]any{"index": index, "content_block": block})
}

func anthropicDelta(index int, kind, field, text string) anthropicEvent {
	return anthropicMake("content_block_delta", map[string]any{"index": index, "delta": map[string]any{"type": kind, field: text}})
}

// anthropicEvents gives the events of a whole answer.
func anthropicEvents(req *anthropicRequest, reply Reply) []anthropicEvent {
	events := []anthropicEvent{anthropicMake("message_start", map[string]any{"message": map[string]any{
		"id": "msg_test", "type": "message", "role": "assistant", "model": req.model, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil,
		"usage": map[string]any{
			"input_tokens": reply.Usage.Input, "output_tokens": 1,
			"cache_creation_input_tokens": reply.Usage.CacheWrite, "cache_read_input_tokens": reply.Usage.CacheRead,
		},
	}})}
	index := 0
	block := func(start map[string]any, deltas ...anthropicEvent) {
		events = append(events, anthropicBlockStart(index, start))
		if index == 0 {
			events = append(events, anthropicMake("ping", map[string]any{}))
		}
		events = append(events, deltas...)
		events = append(events, anthropicMake("content_block_stop", map[string]any{"index": index}))
		index++
	}
	var thought []string
	think := func() {
		if len(thought) == 0 {
			return
		}
		var deltas []anthropicEvent
		for _, piece := range thought {
			if piece != "" {
				deltas = append(deltas, anthropicDelta(index, "thinking_delta", "thinking", piece))
			}
		}
		signature := req.sign(strings.Join(thought, ""), len(req.messages))
		deltas = append(deltas, anthropicDelta(index, "signature_delta", "signature", signature))
		block(map[string]any{"type": "thinking", "thinking": "", "signature": ""}, deltas...)
		thought = nil
	}
	for _, piece := range reply.Reasoning {
		if data, redacted := strings.CutPrefix(piece, AnthropicRedacted); redacted {
			think()
			block(map[string]any{"type": "redacted_thinking", "data": anthropicSealed(data)})
			continue
		}
		thought = append(thought, piece)
	}
	think()
	if len(reply.Text) > 0 {
		var deltas []anthropicEvent
		for _, piece := range reply.Text {
			deltas = append(deltas, anthropicDelta(index, "text_delta", "text", piece))
		}
		block(map[string]any{"type": "text", "text": ""}, deltas...)
	}
	for _, call := range reply.Calls {
		deltas := []anthropicEvent{anthropicDelta(index, "input_json_delta", "partial_json", "")}
		for _, piece := range anthropicPieces(call.Arguments) {
			deltas = append(deltas, anthropicDelta(index, "input_json_delta", "partial_json", piece))
		}
		block(map[string]any{"type": "tool_use", "id": call.ID, "name": call.Name, "input": map[string]any{}}, deltas...)
	}
	stop := reply.Stop
	switch {
	case stop != "":
	case len(reply.Calls) > 0:
		stop = "tool_use"
	default:
		stop = "end_turn"
	}
	return append(events,
		anthropicMake("message_delta", map[string]any{
			"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil},
			"usage": map[string]any{"output_tokens": reply.Usage.Output},
		}),
		anthropicMake("message_stop", map[string]any{}))
}

// anthropicPieces cuts text in about three, between characters.
func anthropicPieces(text string) []string {
	var pieces []string
	for size := max(len(text)/3, 1); text != ""; {
		n := min(size, len(text))
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n++
		}
		pieces, text = append(pieces, text[:n]), text[n:]
	}
	return pieces
}

// anthropicSealed gives the data of a redacted block.
func anthropicSealed(data string) string { return data + "." + anthropicHash("sealed", data) }

func anthropicHash(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		_, _ = fmt.Fprintf(h, "%d:%s", len(p), p) // a hash takes everything
	}
	return hex.EncodeToString(h.Sum(nil))[:32]
}

// anthropicJSON encodes what is known to be encodable.
func anthropicJSON(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}
