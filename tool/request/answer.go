package request

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"mime"
	"net/http"
	"path"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/parley-run/parley"
)

// told are the headers of an answer that the model gets.
var told = []string{
	"Content-Type", "Content-Language", "Content-Disposition", "Content-Encoding", "Location", "Retry-After", "Last-Modified", "Etag", "Link", "Allow",
	"Ratelimit-Limit", "Ratelimit-Remaining", "Ratelimit-Reset", "X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset",
}

// show writes down an answer. Cut says that the body is longer.
func (t *Tool) show(ctx context.Context, req *http.Request, resp *http.Response, body []byte, cut bool) parley.ToolResult {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s\n", resp.StatusCode, http.StatusText(resp.StatusCode))
	if last := resp.Request.URL.String(); last != req.URL.String() {
		fmt.Fprintf(&b, "Url: %s\n", t.line(last))
	}
	for _, name := range told {
		for i, value := range resp.Header.Values(name) {
			if i < 3 {
				fmt.Fprintf(&b, "%s: %s\n", name, t.line(value))
			}
		}
	}
	b.WriteByte('\n')
	result := parley.ToolResult{}
	switch text, ok := readable(body, resp.Header); {
	case len(body) == 0:
		b.WriteString("(no body)")
	case ok && cut:
		// What is left out is not known to be whole.
		text = t.cfg.Scrubber.Text(text)
		b.WriteString(strings.ToValidUTF8(text[:max(0, len(text)-halfSecret)], ""))
		fmt.Fprintf(&b, "\n[… the answer has more than %d bytes; this is its beginning …]", t.cfg.MaxBody)
	case ok:
		b.WriteString(text)
	case cut:
		fmt.Fprintf(&b, "(the body is not text, and has more than %d bytes; it is not kept)", t.cfg.MaxBody)
	default:
		result.Media = t.keep(ctx, &b, resp, body)
	}
	result.Text = b.String()
	return result
}

// line is a value of somebody else's on a line of ours, without credentials.
func (t *Tool) line(value string) string {
	const most = 500
	value = t.cfg.Scrubber.Text(value) // a part of one would not be found later
	value = strings.ToValidUTF8(value[:min(len(value), most)], "")
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, value)
}

// keep stores a body that is not text, and says so.
func (t *Tool) keep(ctx context.Context, b *strings.Builder, resp *http.Response, body []byte) *parley.Media {
	kind := http.DetectContentType(body)
	fmt.Fprintf(b, "(the body is not text: %s, %d bytes", kind, len(body))
	if t.cfg.KeepFunc == nil {
		b.WriteString("; it is not kept)")
		return nil
	}
	clean := strings.NewReader(t.cfg.Scrubber.Text(string(body)))
	storing, cancel := context.WithTimeout(context.WithoutCancel(ctx), t.cfg.Timeout)
	defer cancel()
	blob, err := t.cfg.KeepFunc(storing, clean)
	if err != nil {
		b.WriteString("; it could not be stored)")
		return nil
	}
	fmt.Fprintf(b, "; kept as %s)", blob.Handle)
	return &parley.Media{Handle: string(blob.Handle), Type: blob.Type, Name: t.fileName(resp), Size: blob.Size}
}

// fileName is the last part of the address, without credentials.
func (t *Tool) fileName(resp *http.Response) string {
	// The whole of it: a credential may have a slash.
	name := t.line(path.Base(t.cfg.Scrubber.Text(resp.Request.URL.Path)))
	if name == "/" || name == "." || name == ".." || strings.ContainsAny(name, `/\`) {
		return ""
	}
	return strings.ToValidUTF8(name[:min(len(name), 100)], "")
}

// readable gives a body as text, if it is text.
func readable(body []byte, header http.Header) (string, bool) {
	kind, params, _ := mime.ParseMediaType(header.Get("Content-Type"))
	if packed := header.Get("Content-Encoding"); packed != "" && !strings.EqualFold(packed, "identity") {
		return "", false // what we have asked for is unpacked by now
	}
	charset := strings.ToLower(params["charset"])
	switch {
	case bytes.HasPrefix(body, []byte{0xff, 0xfe}):
		return wide(body[2:], binary.LittleEndian), true
	case bytes.HasPrefix(body, []byte{0xfe, 0xff}):
		return wide(body[2:], binary.BigEndian), true
	case charset == "utf-16le":
		return wide(body, binary.LittleEndian), true
	case charset == "utf-16be" || charset == "utf-16":
		return wide(body, binary.BigEndian), true
	}
	body = bytes.TrimPrefix(body, []byte("\ufeff"))
	if bytes.IndexByte(body, 0) >= 0 {
		return "", false
	}
	if utf8.Valid(body) {
		return string(body), true
	}
	switch {
	case charset == "iso-8859-1" || charset == "latin1" || charset == "windows-1252":
		return latin(body), true
	case strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "json") || strings.HasSuffix(kind, "xml"):
		return strings.ToValidUTF8(string(body), string(utf8.RuneError)), true
	}
	return "", false
}

// wide reads UTF-16.
func wide(body []byte, order binary.ByteOrder) string {
	units := make([]uint16, len(body)/2)
	for i := range units {
		units[i] = order.Uint16(body[2*i:])
	}
	return string(utf16.Decode(units))
}

// latin reads ISO 8859-1, by which is meant Windows-1252.
func latin(body []byte) string {
	const special = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ"
	table := []rune(special)
	var b strings.Builder
	for _, c := range body {
		if c >= 0x80 && c < 0xa0 {
			b.WriteRune(table[c-0x80])
			continue
		}
		b.WriteRune(rune(c))
	}
	return b.String()
}
