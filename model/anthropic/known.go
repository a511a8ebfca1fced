package anthropic

import (
	"strings"

	"github.com/parley-run/parley"
)

// traits is what a model has besides its [parley.ModelInfo].
type traits struct {
	adaptive    bool          // it decides by itself how much it thinks, and takes no budget
	short       *parley.Price // of requests with at most shortTokens; nil: there is one price
	shortTokens int64
}

// Known gives what is known about a model of Anthropic's by the vendor's id. Its
// name is anthropic/<id>. Where long requests cost more, it has their price; what
// a request has cost is counted by the price that applies to it.
func Known(model string) (parley.ModelInfo, bool) {
	info, _, ok := lookup(model)
	return info, ok
}

// cents makes a price from US cents for a million tokens, with tenths of a cent.
func cents(input, output, cacheRead, cacheWrite float64) *parley.Price {
	return &parley.Price{
		Input: int64(input * 10_000), Output: int64(output * 10_000),
		CacheRead: int64(cacheRead * 10_000), CacheWrite: int64(cacheWrite * 10_000),
	}
}

// lookup finds a model in the table, which is made anew so that nobody can change
// it. A model that is not there is taken for a later Claude if it is called like
// one, and else for one that takes budgets, as servers that imitate the API do.
func lookup(model string) (parley.ModelInfo, traits, bool) {
	type entry struct {
		id        string
		context   int
		maxOutput int
		price     *parley.Price
		traits    traits
	}
	const million, k200 = 1_000_000, 200_000
	const out128, out64 = 128_000, 64_000
	adaptive := traits{adaptive: true}
	for _, e := range []entry{
		{"claude-fable-5-1", million, out128, cents(1000, 5000, 25, 1250), adaptive},
		{"claude-opus-5-5", million, out128, cents(400, 2000, 20, 500), adaptive},
		{"claude-sonnet-5-5", million, out128, cents(200, 1000, 20, 250), adaptive},
		{
			"claude-haiku-5-5", million, out128, cents(50, 250, 5, 62.5),
			traits{adaptive: true, short: cents(10, 50, 1, 12.5), shortTokens: 100_000},
		},
		{"claude-fable-5", million, out128, cents(1000, 5000, 100, 1250), adaptive},
		{"claude-opus-5", million, out128, cents(500, 2500, 50, 625), adaptive},
		{"claude-sonnet-5", million, out128, cents(200, 1000, 20, 250), adaptive},
		{"claude-opus-4-8", million, out128, cents(500, 2500, 50, 625), adaptive},
		{"claude-opus-4-7", million, out128, cents(500, 2500, 50, 625), adaptive},
		{"claude-opus-4-6", million, out128, cents(500, 2500, 50, 625), adaptive},
		{"claude-sonnet-4-6", million, out64, cents(300, 1500, 30, 375), adaptive},
		{"claude-opus-4-5", k200, out64, cents(500, 2500, 50, 625), traits{}},
		{"claude-opus-4-5-20251101", k200, out64, cents(500, 2500, 50, 625), traits{}},
		{"claude-sonnet-4-5", k200, out64, cents(300, 1500, 30, 375), traits{}},
		{"claude-sonnet-4-5-20250929", k200, out64, cents(300, 1500, 30, 375), traits{}},
		{"claude-haiku-4-5", k200, out64, cents(100, 500, 10, 125), traits{}},
		{"claude-haiku-4-5-20251001", k200, out64, cents(100, 500, 10, 125), traits{}},
	} {
		if e.id == model {
			return parley.ModelInfo{Name: "anthropic/" + model, Context: e.context, MaxOutput: e.maxOutput, Price: e.price}, e.traits, true
		}
	}
	return parley.ModelInfo{}, traits{adaptive: strings.HasPrefix(model, "claude-")}, false
}
