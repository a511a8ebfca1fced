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
