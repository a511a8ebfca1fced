package secret

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
)

// forms gives what a value may look like, itself included.
func forms(text string) []string {
	all := []string{text, inner(strconv.Quote(text))}
	all = append(all, inAddress(text)...)
	all = append(all, onOneLine(text)...)
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		all = append(all, enc.EncodeToString([]byte(text)), enc.WithPadding(base64.NoPadding).EncodeToString([]byte(text)))
		for before := range 3 {
			all = append(all, within(enc, text, before))
		}
	}
	all = unique(all)
	// Twice: JSON is often sent as a text inside JSON.
	once := inJSON(all)
	return unique(slices.Concat(all, once, inJSON(once)))
}

func unique(texts []string) []string {
	slices.Sort(texts)
	return slices.Compact(texts)
}

// inAddress is how a text looks inside a URL.
func inAddress(text string) []string {
	query := url.QueryEscape(text)
	all := []string{
		query, url.PathEscape(text),
		strings.ReplaceAll(query, "+", "%20"),
		// As browsers do it.
		strings.NewReplacer("+", "%20", "%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*").Replace(query),
	}
	for _, form := range all {
		all = append(all, lowerHex(form))
	}
	return unique(all)
}

// lowerHex writes percent-escapes with small letters.
func lowerHex(text string) string {
	b := []byte(text)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], strings.ToLower(text[i+1:i+3]))
			i += 2
		}
	}
	return string(b)
}

// onOneLine is how a text of several lines looks where its line breaks were
// replaced, also by those of another system.
func onOneLine(text string) []string {
	if !strings.ContainsFunc(text, unicode.IsControl) {
		return nil
	}
	text = strings.TrimSpace(text) // what was at its ends is often gone
	lines := strings.ReplaceAll(text, "\r\n", "\n")
	all := []string{
		strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " "),
		strings.Map(func(r rune) rune {
			if unicode.IsControl(r) {
				return ' '
			}
			return r
		}, text),
	}
	for _, by := range []string{"\n", "\r\n", " ", "; ", `\n`} {
		all = append(all, strings.ReplaceAll(lines, "\n", by))
	}
	return slices.DeleteFunc(unique(all), func(form string) bool { return len(form) < MinScrub })
}

// style says what a writer of JSON escapes that need not be.
type style struct {
	html  bool // <, > and &
	slash bool // /
	ascii bool // what is not ASCII
}

// styles are those of Go, of browsers, of Python, and of PHP as it is and when it
// leaves Unicode alone.
var styles = []style{{html: true}, {}, {ascii: true}, {slash: true, ascii: true}, {slash: true}}

// inJSON is how texts look inside strings of JSON.
func inJSON(texts []string) []string {
	var all []string
	for _, text := range texts {
		html, slash := strings.ContainsAny(text, "<>&"), strings.Contains(text, "/")
		wide := strings.ContainsFunc(text, func(r rune) bool { return r > '~' })
		for _, st := range styles {
			// What has nothing to escape looks as in another style.
			if (html || !st.html) && (slash || !st.slash) && (wide || !st.ascii) {
				all = append(all, st.escape(text))
			}
		}
	}
	return unique(all)
}

func (st style) escape(text string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(st.html)
	if enc.Encode(text) != nil {
		return text
	}
	text = inner(strings.TrimSuffix(b.String(), "\n"))
	if st.slash {
		text = strings.ReplaceAll(text, "/", `\/`)
	}
	if st.ascii {
		text = onlyASCII(text)
	}
	return text
}

// onlyASCII escapes what is not printable ASCII, beyond the Basic Multilingual
// Plane as two halves.
func onlyASCII(text string) string {
	var b []byte
	for _, r := range text {
		switch high, low := utf16.EncodeRune(r); {
		case r <= '~':
			b = append(b, byte(r))
		case high != unicode.ReplacementChar:
			b = fmt.Appendf(b, `\u%04x\u%04x`, high, low)
		default:
			b = fmt.Appendf(b, `\u%04x`, r)
		}
	}
	return string(b)
}

// inner is a quoted text without its quotes.
func inner(quoted string) string { return quoted[1 : len(quoted)-1] }

// within gives the digits of base64 that text determines alone, if as many bytes
// stand before it in its group of three.
func within(enc *base64.Encoding, text string, before int) string {
	size := before + len(text)
	digits := enc.WithPadding(base64.NoPadding).EncodeToString(append(make([]byte, before, size), text...))
	// Each digit has six bits; the first and the last may share theirs with
	// what is around.
	return digits[(before*8+5)/6 : size*8/6]
}
