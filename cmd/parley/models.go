package main

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"
	"sync"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/config"
	"github.com/parley-run/parley/model/anthropic"
	"github.com/parley-run/parley/model/openai"
	"github.com/parley-run/parley/model/scripted"
	"github.com/parley-run/parley/secret"
)

// The providers that need no entry in the configuration, and the variables with
// their keys.
const (
	providerAnthropic = "anthropic"
	providerOpenAI    = "openai"
	keyAnthropic      = "ANTHROPIC_API_KEY"
	keyOpenAI         = "OPENAI_API_KEY"
	baseOpenAI        = "OPENAI_BASE_URL"
)

// What answers where no model is configured, and a key is there.
const (
	defaultAnthropic = providerAnthropic + "/claude-sonnet-5-5"
	defaultOpenAI    = providerOpenAI + "/gpt-5.4"
	offlineModel     = scripted.Provider + "/" + scripted.DemoName
)

// models makes the models of a configuration, each once.
type models struct {
	in  *installation
	cfg *config.Config

	mu   sync.Mutex
	made map[string]parley.Model
}

// fallbackName gives the model of agents for which none is configured: one whose
// key is in the environment, else the offline one.
func (m *models) fallbackName() string {
	lookup := m.in.sources.LookupEnvFunc
	if _, ok := lookup(keyAnthropic); ok {
		return defaultAnthropic
	}
	if _, ok := lookup(keyOpenAI); ok {
		return defaultOpenAI
	}
	return offlineModel
}

// configured gives the chain of an agent, which has at least one model.
func (m *models) configured(ag *agent) []string {
	if len(ag.frozen.Models) > 0 {
		return ag.frozen.Models
	}
	return []string{m.fallbackName()}
}

// check says what is wrong with the models of an agent, as far as that can be told
// without asking a provider: one that cannot be made, a credential that is not there,
// a price that a budget needs.
func (m *models) check(ctx context.Context, ag *agent) error {
	for i, name := range m.configured(ag) {
		key := "agents." + ag.name + ".model"
		if i > 0 {
			key = "agents." + ag.name + ".fallback"
		}
		model, err := m.get(name)
		if p, ok := m.provider(name); err == nil && ok && !p.key.IsZero() {
			_, err = p.key.Resolve(ctx, m.in.sources)
		}
		if err == nil && m.cfg.Budget.Set() && model.Info().Price == nil {
			err = parley.Errorf(parley.CodeInvalid, "there is a budget, but its price is not known; give models.%s.input_microusd_per_m and output_microusd_per_m", name)
		}
		if err != nil {
			return &parley.Error{Code: parley.CodeInvalid, Message: key + " is " + name + ", which cannot be used", Err: err}
		}
	}
	return nil
}

// get gives a model by its name.
func (m *models) get(name string) (parley.Model, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if model := m.made[name]; model != nil {
		return model, nil
	}
	model, err := m.make(name)
	if err != nil {
		return nil, err
	}
	if wrap := m.in.options.ModelFunc; wrap != nil {
		model = wrap(model)
	}
	m.made[name] = model
	return model, nil
}

func (m *models) make(name string) (parley.Model, error) {
	of, model, _ := strings.Cut(name, "/")
	cfg := m.cfg.Models[name]
	if of == scripted.Provider {
		return m.script(model, cfg)
	}
	p, ok := m.provider(name)
	if !ok {
		return nil, parley.Errorf(parley.CodeInvalid, "the provider %q is not known; add it to providers", of)
	}
	if p.key.IsZero() && p.base == "" {
		return nil, parley.Errorf(parley.CodeInvalid, "the provider %s has no key; give providers.%s.key", of, of)
	}
	info := parley.ModelInfo{Context: cfg.Context, MaxOutput: cfg.MaxOutput, Price: price(cfg)}
	if p.kind == providerAnthropic {
		return anthropic.New(anthropic.Config{
			Model: model, Provider: of, BaseURL: p.base, KeyFunc: m.keyFunc(p.key), Info: info, Thinking: cfg.Thinking, Effort: cfg.Effort,
		})
	}
	return openai.New(openai.Config{
		Model: model, Provider: of, BaseURL: p.base, KeyFunc: m.keyFunc(p.key), Info: info,
		ReasoningEffort: cfg.Effort, NoImages: cfg.NoImages, NoUsage: cfg.NoUsage,
	})
}

// script makes a scripted model: the one that is there, or one from a file.
func (m *models) script(name string, cfg config.Model) (parley.Model, error) {
	c := scripted.Config{Name: cmp.Or(name, scripted.DemoName), Context: cfg.Context, MaxOutput: cfg.MaxOutput}
	switch {
	case cfg.Script != "":
		path := cfg.Script
		if !filepath.IsAbs(path) {
			path = filepath.Join(m.in.dir, path)
		}
		var err error
		if c.Script, err = scripted.Load(path); err != nil {
			return nil, err
		}
	case c.Name != scripted.DemoName:
		return nil, parley.Errorf(parley.CodeInvalid, "there is no script for the model scripted/%s; give models.scripted/%s.script, or use scripted/%s", name, name, scripted.DemoName)
	}
	return scripted.New(c)
}

// price gives the configured price. What caches cost is not configured: what is read
// from one counts as other input, and what is written a quarter more, as the dearest
// provider has it.
func price(cfg config.Model) *parley.Price {
	if !cfg.Priced() {
		return nil
	}
	in := *cfg.InputMicroUSDPerM
	return &parley.Price{Input: in, Output: *cfg.OutputMicroUSDPerM, CacheRead: in, CacheWrite: in + in/4}
}

// provider is where models are.
type provider struct {
	kind, base string
	key        secret.Ref // zero: none is sent
}

// provider gives the provider of a model. Scripted ones have none.
func (m *models) provider(model string) (provider, bool) {
	name, _, _ := strings.Cut(model, "/")
	cfg, configured := m.cfg.Providers[name]
	p := provider{kind: cfg.Kind, base: cfg.BaseURL, key: cfg.Key}
	var variable string
	switch name {
	case providerAnthropic:
		variable = keyAnthropic
	case providerOpenAI:
		variable = keyOpenAI
		if base, ok := m.in.sources.LookupEnvFunc(baseOpenAI); ok && p.base == "" {
			p.base = base
		}
	default:
		return p, configured
	}
	p.kind = cmp.Or(p.kind, name)
	// A server of one's own may want no key.
	if _, set := m.in.sources.LookupEnvFunc(variable); p.key.IsZero() && (set || p.base == "") {
		p.key, _ = secret.Parse("env:" + variable) // it is one
	}
	return p, true
}

// keyFunc gives the key for each request, at the last moment; nil: there is none.
func (m *models) keyFunc(ref secret.Ref) func(context.Context) (string, error) {
	if ref.IsZero() {
		return nil
	}
	return func(ctx context.Context) (string, error) {
		v, err := ref.Resolve(ctx, m.in.sources)
		return v.Reveal(), err
	}
}

// priced reports whether the price of a model is known without a configuration.
func priced(model string) bool {
	of, name, _ := strings.Cut(model, "/")
	var info parley.ModelInfo
	switch of {
	case providerAnthropic:
		info, _ = anthropic.Known(name)
	case providerOpenAI:
		info, _ = openai.Known(name)
	}
	return info.Price != nil
}

// offline reports whether the agents answer from a script because nothing else is
// configured.
func (in *installation) offline() bool {
	s := in.current()
	for _, ag := range s.agents {
		if len(ag.frozen.Models) == 0 && s.models.fallbackName() == offlineModel {
			return true
		}
	}
	return false
}
