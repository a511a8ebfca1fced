package web_test

import (
	"context"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"go.uber.org/goleak"

	"github.com/parley-run/parley/internal/soak"
)

// theBrowser is started once, by the first test that needs it; stopBrowser has what
// ends it.
var (
	theBrowser  = sync.OnceValues(startBrowser)
	stopBrowser []func()
)

func TestMain(m *testing.M) {
	code := m.Run()
	for _, stop := range stopBrowser {
		stop()
	}
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// patience is how long a page may take to show something. It is only used up by
// a test that fails.
const patience = 20 * time.Second

// findBrowser gives the path of a browser, or "".
func findBrowser() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

func startBrowser() (context.Context, error) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(findBrowser()), chromedp.WindowSize(1100, 760))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium refuses its sandbox to root
	}
	allocator, stopAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, stop := chromedp.NewContext(allocator)
	stopBrowser = []func(){func() { _ = chromedp.Cancel(ctx) }, stop, stopAllocator}
	return ctx, chromedp.Do(ctx)
}

// page is a tab with a profile of its own.
type page struct {
	t   *testing.T
	ctx context.Context //nolint:containedctx // it is the tab: that is how chromedp names one

	problems []string // the listener's, until the tab is closed
}

// open opens an address in a tab. A script error, or something that the page's
// policy stopped, fails the test.
func open(t *testing.T, url string) *page {
	t.Helper()
	if findBrowser() == "" {
		soak.SkipOrFail(t, "there is no Chromium to test with: make browser")
	}
	browser, err := theBrowser()
	if err != nil {
		t.Fatalf("the browser does not start: %v", err)
	}
	tab, closeTab := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	p := &page{t: t, ctx: tab}
	if err := chromedp.Do(tab); err != nil {
		t.Fatalf("no tab: %v", err)
	}
	messages := chromedp.Console(tab)
	var reading sync.WaitGroup
	reading.Go(func() { p.listen(messages) })
	t.Cleanup(func() {
		closeTab()
		reading.Wait()
		if len(p.problems) > 0 {
			t.Errorf("the page had problems:\n%s", strings.Join(p.problems, "\n"))
		}
	})
	p.run(chromedp.Navigate(url))
	return p
}

// listen collects what went wrong inside of the page.
func (p *page) listen(messages iter.Seq2[chromedp.ConsoleMessage, error]) {
	for m, err := range messages {
		if err != nil {
			return
		}
		if m.IsException() || m.Source == "security" {
			p.problems = append(p.problems, m.String())
		}
	}
}

func (p *page) run(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, stop := context.WithTimeout(p.ctx, patience)
	defer stop()
	if err := chromedp.Do(ctx, steps...); err != nil {
		p.t.Fatal(err)
	}
}

// eval gives the value of an expression in the page.
func eval[T any](p *page, expression string) T {
	p.t.Helper()
	ctx, stop := context.WithTimeout(p.ctx, patience)
	defer stop()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		p.t.Fatal(err)
	}
	return value
}

// until waits until a condition holds in the page.
func (p *page) until(condition string) {
	p.t.Helper()
	ctx, stop := context.WithTimeout(p.ctx, patience)
	defer stop()
	wait := `new Promise((done) => {
		const look = () => { if (` + condition + `) done(true); else setTimeout(look, 10); };
		look();
	})`
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[bool](wait, chromedp.EvalAwaitPromise)); err != nil {
		p.t.Fatalf("waiting for %s: %v\nthe page shows:\n%s", condition, err, eval[string](p, "document.body.innerText"))
	}
}

// shows waits until an element's text is there, spaces put together.
func (p *page) shows(selector, text string) {
	p.t.Helper()
	p.until(fmt.Sprintf(`[...document.querySelectorAll(%s)].some((e) => e.checkVisibility() && e.innerText.replace(/\s+/g, ' ').includes(%s))`,
		strconv.Quote(selector), strconv.Quote(text)))
}

// reads waits until the texts of all elements that are found are these.
func (p *page) reads(selector string, texts ...string) {
	p.t.Helper()
	want := make([]string, len(texts))
	for i, text := range texts {
		want[i] = strconv.Quote(text)
	}
	p.until(fmt.Sprintf(`JSON.stringify([...document.querySelectorAll(%s)].map((e) => e.innerText.trim())) === JSON.stringify([%s])`,
		strconv.Quote(selector), strings.Join(want, ",")))
}

// write types into the message and sends it.
func (p *page) write(text string) {
	p.t.Helper()
	p.run(chromedp.SendKeys(chromedp.CSS("#text"), text))
	p.enter(chromedp.ModifierNone)
	p.until(`document.querySelector('#text').value === ''`)
}

// enter presses the key as a keyboard does: what it would type is not typed if the
// page takes the key for itself.
func (p *page) enter(modifier chromedp.Modifier) {
	p.t.Helper()
	p.run(chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		key := map[string]any{
			"type": "keyDown", "key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r", "modifiers": int(modifier),
		}
		if err := tab.Call(ctx, "Input.dispatchKeyEvent", key, nil); err != nil {
			return err
		}
		key["type"] = "keyUp"
		delete(key, "text")
		return tab.Call(ctx, "Input.dispatchKeyEvent", key, nil)
	}))
}

func (p *page) click(selector string) {
	p.t.Helper()
	p.run(chromedp.Click(chromedp.CSS(selector)))
}

// script runs something in the page.
func (p *page) script(expression string) {
	p.t.Helper()
	p.run(chromedp.Evaluate[chromedp.Void](expression))
}

// press clicks the button with a text, when it is there.
func (p *page) press(text string) {
	p.t.Helper()
	p.until(fmt.Sprintf(`[...document.querySelectorAll('button')].some((b) => b.checkVisibility() && b.textContent === %s && (b.click(), true))`, strconv.Quote(text)))
}
