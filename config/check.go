package config

import (
	"fmt"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-run/parley/route"
)

// checker looks for what is wrong between values that are right for themselves.
type checker struct {
	*decoder
	c *Config
}

// check finds contradictions. It looks at what could be decoded, also if
// something else could not.
func check(c *Config, d *decoder, options Options) {
	k := checker{d, c}
	k.routes()
	k.agents(options)
	k.providers()
	k.channels()
	k.serve()
}

// place gives where a path was written: its name, if it is an entry of a map, else
// its value; or what holds it; or the top.
func (k checker) place(path []string) Place {
	for n := len(path); n >= 0; n-- {
		if p, ok := k.names[pathKey(path[:n])]; ok {
			return p
		}
		if p, ok := k.places[pathKey(path[:n])]; ok {
			return p
		}
	}
	return Place{Line: 1, Column: 1}
}

func (k checker) wrong(path []string, format string, args ...any) {
	k.fail(k.place(path), "%s: %s", pathText(path), fmt.Sprintf(format, args...))
}

func (k checker) warn(path []string, format string, args ...any) {
	k.warnings = append(k.warnings, Problem{k.place(path), harmless(pathText(path) + ": " + fmt.Sprintf(format, args...))})
}

// routes lets the package that routes judge what it is given. Of a route that
// could be read in part only, nobody knows what it matches.
func (k checker) routes() {
	cfg := k.c.Route()
	partial := func(path ...string) bool {
		_, ok := k.partial[pathKey(path)]
		return ok
	}
	for i := range cfg.Routes {
		if partial("routes", strconv.Itoa(i)) {
			cfg.Routes[i].Match = route.Match{Channel: "\x00"} // no message has it
		}
	}
	for _, p := range route.Check(cfg) {
		if len(p.Path) == 3 && p.Path[2] == "match" && partial(p.Path[:2]...) {
			continue
		}
		if p.Warning {
			k.warn(p.Path, "%s", p.Message)
		} else {
			k.wrong(p.Path, "%s", p.Message)
		}
	}
}

// scripted is the offline model, and its provider.
const scripted = "scripted"

// builtIn are the providers that need no entry.
var builtIn = []string{"anthropic", "openai", scripted}

func (k checker) agents(options Options) {
	known := append(slices.Clone(builtIn), slices.Sorted(maps.Keys(k.c.Providers))...)
	for _, model := range slices.Sorted(maps.Keys(k.c.Models)) {
		at := []string{"models", model}
		k.provider(at, model, known)
		if k.c.Models[model].Script != "" && !strings.HasPrefix(model, scripted+"/") {
			k.wrong(child(at, "script"), "only scripted models have a script; call it scripted/NAME")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(k.c.Agents)) {
		a, at := k.c.Agents[name], []string{"agents", name}
		k.chain(at, a, known, options.PricedFunc)
		for i, r := range a.Policy {
			if len(r.Roles) > 0 && len(r.Users) > 0 {
				k.wrong(child(at, "policy", strconv.Itoa(i)), "a rule is about roles or about users, not both; make it two rules")
			}
		}
		for i, command := range a.AllowedCommands {
			if len(command) == 0 || command[0] == "" {
				k.wrong(child(at, "allowed_commands", strconv.Itoa(i)), "it allows every command, as it is empty; name one, such as [git, status]")
			}
		}
		k.reach(at, a)
	}
}

// reach checks where an agent's tools work.
func (k checker) reach(at []string, a Agent) {
	if a.FSScope == "project" && a.Dir == "" {
		k.wrong(child(at, "fs_scope"), "which project? give its folder as %s", pathText(child(at, "dir")))
	}
	for _, host := range slices.Sorted(maps.Keys(a.HTTP.Credentials)) {
		c, here := a.HTTP.Credentials[host], child(at, "http", "credentials", host)
		if c.Key.IsZero() {
			k.wrong(here, "its key is missing; give env:NAME, file:PATH or keyring:NAME")
		}
		if c.Format != "" && (strings.Count(c.Format, "%s") != 1 || strings.Count(c.Format, "%") != 1) {
			k.wrong(child(here, "format"), "it must have one %%s, where the secret goes")
		}
	}
	for _, server := range slices.Sorted(maps.Keys(a.MCP)) {
		m, here := a.MCP[server], child(at, "mcp", server)
		switch {
		case (len(m.Command) > 0) == (m.URL != ""):
			k.wrong(here, "give a command or a url, and not both")
		case m.URL != "" && len(m.Env) > 0:
			k.wrong(child(here, "env"), "variables are for a command; a url has headers")
		case m.URL == "" && len(m.Headers)+len(m.Allow) > 0:
			k.wrong(here, "headers and allow are for a url; a command has env")
		}
	}
}

// chain checks an agent's models.
func (k checker) chain(at []string, a Agent, known []string, priced func(string) bool) {
	if a.Model == "" && len(a.Fallback) > 0 {
		k.wrong(child(at, "fallback"), "there is no model that it could be the fallback of; give %s", pathText(child(at, "model")))
	}
	seen := map[string]bool{}
	for i, model := range a.Models() {
		path := child(at, "model")
		if a.Model == "" || i > 0 {
			if a.Model != "" {
				i--
			}
			path = child(at, "fallback", strconv.Itoa(i))
		}
		if seen[model] {
			k.wrong(path, "the model %s stands in the chain before, so it would be tried in a circle; remove it", quote(model))
			continue
		}
		seen[model] = true
		if !k.provider(path, model, known) {
			continue
		}
		free := model == scripted || strings.HasPrefix(model, scripted+"/")
		if k.c.Budget.Set() && !free && !k.c.Models[model].Priced() && (priced == nil || !priced(model)) {
			k.wrong(path, "there is a budget, but the price of the model %s is not known; give models.%s.input_microusd_per_m and output_microusd_per_m, or remove the budget", quote(model), model)
		}
	}
}

// provider reports whether there is a provider for a model.
func (k checker) provider(path []string, model string, known []string) bool {
	name, _, _ := strings.Cut(model, "/")
	if slices.Contains(known, name) {
		return true
	}
	hint := "add it to providers"
	if near := nearest(name, known); near != "" {
		hint = "did you mean " + near + "?"
	}
	k.wrong(path, "the provider %s is not known; %s", quote(name), hint)
	return false
}

func (k checker) providers() {
	for _, name := range slices.Sorted(maps.Keys(k.c.Providers)) {
		p, at := k.c.Providers[name], []string{"providers", name}
		if p.Kind == "" && !slices.Contains(builtIn[:2], name) {
			k.wrong(at, "its kind is missing; give anthropic or openai, whose protocol it speaks")
		}
		if name == scripted {
			k.wrong(at, "that is the offline model's own; choose another name")
		}
		if u, err := url.Parse(p.BaseURL); err == nil && u.Scheme == "http" && !loopback(u.Hostname()) && !p.Key.IsZero() {
			k.warn(child(at, "base_url"), "the key is sent over http, which others can read; use https")
		}
	}
}

// adapters are the chat platforms that a channel can be.
var adapters = []string{"telegram", "discord", "slack"}

// channels checks the names of channels. One without an adapter may still be
// brought in by a program, over the API, and have a policy of its own.
func (k checker) channels() {
	for _, name := range slices.Sorted(maps.Keys(k.c.Channels)) {
		at, ch := []string{"channels", name}, k.c.Channels[name]
		k.bot(at, ch.Bot)
		for _, account := range slices.Sorted(maps.Keys(ch.Accounts)) {
			here := child(at, "accounts", account)
			if k.bot(here, ch.Accounts[account]); ch.Accounts[account].Token.IsZero() {
				k.wrong(here, "its token is missing; give env:NAME, file:PATH or keyring:NAME")
			}
		}
		if slices.Contains(adapters, name) {
			continue
		}
		near := nearest(name, adapters)
		switch {
		case near != "":
			k.wrong(at, "there is no such channel; did you mean %s?", near)
		case len(ch.Bots()) > 0:
			k.wrong(at, "there is no such channel that a token could be for; 'parley channels add --help' says which there are")
		default:
			k.warn(at, "there is no such channel; what is said here holds if a program brings in messages under this name")
		}
	}
}

// bot checks how messages come to a bot.
func (k checker) bot(at []string, b Bot) {
	switch {
	case !b.Webhook:
	case b.Token.IsZero():
		k.warn(child(at, "webhook"), "it has no effect without a token")
	case !strings.HasPrefix(k.c.Serve.PublicURL, "https://"):
		k.wrong(child(at, "webhook"), "where would the platform bring messages? give serve.public_url, an address that starts with https://")
	}
}

func (k checker) serve() {
	s := k.c.Serve
	if s.TLSCert == "" && s.TLSKey != "" {
		k.warn([]string{"serve", "tls_key"}, "it has no effect without serve.tls_cert")
	}
	host, _, err := net.SplitHostPort(s.Listen)
	if err != nil || loopback(host) || len(s.TrustedProxies) > 0 || s.TLSCert != "" {
		return
	}
	k.warn([]string{"serve", "listen"}, "%s can be reached by others without encryption; the daemon refuses that unless it has serve.tls_cert, stands behind one of serve.trusted_proxies, or is told --insecure", quote(s.Listen))
}

// loopback reports whether only this machine reaches a host.
func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.IsLoopback()
}
