package main

import (
	"context"
	"errors"
	"sync"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/config"
	"github.com/parley-run/parley/route"
	"github.com/parley-run/parley/turn"
)

// setup is a configuration made ready: agents, models, tools, budgets and routes.
// It does not change; a reload makes another. Who uses it holds it meanwhile, so
// that a turn ends with what it began with.
type setup struct {
	loaded *config.Loaded
	models *models
	agents map[string]*agent
	router *route.Router
	ledger *turn.Ledger // nil: nothing is limited

	mu      sync.Mutex
	users   int
	retired bool
	closers []func() error // called once nobody uses it any more
}

// newSetup makes a configuration ready. What it says and cannot be is
// [parley.CodeInvalid], and so is a model without its credential.
func (in *installation) newSetup(ctx context.Context, loaded *config.Loaded) (_ *setup, err error) {
	s := &setup{loaded: loaded, agents: map[string]*agent{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.retire())
		}
	}()
	s.models = &models{in: in, cfg: &loaded.Config, made: map[string]parley.Model{}}
	if s.router, err = route.New(loaded.Config.Route()); err != nil {
		return nil, err
	}
	for name, cfg := range loaded.Config.Agents {
		ag, err := in.newAgent(ctx, s, name, cfg)
		if err != nil {
			return nil, err
		}
		s.agents[name] = ag
	}
	return s, nil
}

// use gives the present setup, and what to call once its user is done.
func (in *installation) use() (s *setup, release func()) {
	in.mu.Lock()
	defer in.mu.Unlock()
	s = in.present
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users++
	return s, sync.OnceFunc(func() {
		if err := s.leave(); err != nil {
			in.options.Log.Warn("close what an agent had open", "error", err)
		}
	})
}

func (s *setup) leave() error {
	s.mu.Lock()
	s.users--
	s.mu.Unlock()
	return s.free()
}

// retire says that nobody begins to use it any more.
func (s *setup) retire() error {
	s.mu.Lock()
	s.retired = true
	s.mu.Unlock()
	return s.free()
}

// free closes what nobody uses any more.
func (s *setup) free() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.retired || s.users > 0 {
		return nil
	}
	var err error
	for _, closeFunc := range s.closers {
		err = errors.Join(err, closeFunc())
	}
	s.closers = nil
	return err
}

// current gives the present setup to look at, without what has to be closed.
func (in *installation) current() *setup {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.present
}

// config gives the present configuration.
func (in *installation) config() *config.Config { return &in.current().loaded.Config }

// router gives where messages go.
func (in *installation) router() *route.Router { return in.current().router }
