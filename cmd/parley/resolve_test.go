package main_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the examples of docs/routing.md anew")

// parleyFeed runs the program with something on its standard input.
func parleyFeed(t *testing.T, input string, args ...string) outcome {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Getenv("PARLEY_TEST_PROGRAM"), args...)
	cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
	cmd.Stdin = strings.NewReader(input)
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return outcome{cmd.ProcessState.ExitCode(), out.String(), stderr.String()}
}

// TestResolve_Vectors asks the program about every case of package route, in one
// run.
func TestResolve_Vectors(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join("..", "..", "route", "testdata", "scope_keys.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []map[string]any `json:"cases"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	var in bytes.Buffer
	for _, c := range file.Cases {
		line := map[string]any{}
		for _, name := range []string{"agent_id", "context", "dimensions", "identity_links"} {
			if v, ok := c[name]; ok {
				line[name] = v
			}
		}
		if err := json.NewEncoder(&in).Encode(line); err != nil {
			t.Fatal(err)
		}
	}
	got := parleyFeed(t, in.String(), "resolve")
	got.says(t, 0)
	answers := strings.Split(strings.TrimSuffix(got.out, "\n"), "\n")
	if len(answers) != len(file.Cases) {
		t.Fatalf("%d lines are answered with %d", len(file.Cases), len(answers))
	}
	for i, c := range file.Cases {
		var answer map[string]any
		if err := json.Unmarshal([]byte(answers[i]), &answer); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"scope", "signature", "session_key", "session_aliases", "main_session_key", "main_aliases"} {
			if diff := cmp.Diff(c[name], answer[name]); diff != "" {
				t.Errorf("%s: %s (-want +got):\n%s", c["name"], name, diff)
			}
		}
		delete(answer, "agent_id")
		if len(answer) != 9 {
			t.Errorf("%s: the answer has other fields than it should: %s", c["name"], answers[i])
		}
	}
}

func TestResolve_Order(t *testing.T) {
	t.Parallel()
	const n = 30_000
	var in strings.Builder
	for i := range n {
		if i%1000 == 999 {
			in.WriteString("nonsense\r\n")
			continue
		}
		fmt.Fprintf(&in, `{"context":{"channel":"x","chat_id":"%d"}}`+"\n", i)
	}
	got := parleyFeed(t, strings.TrimSuffix(in.String(), "\r\n"), "resolve")
	if want := "parley: 30 of 30,000 lines could not be answered; each has its error in its place (invalid)\n"; got.status != 1 || got.err != want {
		t.Errorf("status is %d, standard error %q", got.status, got.err)
	}
	i := 0
	for line := range strings.Lines(got.out) {
		want := fmt.Sprintf(`"chat":"direct:%d"`, i)
		if i%1000 == 999 {
			want = `{"error":{"code":"invalid","message":"the line is not JSON`
		}
		if !strings.Contains(line, want) {
			t.Fatalf("line %d is %s, want %s in it", i, line, want)
		}
		i++
	}
	if i != n {
		t.Errorf("%d lines are answered with %d", n, i)
	}
}

func TestResolve_LongLines(t *testing.T) {
	t.Parallel()
	const good = `{"context":{"channel":"x","chat_id":"1"}}` + "\n"
	fits := `{"context":{"channel":"x","chat_id":"` + strings.Repeat("y", 1<<20-100) + `"}}` + "\n"
	long := `{"context":{"channel":"x","chat_id":"` + strings.Repeat("y", 3<<20) + `"}}` + "\n"
	got := parleyFeed(t, good+long+good+fits+long+long+good+strings.TrimSuffix(long, "\n"), "resolve")
	var kinds strings.Builder
	for line := range strings.Lines(got.out) {
		switch {
		case strings.HasPrefix(line, `{"error":{"code":"too_large"`):
			kinds.WriteByte('L')
		case strings.Contains(line, `"chat":"direct:1"`):
			kinds.WriteByte('g')
		case strings.Contains(line, `"chat":"direct:yyy`) && strings.Contains(line, "cannot be opened"):
			kinds.WriteByte('f')
		default:
			t.Errorf("a line is %.200s", line)
		}
	}
	if kinds.String() != "gLgfLLgL" || got.status != 1 {
		t.Errorf("answers are %s, status %d", kinds.String(), got.status)
	}
}

func TestResolve_LongLinesExplained(t *testing.T) {
	t.Parallel()
	fits := `{"context":{"channel":"x","chat_type":"` + strings.Repeat("é", 1000) + `","chat_id":"` + strings.Repeat("é", 1000) + `"}}` + "\n"
	long := `{"context":{"channel":"x","chat_id":"` + strings.Repeat("y", 3<<20) + `"}}` + "\n"
	got := parleyFeed(t, long+fits+long, "resolve", "--explain")
	const tooLong = "  the line is too long; at most 1048576 bytes are allowed (too_large)\n"
	if !strings.HasPrefix(got.out, "1"+tooLong+"2  a message from x, ééé") || !strings.HasSuffix(got.out, "\n3"+tooLong) || got.status != 1 {
		t.Errorf("status %d, answers %.2000s", got.status, got.out)
	}
	for line := range strings.Lines(got.out) {
		if len(line) > 600 || !utf8.ValidString(line) {
			t.Errorf("a line of %d bytes: %s", len(line), line)
		}
	}
	if !strings.Contains(got.out, "é…\n") {
		t.Errorf("what is cut is not marked: %s", got.out)
	}
}

func TestResolve_ByteOrderMark(t *testing.T) {
	t.Parallel()
	const line = `{"context":{"channel":"x","chat_id":"1"}}` + "\n"
	if got, want := parleyFeed(t, "\ufeff"+line+line, "resolve"), parleyFeed(t, line+line, "resolve"); got != want || got.status != 0 {
		t.Errorf("with a byte order mark it is %+v, without %+v", got, want)
	}
	got := parleyFeed(t, line+"\n"+line, "resolve", "--explain")
	if !strings.Contains(got.out, "\n2  the line is empty; it must be a JSON object with a context (invalid)\n3  ") || got.status != 1 {
		t.Errorf("an empty line gives %+v", got)
	}
}

func TestResolve_NothingToRead(t *testing.T) {
	t.Parallel()
	if got := parleyFeed(t, "", "resolve"); got != (outcome{}) {
		t.Errorf("no lines give %+v", got)
	}
	parleyFeed(t, "", "resolve", "now").complains(t, 2, `"now"`)
	parleyFeed(t, "", "resolve", "--json", "--explain").complains(t, 2, "json", "explain")
}

// resolving is the program with its input still open.
type resolving struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr *bytes.Buffer
}

func startResolving(t *testing.T, args ...string) *resolving {
	t.Helper()
	r := &resolving{cmd: exec.CommandContext(t.Context(), os.Getenv("PARLEY_TEST_PROGRAM"), append([]string{"resolve"}, args...)...), stderr: new(bytes.Buffer)}
	r.cmd.Stderr = r.stderr
	var err error
	if r.in, err = r.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	r.out = bufio.NewReader(out)
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return r
}

// ask writes to the program, and reads an answer before it writes more.
func (r *resolving) ask(t *testing.T, text string) string {
	t.Helper()
	if _, err := io.WriteString(r.in, text); err != nil {
		t.Fatal(err)
	}
	answer, err := r.out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func TestResolve_AnswersWhileTheInputStaysOpen(t *testing.T) {
	t.Parallel()
	r := startResolving(t)
	for i := range 20 {
		want := fmt.Sprintf("direct:%d", i)
		// The line ends with the beginning of the next one.
		line := fmt.Sprintf(`":{"channel":"x","chat_id":"%d"}}`+"\n"+`{"context`, i)
		if i == 0 {
			line = `{"context` + line
		}
		if got := r.ask(t, line); !strings.Contains(got, want) {
			t.Fatalf("answer %d is %s", i, got)
		}
	}
	if _, err := io.WriteString(r.in, `":{"channel":"x","chat_id":"last"}}`); err != nil {
		t.Fatal(err)
	}
	if err := r.in.Close(); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(r.out)
	if err := errors.Join(err, r.cmd.Wait()); err != nil || !bytes.Contains(rest, []byte("direct:last")) {
		t.Errorf("the last line is answered with %s, %v, %s", rest, err, r.stderr)
	}
}

func TestResolve_Interrupt(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there is no such signal")
	}
	r := startResolving(t, "--explain")
	r.ask(t, `{"context":{"channel":"x","chat_id":"1"}}`+"\n") // it is at work
	if err := r.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(r.out); err != nil {
		t.Fatal(err)
	}
	err := r.cmd.Wait()
	if r.cmd.ProcessState.ExitCode() != 130 || r.stderr.String() != "parley: interrupted\n" {
		t.Errorf("%v, standard error %q", err, r.stderr)
	}
}

func TestResolve_Explain(t *testing.T) {
	t.Parallel()
	got := parleyFeed(t, strings.Join([]string{
		`{"context":{"channel":"x","account":"b","space_id":"s","chat_type":"group","chat_id":"1\u001b[31m\n2","sender_id":"7","sender_id_alt":"8"},"group_sessions_per_user":true}`,
		`{"context":{},"dimensions":["room"]}`,
		`{"context":{}}`,
	}, "\n"), "resolve", "--explain")
	for _, want := range []string{
		`1  a message from x, account b, space s, group 1\x1b[31m\n2, sender 7, known as 8: agent main, private` + "\n   key    sk_v1_",
		"\n" + `   alias  agent:main:x:group:1\x1b[31m\n2  (not claimed)` + "\n",
		"\n" + `2  there is no dimension "room"; the dimensions are space, chat, topic and sender (invalid)` + "\n3  a message from nowhere: agent main, shared\n",
		"cannot be opened: the message has no channel",
	} {
		if !strings.Contains(got.out, want) {
			t.Errorf("the explanation is\n%s\nwant in it\n%s", got.out, want)
		}
	}
	if got.status != 1 || strings.ContainsRune(got.out, '\x1b') {
		t.Errorf("status is %d, output %q", got.status, got.out)
	}
}

// TestResolve_Docs asks the program what the examples of the documentation ask,
// and wants the answers that stand there.
func TestResolve_Docs(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "..", "docs", "routing.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile("(?s)```json\n(.*?)```\n\n```text\n(.*?)```\n")
	count := 0
	fresh := examples.ReplaceAllFunc(page, func(example []byte) []byte {
		count++
		parts := examples.FindSubmatch(example)
		got := parleyFeed(t, string(parts[1]), "resolve", "--explain")
		got.says(t, 0)
		if diff := cmp.Diff(string(parts[2]), got.out); diff != "" && !*update {
			t.Errorf("%s is answered otherwise (-page +program):\n%s", parts[1], diff)
		}
		return fmt.Appendf(nil, "```json\n%s```\n\n```text\n%s```\n", parts[1], got.out)
	})
	if count < 10 || count != bytes.Count(page, []byte("```json\n")) {
		t.Errorf("the page has %d examples with an answer, of %d", count, bytes.Count(page, []byte("```json\n")))
	}
	if *update {
		if err := os.WriteFile(path, fresh, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestBench_Route(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	got := parleyRun(t, home, "bench", "route", "--rounds", "1")
	if got.status > 1 || got.err != "" {
		t.Fatalf("status is %d, standard error %q", got.status, got.err)
	}
	line := regexp.MustCompile(`(?m)^resolve_rate +[0-9,]+ lines/s +[0-9,]+ lines/s +≥ 50000 lines/s +(ok|FAIL)$`)
	if !line.MatchString(got.out) || strings.Contains(got.out, "commit_64") || strings.Contains(got.out, "session") {
		t.Errorf("the table is\n%s", got.out)
	}
	if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
		t.Errorf("the bench left %v, %v", left, err)
	}
	parleyRun(t, home, "bench", "route", "--only", "commit_64").complains(t, 1, `"commit_64"`, "resolve_rate", "(invalid)")
	parleyRun(t, home, "bench", "all", "--only", "speed").complains(t, 1, `"speed"`, "resolve_rate", "commit_64", "(invalid)")
}
