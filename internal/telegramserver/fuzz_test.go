package telegramserver

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// checkFormatted holds that what a parser gives is a text with entities within it.
func checkFormatted(t *testing.T, src string, f formatted, err error) {
	t.Helper()
	if err != nil {
		if err.Error() == "" {
			t.Errorf("%q is refused without a word", src)
		}
		return
	}
	if !utf8.ValidString(f.text) {
		t.Errorf("%q gives %q, which is no text", src, f.text)
	}
	for _, e := range f.entities {
		if e.Type == "text_mention" {
			continue // its user is put in later
		}
		if failure := checkEntity(f.text, e); failure != nil {
			t.Errorf("%q gives %q with %+v: %s", src, f.text, e, failure.text)
		}
	}
	cleaned := f.clean()
	for _, e := range append(cleaned.entities, detect(cleaned)...) {
		if failure := checkEntity(cleaned.text, e); failure != nil && e.Type != "text_mention" {
			t.Errorf("%q, cleaned, gives %q with %+v: %s", src, cleaned.text, e, failure.text)
		}
	}
	if again := cleaned.clean(); again.text != cleaned.text {
		t.Errorf("%q, cleaned twice, is %q and then %q", src, cleaned.text, again.text)
	}
}

func FuzzHTML(f *testing.F) {
	for _, seed := range []string{
		"<b>a</b> &amp; <i>b", `<a href="x.org">l</a>`, "<pre><code class='language-go'>x</code></pre>", "&#xD83D;&#128512;",
		"<span class=\"tg-spoiler\">\U0001F600</span>", "<blockquote expandable>q</blockquote>", "  <b> x </b> \r\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, src string) {
		if !utf8.ValidString(src) {
			return // such requests are refused before
		}
		out, err := parseHTML(src)
		checkFormatted(t, src, out, err)
		escaped := strings.NewReplacer("&", "&amp;", "<", "&lt;").Replace(src)
		if out, err := parseHTML(escaped); err != nil || out.text != src || len(out.entities) != 0 {
			t.Errorf("%q, escaped, gives %q, %v, %v", src, out.text, out.entities, err)
		}
	})
}

func FuzzMarkdown(f *testing.F) {
	for _, seed := range []string{
		"*a _b_* ~c~ ||d||", "```go\nx\n```", "`x`", "[l](x.org)", "![e](tg://emoji?id=1)", ">q\n>r||\n**>s", `\*a\*`, "__a_b___", "\r\n>x\r\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, src string) {
		if !utf8.ValidString(src) {
			return // such requests are refused before
		}
		out, err := parseMarkdown(src)
		checkFormatted(t, src, out, err)
		var escaped strings.Builder
		for _, r := range src {
			if strings.ContainsRune("_*[]()~`>#+-=|{}.!\\", r) {
				escaped.WriteByte('\\')
			}
			escaped.WriteRune(r)
		}
		if out, err := parseMarkdown(escaped.String()); err != nil || out.text != src || len(out.entities) != 0 {
			t.Errorf("%q, escaped, gives %q, %v, %v", src, out.text, out.entities, err)
		}
	})
}

func FuzzEntities(f *testing.F) {
	f.Add("a\U0001F600b", `[{"type":"bold","offset":0,"length":3}]`)
	f.Add("abc", `[{"type":"code","offset":0,"length":3},{"type":"text_link","url":"x.org","offset":1,"length":1}]`)
	f.Fuzz(func(t *testing.T, text, raw string) {
		if !utf8.ValidString(text) {
			return // such requests are refused before
		}
		entities, failure := readEntities(text, raw)
		if failure != nil {
			return
		}
		_ = nesting(entities)
		checkFormatted(t, text, formatted{text, entities}, nil)
	})
}

func FuzzParams(f *testing.F) {
	f.Add("--b\r\nContent-Disposition: form-data; name=\"chat_id\"\r\n\r\n5\r\n--b--\r\n", "b")
	f.Fuzz(func(t *testing.T, body, boundary string) {
		p := params{values: make(map[string]string), files: make(map[string]upload)}
		if failure := p.readMultipart([]byte(body), boundary); failure == nil {
			for name, value := range p.values {
				if !utf8.ValidString(value) {
					t.Errorf("%q is %q, which is no text", name, value)
				}
			}
		}
		_ = p.readJSON([]byte(body))
		_ = p.number("chat_id")
		_, _ = keyboard(&p)
	})
}
