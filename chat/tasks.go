package chat

import (
	"context"
	"sync"

	tea "charm.land/bubbletea/v2"
)

// tasks are the goroutines that work for the program, so that it can wait for them.
type tasks struct {
	ctx context.Context //nolint:containedctx // it is the life of the program, which the library's commands are not given

	mu    sync.Mutex
	ended bool
	group sync.WaitGroup
}

// enter counts a task, unless the program has ended.
func (t *tasks) enter() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return false
	}
	t.group.Add(1)
	return true
}

// cmd makes a command of what takes time.
func (t *tasks) cmd(do func(ctx context.Context) tea.Msg) tea.Cmd {
	return func() tea.Msg {
		if !t.enter() {
			return nil
		}
		defer t.group.Done()
		return do(t.ctx)
	}
}

// start runs something in a goroutine of its own.
func (t *tasks) start(do func()) {
	if !t.enter() {
		return
	}
	go func() {
		defer t.group.Done()
		do()
	}()
}

// end waits for all of them. Their context has to have ended.
func (t *tasks) end() {
	t.mu.Lock()
	t.ended = true
	t.mu.Unlock()
	t.group.Wait()
}
