package prompt

import (
	"context"
	"fmt"
	"strings"
	"text/template"
	"time"
	"unicode/utf8"

	"github.com/parley-run/parley"
)

// Config says what prompts are made of. The zero value is the default.
type Config struct {
	// AgentFunc gives an agent's own text, which begins the system prompt. It is
	// called once for each prompt, by many goroutines. Nil: no agent has one.
	AgentFunc func(name string) (text string, err error)
	// Zone is where the time is told. Nil: UTC.
	Zone *time.Location
	// IDKey is the key that redacts ids; see [NewRedactor]. Nil: no id is shown.
	IDKey []byte
	// SafePlatforms are the platforms whose ids are redacted. Nil: [SafePlatforms].
	SafePlatforms []string
}

// Prompter writes prompts. It is for any number of goroutines.
type Prompter struct {
	cfg    Config
	ids    *Redactor // nil: none are shown
	source Template
	parsed *template.Template
}

var _ parley.Prompter = (*Prompter)(nil)

// New makes a Prompter. A configuration that cannot be is [parley.CodeInvalid].
func New(cfg Config) (*Prompter, error) {
	p := &Prompter{cfg: cfg, source: templates[len(templates)-1]}
	if p.cfg.Zone == nil {
		p.cfg.Zone = time.UTC
	}
	if p.cfg.AgentFunc == nil {
		p.cfg.AgentFunc = func(string) (string, error) { return "", nil }
	}
	var err error
	if cfg.IDKey != nil {
		if p.ids, err = NewRedactor(cfg.IDKey, cfg.SafePlatforms); err != nil {
			return nil, err
		}
	}
	if p.parsed, err = template.New(p.source.ID).Option("missingkey=error").Parse(p.source.Text); err != nil {
		return nil, fmt.Errorf("read template %s: %w", p.source.ID, err)
	}
	return p, nil
}

// Prompt writes what a turn tells the model. The system prompt depends on the
// agent's text, the session's source and its type, and on nothing else. The
// preface has at most about 90 KB, whatever people and notices bring.
//
// Errors are those of [Config.AgentFunc]; a text that is not UTF-8 is
// [parley.CodeInvalid].
func (p *Prompter) Prompt(_ context.Context, c parley.PromptContext) (parley.Prompt, error) {
	agent, err := p.cfg.AgentFunc(c.Session.Agent.Name)
	if err != nil {
		return parley.Prompt{}, fmt.Errorf("get the text of agent %q: %w", c.Session.Agent.Name, err)
	}
	if !utf8.ValidString(agent) {
		return parley.Prompt{}, parley.Errorf(parley.CodeInvalid, "the text of agent %q is not valid UTF-8; store it as UTF-8", c.Session.Agent.Name)
	}
	system, err := p.render("system", p.lasting(c.Session, agent))
	if err != nil {
		return parley.Prompt{}, err
	}
	preface, err := p.render("preface", p.passing(c))
	if err != nil {
		return parley.Prompt{}, err
	}
	return parley.Prompt{System: system, Preface: preface, Ref: p.source.Ref(agent)}, nil
}

func (p *Prompter) render(name string, data any) (string, error) {
	var b strings.Builder
	if err := p.parsed.ExecuteTemplate(&b, name, data); err != nil {
		return "", fmt.Errorf("write the %s of template %s: %w", name, p.source.ID, err)
	}
	return b.String(), nil
}
