package secret_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/parley-run/parley/internal/soak"
	"github.com/parley-run/parley/secret"
)

func scrubber(secrets ...string) *secret.Scrubber {
	var s secret.Scrubber
	for _, text := range secrets {
		s.Add(secret.NewValue(text))
	}
	return &s
}

func TestScrubForms(t *testing.T) {
	t.Parallel()
	asJSON := func(html bool) string {
		var b strings.Builder
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(html)
		if err := enc.Encode(sample); err != nil {
			t.Fatal(err)
		}
		return strings.TrimSuffix(b.String(), "\n")
	}
	tests := []struct{ name, text, want string }{
		{"plain", "a " + sample + " b", "a [secret] b"},
		{"twice", sample + sample, "[secret][secret]"},
		{"nothing", "a secret is not here", "a secret is not here"},
		{"a part", sample[:len(sample)-1], sample[:len(sample)-1]},
		{"base64", base64.StdEncoding.EncodeToString([]byte(sample)), "[secret]"},
		{"base64, no padding", base64.RawStdEncoding.EncodeToString([]byte(sample)), "[secret]"},
		{"base64 for addresses", base64.URLEncoding.EncodeToString([]byte(sample)), "[secret]"},
		{"query", "?a=" + url.QueryEscape(sample) + "&b", "?a=[secret]&b"},
		{"path", "/" + url.PathEscape(sample) + "/", "/[secret]/"},
		{"query with %20", strings.ReplaceAll(url.QueryEscape(sample), "+", "%20"), "[secret]"},
		{"JSON", `{"a":` + asJSON(false) + `}`, `{"a":"[secret]"}`},
		{"JSON for HTML", `{"a":` + asJSON(true) + `}`, `{"a":"[secret]"}`},
		{"Go", fmt.Sprintf("%q", sample), `"[secret]"`},
	}
	s := scrubber(sample)
	for _, test := range tests {
		if got := s.Text(test.text); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// TestScrubOtherWriters looks for values as other languages write them.
func TestScrubOtherWriters(t *testing.T) {
	t.Parallel()
	const (
		slash = "s3cr3t/with+odd"
		wide  = "pässwört-😀/1"
	)
	s := scrubber(slash, wide)
	for _, test := range []struct{ name, text, want string }{
		{"JSON of PHP", `{"k":"s3cr3t\/with+odd"}`, `{"k":"[secret]"}`},
		{"JSON of PHP inside of Go's", `"{\"k\":\"s3cr3t\\/with+odd\"}"`, `"{\"k\":\"[secret]\"}"`},
		{"JSON of PHP inside of PHP's", `"{\"k\":\"s3cr3t\\\/with+odd\"}"`, `"{\"k\":\"[secret]\"}"`},
		{"JSON of Python", `{"k":"p\u00e4ssw\u00f6rt-\ud83d\ude00/1"}`, `{"k":"[secret]"}`},
		{"JSON of Python inside of Go's", `"{\"k\":\"p\\u00e4ssw\\u00f6rt-\\ud83d\\ude00/1\"}"`, `"{\"k\":\"[secret]\"}"`},
		{"JSON of PHP, Unicode", `{"k":"p\u00e4ssw\u00f6rt-\ud83d\ude00\/1"}`, `{"k":"[secret]"}`},
		{"JSON of PHP that leaves Unicode", `{"k":"pässwört-😀\/1"}`, `{"k":"[secret]"}`},
		{"small hex", "k=s3cr3t%2fwith%2bodd&b", "k=[secret]&b"},
		{"small hex of Unicode", "k=p%c3%a4ssw%c3%b6rt-%f0%9f%98%80%2f1", "k=[secret]"},
		{"small hex in a path", "/s3cr3t%2fwith+odd/", "/[secret]/"},
		{"base64 in JSON of PHP", `"` + strings.ReplaceAll(base64.StdEncoding.EncodeToString([]byte(wide)), "/", `\/`) + `"`, `"[secret]"`},
	} {
		if got := s.Text(test.text); got != test.want {
			t.Errorf("%s: %s became %s, want %s", test.name, test.text, got, test.want)
		}
	}
}

// TestScrubLines looks for a value of several lines where its line breaks have
// been replaced.
func TestScrubLines(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"-----BEGIN KEY-----\nMIIabc/+fghij\nKLMNOPQRST\n-----END KEY-----", "line one\r\nline two\r\n", "one  word\n\nafter\tothers\n",
	} {
		s := scrubber(text)
		lines := strings.ReplaceAll(text, "\r\n", "\n")
		for name, form := range map[string]string{
			"space": strings.ReplaceAll(lines, "\n", " "), "semicolon": strings.ReplaceAll(lines, "\n", "; "), "two characters": strings.ReplaceAll(lines, "\n", `\n`),
			"Unix": lines, "Windows": strings.ReplaceAll(lines, "\n", "\r\n"), "words": strings.Join(strings.Fields(text), " "),
			"no control characters": strings.NewReplacer("\r", " ", "\n", " ", "\t", " ").Replace(text), "without its end": strings.TrimSpace(text),
		} {
			got := s.Text("a: " + form + ".")
			// Of a line break at the end, what stands for it may be left.
			if rest, ok := strings.CutPrefix(got, "a: "+secret.Mask); !ok || strings.Trim(rest, " ;\r\n\\n") != "." {
				t.Errorf("%s of %q: got %q", name, text, got)
			}
		}
		quoted, err := json.Marshal(strings.ReplaceAll(strings.TrimSpace(lines), "\n", "; "))
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Text(string(quoted)); got != `"[secret]"` {
			t.Errorf("in JSON: got %s", got)
		}
	}
	if s := scrubber("abc\n\n\n\n"); s.Text("abc") != "abc" {
		t.Error("what is left of a value is too short, and is scrubbed")
	}
}

// TestScrubFewForms holds how many texts a value is looked for by.
func TestScrubFewForms(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, text string
		most       int
	}{
		{"a token", "ghp_abcdefghijklmnopqrstuvwxyz0123456789", 8},
		{"base64", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY+=", 16},
		{"lines", strings.Repeat("MIIabc/+fghij\n", 100), 48},
		{"everything", "p/ä<&>\"\\'😀\r\n\x7f\xff %", 256},
	} {
		if n := len(secret.Forms(test.text)); n > test.most {
			t.Errorf("%s: %d forms", test.name, n)
		}
	}
}

// TestScrubWithinBase64 looks for a password that was encoded together with what
// stands around it, as in an authorization header.
func TestScrubWithinBase64(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"secret", "secret7", "secret78", sample, "\xff\xfe\xfd\xfc\xfb\xfa"} {
		s := scrubber(text)
		for before := range 7 {
			for after := range 7 {
				for name, enc := range map[string]*base64.Encoding{
					"std": base64.StdEncoding, "raw": base64.RawStdEncoding, "url": base64.URLEncoding, "rawurl": base64.RawURLEncoding,
				} {
					code := enc.EncodeToString([]byte(strings.Repeat("u", before) + text + strings.Repeat(":", after)))
					got := s.Text(code)
					// At most a digit at either end is shared with the neighbours.
					left, right, ok := strings.Cut(got, secret.Mask)
					if !ok || len(left) > before*8/6+1 || len(right) > after*8/6+4 {
						t.Errorf("%s, %q, %d before and %d after: %q became %q", name, text, before, after, code, got)
					}
				}
			}
		}
	}
}

func TestScrubValues(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		secrets []string
		text    string
		want    string
	}{
		{"none", nil, "text", "text"},
		{"too short", []string{"", "abcde"}, "abcde", "abcde"},
		{"just long enough", []string{"abcdef"}, "abcdef", "[secret]"},
		{"the longer one", []string{"abcdef", "abcdefgh"}, "abcdefgh abcdef", "[secret] [secret]"},
		{"one inside of the other", []string{"cdefgh", "abcdefghij"}, "abcdefghij cdefgh", "[secret] [secret]"},
		{"inside of one that breaks off", []string{"cdefgh", "abcdefghij"}, "abcdefghi", "ab[secret]i"},
		{"overlapping", []string{"abcdef", "efghij"}, "xabcdefghijx", "x[secret]x"},
		{"overlapping itself", []string{"aaaaaa"}, strings.Repeat("a", 20), "[secret]"},
		{"a long one over short ones", []string{"bbbbbb", "cccccc", "abbbbbbccccccd"}, "abbbbbbccccccd", "[secret]"},
		{"inside of one that is passed on", []string{"cdefgh", "abcdefghi", "cdefghijkl"}, "abcdefghijx", "[secret]jx"},
		{"lines", []string{"line one\nline two"}, "x\nline one\nline two\ny", "x\n[secret]\ny"},
		{"the mask", []string{"[secret]"}, "[secret]", "[secret]"},
		{"case matters", []string{"abcdef"}, "ABCDEF", "ABCDEF"},
		{"the same twice", []string{"abcdef", "abcdef"}, "abcdef", "[secret]"},
	}
	for _, test := range tests {
		s := scrubber(test.secrets...)
		if got := s.Text(test.text); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
		if got := byPieces(t, s, test.text, 1); got != test.want {
			t.Errorf("%s, byte for byte: got %q, want %q", test.name, got, test.want)
		}
	}
}

// byPieces writes text in pieces of so many bytes.
func byPieces(t *testing.T, s *secret.Scrubber, text string, size int) string {
	t.Helper()
	var b strings.Builder
	w := s.Writer(&b)
	for rest := text; rest != ""; {
		n := min(size, len(rest))
		if got, err := w.Write([]byte(rest[:n])); err != nil || got != n {
			t.Fatalf("wrote %d of %d bytes: %v", got, n, err)
		}
		rest = rest[n:]
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// mask is the slow and simple way: every place of every secret, and what
// overlaps is one.
func mask(secrets []string, text string) string {
	var b strings.Builder
	for end := 0; end < len(text); {
		start, next := end, 0
		for i := start; i < len(text) && (next == 0 || i < next); i++ {
			for _, s := range secrets {
				if strings.HasPrefix(text[i:], s) {
					if next == 0 {
						b.WriteString(text[start:i])
					}
					next = max(next, i+len(s))
				}
			}
		}
		if next == 0 {
			b.WriteString(text[start:])
			break
		}
		b.WriteString(secret.Mask)
		end = next
	}
	return b.String()
}

// TestScrubRandom compares texts and pieces of texts with the simple way. Of two
// letters, so that secrets overlap; and long enough that no other form of one is
// in the text.
func TestScrubRandom(t *testing.T) {
	t.Parallel()
	seed := soak.Seed(t)
	for round := range soak.Count(2000, 20000) {
		rng := rand.New(rand.NewPCG(seed, uint64(round)))
		word := func(n int) string {
			b := make([]byte, n)
			for i := range b {
				b[i] = "!?"[rng.IntN(2)]
			}
			return string(b)
		}
		var secrets []string
		for range 1 + rng.IntN(5) {
			secrets = append(secrets, word(6+rng.IntN(6)))
		}
		s := scrubber(secrets...)
		text := word(rng.IntN(200))
		want := mask(secrets, text)
		if got := s.Text(text); got != want {
			t.Fatalf("round %d: %q in %q: got %q, want %q", round, secrets, text, got, want)
		}
		if got := byPieces(t, s, text, 1+rng.IntN(20)); got != want {
			t.Fatalf("round %d: %q in pieces of %q: got %q, want %q", round, secrets, text, got, want)
		}
	}
}

// TestScrubWriterHoldsLittle: what cannot be the beginning of a secret is passed
// on at once.
func TestScrubWriterHoldsLittle(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	s := scrubber("secret word")
	w := s.Writer(&b)
	steps := []struct{ write, want string }{
		{"a line\n", "a line\n"},
		{"a sec", "a line\na "},
		{"ond line\n", "a line\na second line\n"},
		{"secret wor", "a line\na second line\n"},
		{"d!", "a line\na second line\n[secret]!"},
		{"new", "a line\na second line\n[secret]!new"},
	}
	for _, step := range steps {
		if _, err := w.Write([]byte(step.write)); err != nil {
			t.Fatal(err)
		}
		if b.String() != step.want {
			t.Errorf("after %q there is %q, want %q", step.write, b.String(), step.want)
		}
	}
	// A value that becomes known counts from the next write on.
	s.Add(secret.NewValue("later value"))
	b.Reset()
	for _, text := range []string{"later", " value, secret"} {
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if want := "[secret], "; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
	for range 2 {
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if want := "[secret], secret"; b.String() != want {
			t.Errorf("after closing there is %q, want %q", b.String(), want)
		}
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestScrubWriterFails(t *testing.T) {
	t.Parallel()
	full := errors.New("full")
	w := scrubber(sample).Writer(failing{full})
	for range 2 {
		if n, err := w.Write([]byte("text")); n != 0 || !errors.Is(err, full) {
			t.Errorf("got %d, %v", n, err)
		}
	}
	if err := w.Close(); !errors.Is(err, full) {
		t.Errorf("closing: %v", err)
	}
}

func TestScrubberNeverPrintsItself(t *testing.T) {
	t.Parallel()
	s := scrubber("correcthorse")
	if s.Text("correcthorse") != secret.Mask {
		t.Fatal("the value is not known")
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x"} {
		text := fmt.Sprintf(verb, s) + fmt.Sprintf(verb, []any{s})
		for _, form := range []string{"correct", "636f7272"} {
			if strings.Contains(text, form) {
				t.Errorf("%s gives %s", verb, text)
			}
		}
	}
}

// TestScrubberShared has several goroutines add and scrub. What somebody added
// is scrubbed from then on.
func TestScrubberShared(t *testing.T) {
	t.Parallel()
	var s secret.Scrubber
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 20 {
				text := fmt.Sprintf("value-%d-%d-x", i, j)
				s.Add(secret.NewValue(text))
				if got := s.Text(text); got != secret.Mask {
					t.Errorf("%s became %s", text, got)
				}
			}
		})
	}
	all.Wait()
}

// BenchmarkScrubAdd adds a key of several lines and makes it ready to be found.
func BenchmarkScrubAdd(b *testing.B) {
	line := "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcw/gSjAgEAAoIBAQC7VJTUt9Us8cKj\n"
	for _, lines := range []int{26, 900} {
		b.Run(fmt.Sprintf("lines=%d", lines), func(b *testing.B) {
			v := secret.NewValue(strings.Repeat(line, lines))
			for b.Loop() {
				var s secret.Scrubber
				s.Add(v)
				s.Text("text")
			}
		})
	}
}

func BenchmarkScrub(b *testing.B) {
	text := strings.Repeat("an ordinary line of a log, with level=info and n=12\n", 100)
	for _, n := range []int{1, 1000} {
		b.Run(fmt.Sprintf("values=%d", n), func(b *testing.B) {
			s := scrubber()
			for i := range n {
				s.Add(secret.NewValue(fmt.Sprintf("token-%d-%s", i, strings.Repeat("z", 30))))
			}
			s.Text(text)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				s.Text(text)
			}
		})
	}
}
