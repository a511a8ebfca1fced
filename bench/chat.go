package bench

import (
	"context"
	"os"
	"path/filepath"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/pty"
)

// Chat measures the terminal program as people see it: in a process of its own, on a
// terminal, from the key or the start to what is drawn. A program that does not show what
// it should fails the run with [parley.CodeInternal]. A system that has no terminals to
// run it in gives [parley.CodeUnavailable]. For the rest it is as [Store].
func Chat(ctx context.Context, cfg Config) (Report, error) {
	switch {
	case cfg.ServeFunc == nil || cfg.ProgramFunc == nil:
		return Report{}, parley.Errorf(parley.CodeInvalid, "a run of the terminal program needs ServeFunc and ProgramFunc")
	case !pty.Supported:
		return Report{}, parley.Errorf(parley.CodeUnavailable, "the terminal program is measured on Linux alone")
	}
	cfg.Size.Few, cfg.Size.Deep = 1, 1 // neither is compared with
	return measureAll(ctx, cfg, chatMeasures(), (*run).chat)
}

// chat takes the figures of [Chat].
func (r *run) chat(ctx context.Context) error {
	return r.steps(ctx, []step{
		{r.chatKeys, []string{ChatKey}},
		{r.chatStart, []string{ChatStart}},
	})
}

// writeFiles writes files into a data folder.
func writeFiles(dir string, files map[string]string) error {
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}
