package modelserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// OpenAIStyle says in what a server that speaks the Chat Completions API differs
// from OpenAI's own. The zero value is theirs, with reasoning.
type OpenAIStyle struct {
	Reasoning  string // the field of a delta that reasoning is in; empty: reasoning_content
	NoKey      bool   // requests need no key
	NoUsage    bool   // usage is not sent, even if it is asked for
	NoDone     bool   // the stream ends without [DONE]
	WholeCalls bool   // a call is sent in one piece, without an index
	TLS        bool   // HTTP/2 over TLS
}

// OpenAI starts a server that answers POST …/chat/completions as OpenAI does.
// What the real one refuses is refused before answer is asked.
func OpenAI(t testing.TB, answer func(Request) Reply) *Server {
	return OpenAILike(t, OpenAIStyle{}, answer)
}

// OpenAITLS is [OpenAI] over HTTP/2, where [FaultCut] is a reset of the stream.
func OpenAITLS(t testing.TB, answer func(Request) Reply) *Server {
	return OpenAILike(t, OpenAIStyle{TLS: true}, answer)
}

// OpenAILike is [OpenAI] with another style.
func OpenAILike(t testing.TB, style OpenAIStyle, answer func(Request) Reply) *Server {
	if style.Reasoning == "" {
		style.Reasoning = "reasoning_content"
	}
	return start(t, style.TLS, func(w http.ResponseWriter, r *http.Request, req Request) {
		q, refusal := openaiCheck(r, req, style)
		if refusal != nil {
			refusal.write(w)
			return
		}
		reply := answer(req)
		for name, values := range reply.Header {
			w.Header()[http.CanonicalHeaderKey(name)] = values
		}
		if reply.Status != 0 {
			openaiFail(w, reply)
			return
		}
		openaiSend(w, r, style, reply, q)
	})
}

// OpenAIError gives the body of an error in OpenAI's form.
func OpenAIError(message, kind, code string) string {
	body := map[string]any{"message": message, "type": kind, "param": nil, "code": nil}
	if code != "" {
		body["code"] = code
	}
	text, err := json.Marshal(map[string]any{"error": body})
	if err != nil {
		panic(err) // strings are always JSON
	}
	return string(text)
}

// openaiError is a request that OpenAI does not take.
type openaiError struct {
	status                     int
	message, kind, param, code string
}

func (e *openaiError) Error() string { return e.message }

func (e *openaiError) write(w http.ResponseWriter) {
	body := map[string]any{"message": e.message, "type": e.kind, "param": nil, "code": nil}
	if e.param != "" {
		body["param"] = e.param
	}
	if e.code != "" {
		body["code"] = e.code
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(e.status)
	if err := json.NewEncoder(w).Encode(map[string]any{"error": body}); err != nil {
		return // the client is gone
	}
}

// openaiBad is a request with a wrong parameter.
func openaiBad(param, code, format string, args ...any) *openaiError {
	return &openaiError{
		status: http.StatusBadRequest, kind: "invalid_request_error",
		param: param, code: code, message: fmt.Sprintf(format, args...),
	}
}

// openaiFail answers with the error that reply asks for.
func openaiFail(w http.ResponseWriter, reply Reply) {
	body := reply.Body
	if body == "" {
		known := map[int][3]string{
			http.StatusBadRequest:            {"The request is not valid.", "invalid_request_error", ""},
			http.StatusUnauthorized:          {"Incorrect API key provided.", "invalid_request_error", "invalid_api_key"},
			http.StatusForbidden:             {"Country, region, or territory not supported", "request_forbidden", "unsupported_country_region_territory"},
			http.StatusNotFound:              {"The model does not exist or you do not have access to it.", "invalid_request_error", "model_not_found"},
			http.StatusRequestEntityTooLarge: {"The request is too large.", "invalid_request_error", "request_too_large"},
			http.StatusTooManyRequests:       {"Rate limit reached for requests.", "requests", "rate_limit_exceeded"},
			http.StatusInternalServerError:   {"The server had an error while processing your request. Sorry about that!", "server_error", ""},
			http.StatusServiceUnavailable:    {"The engine is currently overloaded, please try again later", "server_error", ""},
		}
		e, ok := known[reply.Status]
		if !ok {
			e = [3]string{http.StatusText(reply.Status), "server_error", ""}
		}
		body = OpenAIError(e[0], e[1], e[2])
	}
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(reply.Status)
	if _, err := strings.NewReader(body).WriteTo(w); err != nil {
		return // the client is gone
	}
}
