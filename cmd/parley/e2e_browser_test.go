package main_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/parley-run/parley/internal/soak"
)

// tab is a page in a browser.
type tab struct {
	t   *testing.T
	ctx context.Context //nolint:containedctx // it is the tab: that is how chromedp names one
}

// browse starts a browser.
func browse(t *testing.T) *tab {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if found, err := exec.LookPath(name); err == nil && path == "" {
			path = found
		}
	}
	if path == "" {
		soak.SkipOrFail(t, "there is no Chromium to test with: make browser")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.WindowSize(1100, 760))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium refuses its sandbox to root
	}
	allocator, stopAllocator := chromedp.NewExecAllocator(context.WithoutCancel(t.Context()), options...)
	ctx, stop := chromedp.NewContext(allocator)
	t.Cleanup(func() {
		_ = chromedp.Cancel(ctx) // it ends in any case
		stop()
		stopAllocator()
	})
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("the browser does not start: %v", err)
	}
	return &tab{t: t, ctx: ctx}
}

func (b *tab) run(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, stop := context.WithTimeout(b.ctx, patience)
	defer stop()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

func (b *tab) eval(expression string) string {
	b.t.Helper()
	ctx, stop := context.WithTimeout(b.ctx, patience)
	defer stop()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](expression))
	if err != nil {
		b.t.Fatal(err)
	}
	return text
}

// until waits until a condition holds in the page, also in the next one, if it is
// being left.
func (b *tab) until(condition string) {
	b.t.Helper()
	ctx, stop := context.WithTimeout(b.ctx, patience)
	defer stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if holds, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`Boolean(`+condition+`)`)); err == nil && holds {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			b.t.Fatalf("the page does not come to %s; it shows:\n%s", condition, b.eval("document.body.innerText"))
		}
	}
}

// shows waits until the last element that is found has a text in it.
func (b *tab) shows(selector, text string) {
	b.t.Helper()
	b.until(fmt.Sprintf(`[...document.querySelectorAll(%s)].at(-1)?.innerText.replace(/\s+/g, ' ').includes(%s)`, strconv.Quote(selector), strconv.Quote(text)))
}

// write types a message and sends it.
func (b *tab) write(text string) {
	b.t.Helper()
	b.run(chromedp.SendKeys(chromedp.CSS("#text"), text), chromedp.Click(chromedp.CSS("#send")))
}

// session is the one that the page shows.
func (b *tab) session() string {
	b.t.Helper()
	b.until(`location.hash.startsWith('#/s/')`)
	id, err := url.PathUnescape(strings.TrimPrefix(b.eval("location.hash"), "#/s/"))
	if err != nil {
		b.t.Fatal(err)
	}
	return id
}

// TestNewUser does what somebody does who has just heard of Parley: start it with
// nothing, open the link, talk, lose the power, go on; in the page, in the terminal and
// with curl.
func TestNewUser(t *testing.T) {
	t.Parallel()
	b := browse(t)
	dir := t.TempDir()
	d := daemonOn(t, dir)
	b.run(chromedp.Navigate(d.link))
	b.shows("button", "Sign in")
	b.run(chromedp.Click(chromedp.CSS("button")))
	b.shows("#sessions-note", "No conversations yet.")
	b.run(chromedp.Click(chromedp.CSS("#new")))
	b.until(`location.hash === '#/new'`)
	b.shows("#empty", "What is on your mind?")
	b.write("hello there")
	b.shows(".assistant .prose", "offline model")
	b.until(`document.querySelector('.assistant').getAttribute('aria-busy') === 'false'`)
	session := b.session()

	d.kill()
	d = daemonOn(t, dir, "--listen", strings.TrimPrefix(d.url, "http://"))
	b.run(chromedp.Reload())
	b.shows(".user .prose", "hello there")
	b.shows(".assistant .prose", "offline model")
	if got := b.session(); got != session {
		t.Errorf("the page shows %s, and before %s", got, session)
	}

	// The terminal goes on in the same conversation, and the page shows it at once.
	out := parleyRun(t, t.TempDir(), "chat", "--data", dir, "--session", session, "what did I say?")
	if out.status != 0 || !strings.Contains(out.out, "hello there") || !strings.Contains(out.err, "offline model") {
		t.Errorf("the terminal shows %+v", out)
	}
	b.shows(".user .prose", "what did I say?")
	b.shows(".assistant .prose", "hello there")

	// So does curl.
	command := fmt.Sprintf(`curl -sS -H "Authorization: Bearer $(cat '%s/owner.token')" -d '{"text":"what did I say?"}' '%s/api/sessions/%s/messages?wait=30s'`, dir, d.url, session)
	if _, err := exec.LookPath("curl"); err != nil {
		d.say(session, "what did I say?")
	} else if got, err := exec.CommandContext(t.Context(), "sh", "-c", command).CombinedOutput(); err != nil || !strings.Contains(string(got), `"state":"done"`) {
		t.Errorf("curl gives %s, %v", got, err)
	}
	b.until(`document.querySelectorAll('.user .prose').length === 3 && document.querySelectorAll('.assistant .prose').length === 3`)
	if all := d.messages(session); len(all) != 6 {
		t.Errorf("there are %d messages, want 6", len(all))
	}
	d.stop()
}
