package telegramserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"
)

// upload is a file in a request.
type upload struct {
	name, mime string
	data       []byte
}

// params are the parameters of a request, whichever form they came in: values that
// are no text are JSON.
type params struct {
	values map[string]string
	files  map[string]upload
}

var errTooLarge = &apiError{code: http.StatusRequestEntityTooLarge, text: "Request Entity Too Large"}

// readParams reads the query and the body of a request, of at most limit bytes.
func readParams(r *http.Request, limit int64) (params, *apiError) {
	p := params{values: make(map[string]string), files: make(map[string]upload)}
	p.add(r.URL.Query())
	body, err := io.ReadAll(io.LimitReader(r.Body, limit+1))
	if err != nil {
		return p, badRequest("the request's body could not be read")
	}
	if int64(len(body)) > limit {
		// The rest is taken off the wire, or the client would see a broken connection
		// instead of the answer.
		_, _ = io.Copy(io.Discard, r.Body)
		return p, errTooLarge
	}
	if len(body) == 0 {
		return p, nil
	}
	kind, options, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch kind {
	case "application/json":
		return p, p.readJSON(body)
	case "application/x-www-form-urlencoded":
		form, err := url.ParseQuery(string(body))
		if err != nil {
			return p, badRequest("can't parse the form")
		}
		p.add(form)
	case "multipart/form-data":
		return p, p.readMultipart(body, options["boundary"])
	default:
		return p, badRequest("unsupported content type")
	}
	return p, p.check()
}

func (p *params) add(form url.Values) {
	for name, values := range form {
		p.values[name] = values[len(values)-1]
	}
}

func (p *params) readJSON(body []byte) *apiError {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(body, &object); err != nil {
		return badRequest("can't parse JSON object")
	}
	for name, value := range object {
		var text string
		switch {
		case bytes.Equal(value, []byte("null")):
		case json.Unmarshal(value, &text) == nil:
			p.values[name] = text
		default:
			p.values[name] = string(value)
		}
	}
	return p.check()
}

func (p *params) readMultipart(body []byte, boundary string) *apiError {
	reader := multipart.NewReader(bytes.NewReader(body), boundary)
	for {
		part, err := reader.NextPart()
		if errors.Is(err, io.EOF) {
			return p.check()
		}
		if err != nil {
			return badRequest("can't parse the form: " + err.Error())
		}
		data, err := io.ReadAll(part)
		if err != nil {
			return badRequest("can't parse the form: " + err.Error())
		}
		if part.FileName() != "" {
			p.files[part.FormName()] = upload{name: part.FileName(), mime: part.Header.Get("Content-Type"), data: data}
		} else {
			p.values[part.FormName()] = string(data)
		}
	}
}

// check refuses what is no text.
func (p *params) check() *apiError {
	for _, value := range p.values {
		if !utf8.ValidString(value) {
			return badRequest("strings must be encoded in UTF-8")
		}
	}
	return nil
}

// flag gives a parameter that is true or false.
func (p *params) flag(name string) bool {
	value := strings.ToLower(strings.TrimSpace(p.values[name]))
	return value == "true" || value == "yes" || value == "1"
}

// number gives a parameter that is a number; what is none counts as 0, as it does
// for the real one.
func (p *params) number(name string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(p.values[name]), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// object reads a parameter that is JSON into v. An absent one leaves v alone.
func (p *params) object(name string, v any) error {
	text := strings.TrimSpace(p.values[name])
	if text == "" {
		return nil
	}
	return json.Unmarshal([]byte(text), v)
}
