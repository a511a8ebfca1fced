package storetest

import (
	"maps"
	"slices"

	"github.com/parley-run/parley"
)

// names adds changes of keys and aliases.
func (g *generator) names(b *parley.Batch) {
	for g.chance(20) {
		k := parley.KeyChange{Key: pick(g, keyNames), Scope: maybe(g, 50, g.scope)}
		if there := slices.Sorted(maps.Keys(g.ahead.sessions)); len(there) > 0 && g.chance(85) {
			k.Session = pick(g, there)
		}
		if g.slip() {
			k.Session = either(g, nobody, pick(g, sessionIDs))
		}
		b.Keys = append(b.Keys, k)
		_ = g.ahead.changeKey(k)
	}
	for g.chance(25) {
		a := parley.AliasChange{Alias: pick(g, aliasNames)}
		known := slices.Sorted(maps.Keys(g.ahead.keys))
		if len(known) > 0 && g.chance(80) {
			a.Key = pick(g, known)
		}
		if g.slip() {
			a.Key = pick(g, keyNames)
		}
		b.Aliases = append(b.Aliases, a)
		_, _ = g.ahead.changeAlias(a)
	}
}

func (g *generator) scope() parley.Scope {
	return parley.Scope{
		Version: 1, Agent: "helper", Channel: either(g, "telegram", "web"), Account: "main",
		Dimensions: []parley.Dimension{parley.DimensionChat, parley.DimensionTopic},
		Values:     map[parley.Dimension]string{parley.DimensionChat: "-100 7", parley.DimensionTopic: g.fresh("topic ")},
	}
}
