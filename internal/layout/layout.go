// Package layout holds the table of the module's packages and the rules of who
// may import whom, as data, and checks the source tree against it.
//
// The table is the one source of three texts: the import rules of the linter,
// the layer table of AGENTS.md and the one of docs/architecture.md. A test of
// this package compares them; go generate writes them anew.
//
// It is for the module's own tests. It imports no other package of the module
// and starts no goroutine.
package layout

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Module is the path of the module.
const Module = "github.com/parley-run/parley"

// Root is the path of the root package in a [Layer].
const Root = "."

// Layer is one row of the table.
type Layer struct {
	// Path is the package's folder; Root is the root package, and x/* is every
	// package directly below x.
	Path string
	// Holds says what lives there.
	Holds string
	// Imports are the packages of the module it may import, as in Path.
	Imports []string
	// Any allows every package but commands.
	Any bool
	// Core packages are kept free of foreign code: what they depend on,
	// directly or not, is in Modules, where a trailing /* stands for anything.
	Core    bool
	Modules []string
	// Planned packages do not exist yet.
	Planned bool
}

// Table is every package of the module, from the bottom to the top.
var Table = []Layer{
	{Path: Root, Holds: "the domain as types; what a store, a runner and the seams around them promise; error codes", Core: true},
	{Path: "internal/disk", Holds: "files that survive a crash: whole writes, synced names and data, writes past the system's memory, locks, owners"},
	{Path: "internal/wire", Holds: "values as bytes that a later version can still read"},

	{Path: "route", Holds: "from an inbound to agent, scope, key and aliases; explains itself", Imports: []string{Root}},
	{Path: "group", Holds: "who triggers a turn in a group; name prefixes; silence markers", Imports: []string{Root}},
	{Path: "lifecycle", Holds: "reset, resume, expiry and retention as pure decisions", Imports: []string{Root}},

	{Path: "sqlite", Holds: "the store in one SQLite file", Imports: []string{Root, "internal/disk", "internal/wire"}, Core: true, Modules: []string{"github.com/ncruces/*", "golang.org/x/sys", "golang.org/x/crypto", "lukechampine.com/adiantum"}},
	{Path: "postgres", Holds: "the store in PostgreSQL", Imports: []string{Root}, Planned: true},
	{Path: "search", Holds: "the full-text index and its queries", Imports: []string{Root}, Planned: true},
	{Path: "storetest", Holds: "the suite that every store passes", Imports: []string{Root}},
	{Path: "feed", Holds: "live fan-out, replay by position, slow readers", Imports: []string{Root}, Core: true},
	{Path: "blob", Holds: "media, named by their content", Imports: []string{Root, "internal/disk"}},
	{Path: "keep", Holds: "looking after a data folder: doctor, encryption switch, backup, restore", Imports: []string{Root, "internal/disk", "blob"}},
	{Path: "secret", Holds: "references to secrets; keys of encrypted stores; scrubbing", Imports: []string{Root, "internal/disk"}},

	{Path: "turn", Holds: "the default runner: model, tools, fallback, limits", Imports: []string{Root}, Core: true, Modules: []string{"github.com/tiktoken-go/tokenizer", "github.com/dlclark/regexp2/*"}},
	{Path: "model/*", Holds: "one leaf per model provider", Imports: []string{Root}},
	{Path: "tool", Holds: "the tool registry, its policy and guards", Imports: []string{Root, "secret"}},
	{Path: "tool/*", Holds: "one leaf per kind of tool", Imports: []string{Root, "secret", "tool"}},
	{Path: "prompt", Holds: "system prompt, session context, named templates", Imports: []string{Root, "group"}},
	{Path: "memory", Holds: "checkpoints, compaction, what is remembered", Imports: []string{Root}, Planned: true},
	{Path: "access", Holds: "users, identities, roles, tokens: who may do what", Imports: []string{Root}},

	{Path: "command", Holds: "slash commands: grammar, table, words", Imports: []string{Root}},
	{Path: "engine", Holds: "the lanes: every goroutine that works for a session", Imports: []string{Root, "route", "group", "lifecycle", "access", "command"}, Core: true},
	{Path: "schedule", Holds: "automations: what is due, made into inputs", Imports: []string{Root}, Planned: true},
	{Path: "channel", Holds: "what chat adapters share; the outbox worker", Imports: []string{Root, "group"}},
	{Path: "channel/*", Holds: "one leaf per chat platform", Imports: []string{Root, "group", "channel"}},
	{
		Path: "intake", Holds: "the way in for chat platforms: from what arrived to an admitted input",
		Imports: []string{Root, "access", "route", "engine", "group", "command", "channel"},
	},
	{Path: "export", Holds: "sessions out, in other formats", Imports: []string{Root, "route"}, Planned: true},
	{Path: "importer", Holds: "sessions in, from other systems", Imports: []string{Root, "route"}, Planned: true},

	{Path: "chat/markdown", Holds: "Markdown that grows, as styled lines for a terminal"},

	{Path: "client", Holds: "the Go client of the HTTP API", Imports: []string{Root}},
	{
		Path: "httpapi", Holds: "the HTTP API and its event streams",
		Imports: []string{Root, "engine", "access", "route", "feed", "search", "blob", "schedule", "memory", "export"},
	},
	{Path: "web", Holds: "the web interface, embedded"},
	{Path: "chat/editor", Holds: "the input of the terminal program: lines, pastes, history, completion"},
	{Path: "chat", Holds: "the terminal program: a conversation on the whole screen", Imports: []string{Root, "command", "chat/markdown", "chat/editor"}},
	{Path: "metric", Holds: "counters for Prometheus, as decorators", Imports: []string{Root}},
	{Path: "trace", Holds: "OpenTelemetry traces of turns, as decorators", Imports: []string{Root}},
	{Path: "config", Holds: "the configuration file", Imports: []string{Root, "route", "lifecycle", "secret"}},

	{Path: "bench", Holds: "what `parley bench` measures", Any: true},
	{Path: "parleytest", Holds: "for the tests of programs that embed Parley", Any: true},
	{Path: "cmd/parley", Holds: "the commands; the only place that names concrete stores, providers and channels", Any: true},

	{Path: "internal/faultvfs", Holds: "a file system for tests of stores: power cuts, failing calls"},
	{Path: "internal/layout", Holds: "this table, and the test that holds it"},
	{Path: "internal/vectors", Holds: "reads cases that tests have as data"},
	{Path: "internal/modelserver", Holds: "providers of models on loopback, for tests"},
	{Path: "internal/soak", Holds: "how much a random test does, and from which seed; what may be skipped"},
	{Path: "internal/terminal", Holds: "a real terminal for tests: keys in, screen out", Imports: []string{"internal/soak"}},
	{Path: "internal/pty", Holds: "a pseudo terminal, for measuring programs that draw"},
	{Path: "internal/termsvg", Holds: "the screen of a terminal as an SVG picture, for documentation"},
	{Path: "internal/telegramserver", Holds: "Telegram's Bot API on loopback, for tests"},
}

// Package is one package of the source tree, as the check sees it.
type Package struct {
	Path        string   // its folder, Root for the root package
	Name        string   // as its package clause says
	Doc         string   // its doc comment
	Imports     []string // import paths of its files, on any platform
	TestImports []string // import paths of its test files
	Modules     []string // the foreign modules it depends on, directly or not
}

// Check compares the packages with the table and gives one line for each thing
// that is wrong, sorted.
func Check(table []Layer, packages []Package) []string {
	var wrong []string
	found := make(map[string]bool)
	for _, p := range packages {
		layer, ok := layerOf(table, p.Path)
		if !ok {
			wrong = append(wrong, fmt.Sprintf("%s: is not in the table of packages", p.Path))
			continue
		}
		found[layer.Path] = true
		wrong = append(wrong, checkDoc(p)...)
		wrong = append(wrong, checkImports(layer, p)...)
		wrong = append(wrong, checkModules(layer, p)...)
	}
	for _, layer := range table {
		switch {
		case found[layer.Path] && layer.Planned:
			wrong = append(wrong, fmt.Sprintf("%s: exists, but the table says that it is planned", layer.Path))
		case !found[layer.Path] && !layer.Planned:
			wrong = append(wrong, fmt.Sprintf("%s: is in the table, but does not exist", layer.Path))
		}
	}
	slices.Sort(wrong)
	return wrong
}

// layerOf finds the row of a package; an exact one comes before a pattern.
func layerOf(table []Layer, folder string) (Layer, bool) {
	for _, exact := range []bool{true, false} {
		for _, layer := range table {
			if exact && layer.Path == folder || !exact && matches(layer.Path, folder) {
				return layer, true
			}
		}
	}
	return Layer{}, false
}

// matches reports whether a path of the table stands for a folder.
func matches(pattern, folder string) bool {
	if parent, ok := strings.CutSuffix(pattern, "/*"); ok {
		return path.Dir(folder) == parent
	}
	return pattern == folder
}

func checkDoc(p Package) []string {
	want := "Package " + p.Name + " "
	if p.Name == "main" {
		want = "Command " + path.Base(p.Path) + " "
	}
	if strings.HasPrefix(p.Doc, want) {
		return nil
	}
	return []string{fmt.Sprintf("%s: needs a doc comment that starts with %q", p.Path, want)}
}

func checkImports(layer Layer, p Package) []string {
	var wrong []string
	for _, imp := range p.Imports {
		folder, ours := folderOf(imp)
		switch {
		case !ours:
			if p.Path == Root && strings.Contains(firstElement(imp), ".") {
				wrong = append(wrong, fmt.Sprintf("%s: imports %s; the root package takes only the standard library", p.Path, imp))
			}
		case commandOf(folder) != "" && commandOf(folder) != commandOf(p.Path):
			wrong = append(wrong, fmt.Sprintf("%s: imports the command %s", p.Path, folder))
		case !layer.Any && !slices.ContainsFunc(layer.Imports, func(allowed string) bool { return matches(allowed, folder) }):
			wrong = append(wrong, fmt.Sprintf("%s: imports %s, which its layer does not allow", p.Path, folder))
		}
	}
	for _, imp := range p.TestImports {
		if folder, ours := folderOf(imp); ours && commandOf(folder) != "" && commandOf(folder) != commandOf(p.Path) {
			wrong = append(wrong, fmt.Sprintf("%s: its tests import the command %s", p.Path, folder))
		}
	}
	return wrong
}

func checkModules(layer Layer, p Package) []string {
	if !layer.Core {
		return nil
	}
	var wrong []string
	for _, module := range p.Modules {
		if !slices.ContainsFunc(layer.Modules, func(allowed string) bool {
			if prefix, ok := strings.CutSuffix(allowed, "*"); ok {
				return strings.HasPrefix(module, prefix)
			}
			return module == allowed
		}) {
			wrong = append(wrong, fmt.Sprintf("%s: depends on the module %s, which is not on its list", p.Path, module))
		}
	}
	return wrong
}

// folderOf gives the folder of an import path of this module.
func folderOf(importPath string) (folder string, ours bool) {
	if importPath == Module {
		return Root, true
	}
	return strings.CutPrefix(importPath, Module+"/")
}

// commandOf gives the name of the command a folder belongs to, or "".
func commandOf(folder string) string {
	rest, ok := strings.CutPrefix(folder, "cmd/")
	if !ok {
		return ""
	}
	return firstElement(rest)
}

func firstElement(importPath string) string {
	first, _, _ := strings.Cut(importPath, "/")
	return first
}
