package modelserver

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// openaiAnswer makes the events of an answer.
type openaiAnswer struct {
	style OpenAIStyle
	model string
	usage bool // was asked for
}

// chunk gives a chat.completion.chunk with one choice.
func (a openaiAnswer) chunk(delta map[string]any, finish any) string {
	return a.event([]any{map[string]any{"index": 0, "delta": delta, "logprobs": nil, "finish_reason": finish}}, nil)
}

func (a openaiAnswer) event(choices []any, usage any) string {
	body := map[string]any{
		"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_700_000_000, "model": a.model,
		"service_tier": "default", "system_fingerprint": "fp_1", "choices": choices, "obfuscation": "x1",
	}
	if a.usage {
		body["usage"] = usage
	}
	data, err := json.Marshal(body)
	if err != nil {
		panic(err) // maps of plain values are always JSON
	}
	return "data: " + string(data) + "\n\n"
}

// events gives the whole answer, event by event.
func (a openaiAnswer) events(reply Reply) []string {
	out := []string{a.chunk(map[string]any{"role": "assistant", "content": "", "refusal": nil}, nil)}
	for _, text := range reply.Reasoning {
		out = append(out, a.chunk(map[string]any{a.style.Reasoning: text}, nil))
	}
	for _, text := range reply.Text {
		out = append(out, a.chunk(map[string]any{"content": text}, nil))
	}
	for i, call := range reply.Calls {
		out = append(out, a.call(i, call)...)
	}
	stop := reply.Stop
	switch {
	case stop != "":
	case len(reply.Calls) > 0:
		stop = "tool_calls"
	default:
		stop = "stop"
	}
	out = append(out, a.chunk(map[string]any{}, stop))
	if a.usage {
		u := reply.Usage
		out = append(out, a.event([]any{}, map[string]any{
			"prompt_tokens": u.Input, "completion_tokens": u.Output, "total_tokens": u.Input + u.Output,
			"prompt_tokens_details":     map[string]any{"cached_tokens": u.CacheRead, "cache_write_tokens": u.CacheWrite, "audio_tokens": 0},
			"completion_tokens_details": map[string]any{"reasoning_tokens": 0, "audio_tokens": 0},
		}))
	}
	if !a.style.NoDone {
		out = append(out, "data: [DONE]\n\n")
	}
	return out
}

// call gives the events of a call: its name first, then the arguments, a few
// bytes at a time.
func (a openaiAnswer) call(index int, call Call) []string {
	head := map[string]any{"id": call.ID, "type": "function", "function": map[string]any{"name": call.Name, "arguments": ""}}
	if call.ID == "" {
		delete(head, "id")
	}
	if a.style.WholeCalls {
		head["function"] = map[string]any{"name": call.Name, "arguments": call.Arguments}
		return []string{a.chunk(map[string]any{"tool_calls": []any{head}}, nil)}
	}
	head["index"] = index
	out := []string{a.chunk(map[string]any{"tool_calls": []any{head}}, nil)}
	runes := []rune(call.Arguments)
	for len(runes) > 0 {
		n := min(len(runes), max(5, len(runes)/8))
		out = append(out, a.chunk(map[string]any{"tool_calls": []any{map[string]any{
			"index": index, "function": map[string]any{"arguments": string(runes[:n])},
		}}}, nil))
		runes = runes[n:]
	}
	return out
}

// openaiSend streams the answer, or breaks in the way that reply asks for.
func openaiSend(w http.ResponseWriter, r *http.Request, style OpenAIStyle, reply Reply, q openaiRequest) {
	gone := r.Context().Done()
	if reply.Fault == FaultHang {
		<-gone
		return
	}
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("X-Request-Id", "req_1")
	w.WriteHeader(http.StatusOK)

	flush := http.NewResponseController(w)
	first := true
	send := func(event string) bool {
		if !first && reply.Wait > 0 {
			timer := time.NewTimer(reply.Wait)
			defer timer.Stop()
			select {
			case <-timer.C:
			case <-gone:
				return false
			}
		}
		first = false
		if _, err := io.WriteString(w, event); err != nil {
			return false
		}
		return flush.Flush() == nil && r.Context().Err() == nil
	}

	a := openaiAnswer{style: style, model: q.Model, usage: q.StreamOptions.IncludeUsage && !style.NoUsage}
	events := a.events(reply)
	switch reply.Fault {
	case FaultStall:
		if send(events[0]) {
			<-gone
		}
		return
	case FaultHalf, FaultCut:
		events = events[:len(events)/2]
	case FaultGarbage:
		send("\x00\xff\xfe<html><body>502 Bad Gateway</body></html>\r\n\x01\x02 no events here\n")
		return
	case FaultBadJSON:
		events[1] = "data: {\"id\":\"chatcmpl-1\",\"choices\":[{\"delta\":\n\n"
	case FaultEndless:
		for i := 0; send(a.chunk(map[string]any{"content": fmt.Sprintf("more %d ", i)}, nil)); i++ {
		}
		return
	}
	for _, event := range events {
		if !send(event) {
			return
		}
	}
	if reply.Fault == FaultCut {
		panic(http.ErrAbortHandler)
	}
}
