package telegramserver

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// apiError is a refusal in the words of the Bot API.
type apiError struct {
	code       int
	text       string
	retryAfter int
	migrateTo  int64
}

func badRequest(text string) *apiError {
	return &apiError{code: http.StatusBadRequest, text: "Bad Request: " + text}
}

// strict is a refusal of what the real one would repair without a word.
func strict(text string) *apiError { return badRequest("strict: " + text) }

func forbidden(text string) *apiError {
	return &apiError{code: http.StatusForbidden, text: "Forbidden: " + text}
}

var (
	errUnauthorized = &apiError{code: http.StatusUnauthorized, text: "Unauthorized"}
	errNotFound     = &apiError{code: http.StatusNotFound, text: "Not Found"}
	errMethod       = &apiError{code: http.StatusMethodNotAllowed, text: "Method Not Allowed"}
)

// call is one request to a method.
type call struct {
	params
	method string // as the API spells it
	http   *http.Request
	chat   int64 // the chat it is about, 0 if none
}

// Call is a request that the server had.
type Call struct {
	Method string
	Chat   int64
	At     time.Time // when it was done with
	Params map[string]string
	Status int    // of the answer; 0: none, as a fault came first
	Error  string // the answer's description, if it refused
}

type handler func(*Server, *call) (any, *apiError)

// methods gives the methods by their names in lower case, as the real one takes
// them in any case.
func methods() map[string]struct {
	name string
	do   handler
} {
	table := make(map[string]struct {
		name string
		do   handler
	})
	for name, do := range map[string]handler{
		"getMe": (*Server).getMe, "getUpdates": (*Server).getUpdates,
		"setWebhook": (*Server).setWebhook, "deleteWebhook": (*Server).deleteWebhook, "getWebhookInfo": (*Server).getWebhookInfo,
		"sendMessage": (*Server).sendMessage, "sendPhoto": (*Server).sendPhoto, "sendDocument": (*Server).sendDocument,
		"sendVoice": (*Server).sendVoice, "sendMediaGroup": (*Server).sendMediaGroup, "sendChatAction": (*Server).sendChatAction,
		"editMessageText": (*Server).editMessageText, "editMessageCaption": (*Server).editMessageCaption,
		"editMessageReplyMarkup": (*Server).editMessageReplyMarkup, "deleteMessage": (*Server).deleteMessage,
		"answerCallbackQuery": (*Server).answerCallbackQuery, "getFile": (*Server).getFile,
		"setMyCommands": (*Server).setMyCommands, "getMyCommands": (*Server).getMyCommands, "deleteMyCommands": (*Server).deleteMyCommands,
		"getChat": (*Server).getChat, "getChatMember": (*Server).getChatMember,
	} {
		table[strings.ToLower(name)] = struct {
			name string
			do   handler
		}{name, do}
	}
	return table
}

var methodTable = methods()

// ServeHTTP answers /bot<token>/<method> and /file/bot<token>/<path>.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if rest, ok := strings.CutPrefix(r.URL.Path, "/file/bot"); ok {
		s.serveFile(w, r, rest)
		return
	}
	rest, ok := strings.CutPrefix(r.URL.Path, "/bot")
	token, name, found := strings.Cut(rest, "/")
	if !ok || !found {
		write(w, nil, errNotFound)
		return
	}
	p, failure := readParams(r, s.cfg.MaxUpload)
	method, known := methodTable[strings.ToLower(name)]
	switch {
	case token != s.cfg.Token:
		failure = errUnauthorized
	case r.Method != http.MethodGet && r.Method != http.MethodPost:
		failure = errMethod
	case !known:
		failure = errNotFound
	}
	c := &call{params: p, method: method.name, http: r}
	if failure != nil {
		s.log(c, failure)
		write(w, nil, failure)
		return
	}
	c.chat = chatOf(&c.params)
	s.answer(w, c, method.do)
}

// answer does the call, or what a fault makes of it.
func (s *Server) answer(w http.ResponseWriter, c *call, do handler) {
	fault := s.takeFault(c)
	if fault != nil && !fault.taken() {
		s.breakBefore(w, c, fault)
		return
	}
	result, failure := do(s, c)
	s.log(c, failure)
	if fault != nil {
		s.breakAfter(w, c, fault, result, failure)
		return
	}
	write(w, result, failure)
}

// write sends an answer.
func write(w http.ResponseWriter, result any, failure *apiError) {
	status, body := encode(result, failure)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) //nolint:gosec // JSON for a bot; that it may be gone does not matter
}

// encode gives an answer's status and body.
func encode(result any, failure *apiError) (int, []byte) {
	status, out := http.StatusOK, answer{OK: failure == nil}
	if failure != nil {
		status, out.ErrorCode, out.Description = failure.code, failure.code, failure.text
		if failure.retryAfter != 0 || failure.migrateTo != 0 {
			out.Parameters = &parameters{RetryAfter: failure.retryAfter, MigrateTo: failure.migrateTo}
		}
	} else {
		raw, err := json.Marshal(result)
		if err != nil {
			panic("telegramserver: a result that is no JSON: " + err.Error())
		}
		out.Result = raw
	}
	body, err := json.Marshal(out)
	if err != nil {
		panic("telegramserver: an answer that is no JSON: " + err.Error())
	}
	return status, body
}

// log keeps a call and how it ended.
func (s *Server) log(c *call, failure *apiError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	done := Call{Method: c.method, Chat: c.chat, At: s.clock.Now(), Params: c.values, Status: http.StatusOK}
	if failure != nil {
		done.Status, done.Error = failure.code, failure.text
	}
	s.calls = append(s.calls, done)
	s.notify()
}

// getMe gives the bot.
func (s *Server) getMe(*call) (any, *apiError) {
	return me{User: s.bot, CanJoinGroups: true, CanReadAllGroupMessages: !s.cfg.Privacy}, nil
}
