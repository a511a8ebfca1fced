package web_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/parley-run/parley/web"
)

// get asks the page's handler for a path.
func get(t *testing.T, method, path string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "http://parley.test"+path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	web.Handler().ServeHTTP(w, r)
	return w
}

func TestFiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path, kind, has string
	}{
		{"/", "text/html; charset=utf-8", "<title>Parley</title>"},
		{"/app.js", "text/javascript; charset=utf-8", "import "},
		{"/transcript.js", "text/javascript; charset=utf-8", "export class Transcript"},
		{"/style.css", "text/css; charset=utf-8", "prefers-color-scheme: dark"},
		{"/icon.svg", "image/svg+xml", "<svg "},
	} {
		t.Run(c.path, func(t *testing.T) {
			t.Parallel()
			r := get(t, http.MethodGet, c.path)
			if r.Code != http.StatusOK || r.Header().Get("Content-Type") != c.kind {
				t.Errorf("got %d %q, want 200 %q", r.Code, r.Header().Get("Content-Type"), c.kind)
			}
			if text := r.Body.String(); !strings.Contains(text, c.has) {
				t.Errorf("the content lacks %q", c.has)
			}
			checkProtected(t, r)
			head := get(t, http.MethodHead, c.path)
			if head.Code != http.StatusOK || head.Body.String() != "" {
				t.Errorf("HEAD gave %d, or a body", head.Code)
			}
		})
	}
}

func checkProtected(t *testing.T, r *httptest.ResponseRecorder) {
	t.Helper()
	csp := r.Header().Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"} {
		if !strings.Contains(csp, want) {
			t.Errorf("the policy %q lacks %q", csp, want)
		}
	}
	if strings.Contains(csp, "unsafe") {
		t.Errorf("the policy %q allows what is unsafe", csp)
	}
	for name, want := range map[string]string{
		"X-Content-Type-Options":       "nosniff",
		"X-Frame-Options":              "DENY",
		"Referrer-Policy":              "no-referrer",
		"Cross-Origin-Opener-Policy":   "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin",
	} {
		if got := r.Header().Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestCaching(t *testing.T) {
	t.Parallel()
	tags := map[string]string{}
	for _, path := range []string{"/", "/app.js", "/style.css"} {
		r := get(t, http.MethodGet, path)
		tag := r.Header().Get("ETag")
		if !regexp.MustCompile(`^"[\w-]{16}"$`).MatchString(tag) {
			t.Errorf("%s: ETag %q", path, tag)
		}
		if other, taken := tags[tag]; taken {
			t.Errorf("%s and %s have one ETag", path, other)
		}
		tags[tag] = path
		if got := r.Header().Get("Cache-Control"); got != "no-cache" {
			t.Errorf("%s: Cache-Control is %q", path, got)
		}
		again := get(t, http.MethodGet, path, "If-None-Match", tag)
		if again.Code != http.StatusNotModified || again.Body.String() != "" {
			t.Errorf("%s: asked with its ETag it gave %d", path, again.Code)
		}
		checkProtected(t, again)
		if changed := get(t, http.MethodGet, path, "If-None-Match", `"other"`); changed.Code != http.StatusOK {
			t.Errorf("%s: asked with another ETag it gave %d", path, changed.Code)
		}
	}
}

func TestOtherRequests(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		method, path string
		status       int
	}{
		{http.MethodGet, "/nothing", http.StatusNotFound},
		{http.MethodGet, "/index.html", http.StatusNotFound},
		{http.MethodGet, "/package.json", http.StatusNotFound},
		{http.MethodGet, "/static/app.js", http.StatusNotFound},
		{http.MethodGet, "/../web.go", http.StatusNotFound},
		{http.MethodGet, "/..%2fweb.go", http.StatusNotFound},
		{http.MethodGet, "/app.js%00", http.StatusNotFound},
		{http.MethodGet, "/app.js/", http.StatusNotFound},
		{http.MethodPost, "/", http.StatusMethodNotAllowed},
		{http.MethodDelete, "/app.js", http.StatusMethodNotAllowed},
	} {
		t.Run(c.method+c.path, func(t *testing.T) {
			t.Parallel()
			r := get(t, c.method, c.path)
			if r.Code != c.status {
				t.Errorf("got %d, want %d", r.Code, c.status)
			}
			checkProtected(t, r)
		})
	}
}

// TestOwnScriptsOnly holds that the page needs nothing that its policy forbids,
// and nothing from elsewhere.
func TestOwnScriptsOnly(t *testing.T) {
	t.Parallel()
	page := get(t, http.MethodGet, "/").Body.String()
	for _, c := range []struct{ what, pattern string }{
		{"a script inside of the page", `<script[^>]*>[^<]`},
		{"a style inside of the page", `<style|\sstyle=`},
		{"a listener inside of the page", `\son[a-z]+=`},
		{"an address elsewhere", `(?:src|href|action)="(?:https?:)?//`},
	} {
		if found := regexp.MustCompile(c.pattern).FindString(page); found != "" {
			t.Errorf("%s: %q", c.what, found)
		}
	}
	for _, m := range regexp.MustCompile(`(?:src|href)="(/[^"]+)"`).FindAllStringSubmatch(page, -1) {
		if r := get(t, http.MethodGet, m[1]); r.Code != http.StatusOK {
			t.Errorf("the page refers to %s, which gives %d", m[1], r.Code)
		}
	}
}
