package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"sync"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/config"
	"github.com/parley-run/parley/tool"
	"github.com/parley-run/parley/tool/mcp"
)

// servers are the MCP servers of a session. They are kept between its turns.
type servers struct{ list []*mcp.Server }

func (s *servers) close() {
	for _, server := range s.list {
		_ = server.Close() // it has nothing to say by then
	}
}

// serverTools gives the tools of the servers that a session has, and what to call
// once the turn is done with them. A server that cannot be asked is left out, which
// the log is told: it fails its own tools, and not the turn.
func (in *installation) serverTools(ctx context.Context, ag *agent, kept frozen, id parley.SessionID) ([]tool.Group, func(), error) {
	wanted := maps.Clone(ag.cfg.MCP)
	maps.DeleteFunc(wanted, func(name string, _ config.MCP) bool { return !slices.Contains(kept.Tools, name) })
	version, err := versionOf(wanted)
	if err != nil {
		return nil, nil, err
	}
	s, release, err := in.servers.Use(ctx, id, version, func(context.Context) (*servers, error) { return in.newServers(ag.name, wanted) })
	if err != nil {
		return nil, nil, err
	}
	groups := make([]tool.Group, len(s.list))
	failures := make([]error, len(s.list))
	var asking sync.WaitGroup
	for i, server := range s.list {
		asking.Go(func() { groups[i], failures[i] = server.Group(ctx) })
	}
	asking.Wait()
	if ctx.Err() != nil {
		release()
		return nil, nil, context.Cause(ctx)
	}
	var there []tool.Group
	for i, err := range failures {
		if err != nil {
			in.options.Log.Warn("a server has no tools for a turn", "agent", ag.name, "server", s.list[i].Name(), "session", id, "error", err)
			continue
		}
		there = append(there, groups[i])
	}
	return there, release, nil
}

// versionOf names a configuration of servers.
func versionOf(wanted map[string]config.MCP) (string, error) {
	data, err := json.Marshal(wanted)
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8]), err
}

// newServers makes servers. None of them is started yet.
func (in *installation) newServers(agent string, wanted map[string]config.MCP) (*servers, error) {
	s := &servers{}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		server, err := mcp.New(in.serverConfig(agent, name, wanted[name]))
		if err != nil {
			s.close()
			return nil, err
		}
		s.list = append(s.list, server)
	}
	return s, nil
}

func (in *installation) serverConfig(agent, name string, c config.MCP) mcp.Config {
	return mcp.Config{
		Name: name, Command: c.Command, Dir: in.dir, Env: in.settings(c.Env), URL: c.URL, Headers: in.settings(c.Headers),
		Guard: serverGuard(c), Scrubber: in.sources.Scrubber, KeepFunc: in.keep,
		WarnFunc: func(text string) { in.options.Log.Warn(text, "agent", agent) },
	}
}

func (in *installation) settings(from map[string]config.Setting) map[string]mcp.Setting {
	to := map[string]mcp.Setting{}
	for name, s := range from {
		to[name] = mcp.Setting{Text: s.Text, SecretFunc: in.secretFunc(s.Secret)}
	}
	return to
}

// serverGuard lets a server be reached where the configuration says it is: an address
// in numbers is meant as it stands, while a name may lead anywhere.
func serverGuard(c config.MCP) *tool.Guard {
	allow := networks(c.Allow)
	ports := []uint16{80, 443}
	if u, err := url.Parse(c.URL); err == nil {
		if addr, err := netip.ParseAddr(u.Hostname()); err == nil {
			allow = append(allow, netip.PrefixFrom(addr, addr.BitLen()))
		}
		if port, err := strconv.ParseUint(u.Port(), 10, 16); err == nil {
			ports = append(ports, uint16(port))
		}
	}
	return tool.NewGuard(tool.GuardConfig{Allow: allow, Ports: ports})
}

// checkServers says what is wrong with the servers of an agent, without starting one.
func (in *installation) checkServers(ag *agent) error {
	s, err := in.newServers(ag.name, ag.cfg.MCP)
	if err != nil {
		return err
	}
	s.close()
	return nil
}
