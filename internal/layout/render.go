package layout

import (
	"fmt"
	"strings"
)

// Markdown gives the table for people.
func Markdown(table []Layer) string {
	var b strings.Builder
	b.WriteString("| package | what lives there | may import |\n| --- | --- | --- |\n")
	for _, layer := range table {
		holds := layer.Holds
		if layer.Planned {
			holds = "*(planned)* " + holds
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", shown(layer.Path), holds, shownImports(layer))
	}
	return b.String()
}

func shown(folder string) string {
	if folder == Root {
		return "`parley` (root)"
	}
	return "`" + folder + "`"
}

func shownImports(layer Layer) string {
	switch {
	case layer.Any:
		return "anything but commands"
	case len(layer.Imports) == 0:
		return "-"
	}
	names := make([]string, len(layer.Imports))
	for i, imp := range layer.Imports {
		names[i] = "root"
		if imp != Root {
			names[i] = "`" + imp + "`"
		}
	}
	return strings.Join(names, ", ")
}

// Depguard gives the table as rules of the linter depguard, indented for their
// place in its configuration. Layers with the same rights share a rule; those that
// are planned have none yet. Test files are free, as in [Check].
func Depguard(table []Layer) string {
	var names []string
	rules := make(map[string][]Layer)
	for _, layer := range table {
		if layer.Any || layer.Planned {
			continue
		}
		name := ruleName(layer)
		if rules[name] == nil {
			names = append(names, name)
		}
		rules[name] = append(rules[name], layer)
	}
	var b strings.Builder
	for _, name := range names {
		writeRule(&b, name, rules[name])
	}
	return b.String()
}

func ruleName(layer Layer) string {
	name := layer.Path
	switch {
	case !layer.Core && len(layer.Imports) > 0:
		name = "above " + strings.Join(layer.Imports, " ")
	case !layer.Core:
		name = "alone"
	}
	words := strings.FieldsFunc(strings.ReplaceAll(name, Root, "root"), func(r rune) bool { return strings.ContainsRune(" /*", r) })
	return strings.Join(words, "-")
}

func writeRule(b *strings.Builder, name string, layers []Layer) {
	first := layers[0]
	mode := "lax"
	if first.Core {
		mode = "strict"
	}
	fmt.Fprintf(b, "        %s:\n          list-mode: %s\n          files:\n", name, mode)
	for _, layer := range layers {
		fmt.Fprintf(b, "            - ${config-path}/%s\n", strings.TrimPrefix(layer.Path+"/*.go", Root+"/"))
	}
	b.WriteString("            - \"!$test\"\n          allow:\n")
	if first.Core || len(first.Imports) == 0 {
		b.WriteString("            - $gostd\n")
	}
	for _, module := range first.Modules {
		fmt.Fprintf(b, "            - %s\n", strings.TrimSuffix(module, "*"))
	}
	for _, imp := range first.Imports {
		fmt.Fprintf(b, "            - %s\n", rulePackage(imp))
	}
	if !first.Core {
		fmt.Fprintf(b, "          deny: [{pkg: %s, desc: its layer does not allow it}]\n", Module)
	}
}

func rulePackage(folder string) string {
	switch {
	case folder == Root:
		return Module + "$"
	case strings.HasSuffix(folder, "/*"):
		return Module + "/" + strings.TrimSuffix(folder, "*")
	}
	return Module + "/" + folder + "$"
}

// Splice replaces what stands between the lines that hold begin and end.
func Splice(text, begin, end, block string) (string, error) {
	head, rest, ok := strings.Cut(text, begin)
	if !ok {
		return "", fmt.Errorf("the line %q is missing", begin)
	}
	tail, rest, ok := strings.Cut(rest, "\n")
	if !ok {
		return "", fmt.Errorf("nothing follows the line %q", begin)
	}
	i := strings.Index(rest, end)
	if i < 0 {
		return "", fmt.Errorf("the line %q is missing", end)
	}
	i = strings.LastIndexByte(rest[:i], '\n') + 1
	return head + begin + tail + "\n" + block + rest[i:], nil
}
