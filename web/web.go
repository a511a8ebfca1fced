// Package web is the page of Parley, embedded: a list of conversations, and a
// conversation in which a person talks. It is plain HTML, CSS and JavaScript that
// browsers run as they are, and it knows the daemon by the HTTP API alone.
//
// The package starts no goroutine and imports nothing of this module. Who may
// read what is the API's to decide: the files here are the same for everybody.
package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"io/fs"
	"net/http"
	"path"
	"time"
)

//go:embed static/*.html static/*.css static/*.js static/*.svg
var static embed.FS

// policy lets the page load what is its own and talk to where it came from.
// Scripts are files, never text of the page, and no text becomes HTML.
const policy = "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'; " +
	"require-trusted-types-for 'script'; trusted-types 'none'"

// kinds are the media types of the files. The system's own table may differ from
// one machine to the next.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

// file is one of the page's files.
type file struct {
	name, kind, tag string
	content         []byte
}

// Handler serves the page: / and the files it loads. Every answer, also one that
// says there is no such file, has headers that keep the page from being framed
// and from running what is not its own. Files are kept by browsers and asked for
// again by their content's hash, so a daemon that was replaced shows its own page.
func Handler() http.Handler {
	files := load()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		protect(w.Header())
		f, ok := files[r.URL.Path]
		switch {
		case !ok:
			http.NotFound(w, r)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "this is only for reading", http.StatusMethodNotAllowed)
		default:
			w.Header().Set("Content-Type", f.kind)
			w.Header().Set("ETag", f.tag)
			w.Header().Set("Cache-Control", "no-cache")
			http.ServeContent(w, r, f.name, time.Time{}, bytes.NewReader(f.content))
		}
	})
}

func protect(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// load reads the files, by the path they are served at. They are part of the
// program, so one that cannot be read is a fault of the build.
func load() map[string]file {
	entries, err := static.ReadDir("static")
	if err != nil {
		panic(err)
	}
	files := map[string]file{}
	for _, e := range entries {
		content, err := fs.ReadFile(static, path.Join("static", e.Name()))
		if err != nil {
			panic(err)
		}
		sum := sha256.Sum256(content)
		f := file{
			name: e.Name(), kind: kinds[path.Ext(e.Name())], content: content,
			tag: `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`,
		}
		if f.name == "index.html" {
			files["/"] = f
		} else {
			files["/"+f.name] = f
		}
	}
	return files
}
