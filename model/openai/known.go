package openai

import (
	"regexp"

	"github.com/parley-run/parley"
)

// entry is what is known about one of OpenAI's models.
type entry struct {
	context, output int           // 0: not known for sure
	price           *parley.Price // for requests of at most longInput tokens; nil: not known for sure
	traits
}

// traits are ways in which models differ that a [parley.ModelInfo] has no room
// for.
type traits struct {
	// long: requests with more than longInput tokens cost more.
	long bool
	// quiet: the API takes tools for this model only if it does not reason, and it
	// does unless it is told not to.
	quiet bool
}

// longInput is the number of tokens above which OpenAI charges a request at its
// rates for long contexts: twice the price of input, one and a half of output.
const longInput = 272_000

// usd gives a price from cents per million tokens.
func usd(input, cached, written, output float64) *parley.Price {
	const cent = 10_000
	price := func(cents float64) int64 { return int64(cents*cent + 0.5) }
	return &parley.Price{Input: price(input), Output: price(output), CacheRead: price(cached), CacheWrite: price(written)}
}

// known has OpenAI's models that speak the Chat Completions API, by family. What
// is not known for sure is not there.
var known = map[string]entry{
	"gpt-6.1-sol":   {1_050_000, 0, usd(200, 10, 250, 1000), traits{long: true}},
	"gpt-6-astra":   {1_050_000, 128_000, usd(1000, 100, 1250, 5000), traits{long: true}},
	"gpt-6-sol":     {1_050_000, 128_000, usd(200, 20, 250, 1000), traits{long: true, quiet: true}},
	"gpt-6-luna":    {1_050_000, 128_000, usd(10, 1, 12.5, 50), traits{long: true, quiet: true}},
	"gpt-5.6":       {1_050_000, 128_000, nil, traits{quiet: true}},
	"gpt-5.6-sol":   {1_050_000, 128_000, nil, traits{quiet: true}},
	"gpt-5.6-terra": {1_050_000, 128_000, nil, traits{quiet: true}},
	"gpt-5.6-luna":  {1_050_000, 128_000, nil, traits{quiet: true}},
	"gpt-5.5":       {1_050_000, 128_000, usd(500, 50, 500, 3000), traits{long: true, quiet: true}},
	"gpt-5.4":       {1_050_000, 128_000, usd(250, 25, 250, 1500), traits{long: true}},
	"gpt-5.4-mini":  {0, 0, usd(75, 7.5, 75, 450), traits{}},
	"gpt-5.2":       {400_000, 128_000, usd(175, 17.5, 175, 1400), traits{}},
	"gpt-5.1":       {400_000, 128_000, usd(125, 12.5, 125, 1000), traits{}},
	"gpt-5":         {400_000, 128_000, usd(125, 12.5, 125, 1000), traits{}},
	"gpt-5-mini":    {400_000, 128_000, usd(25, 2.5, 25, 200), traits{}},
	"gpt-5-nano":    {400_000, 128_000, usd(5, 0.5, 5, 40), traits{}},
	"gpt-4.1":       {1_047_576, 32_768, usd(200, 50, 200, 800), traits{}},
	"gpt-4.1-mini":  {1_047_576, 32_768, usd(40, 10, 40, 160), traits{}},
	"gpt-4.1-nano":  {1_047_576, 32_768, usd(10, 2.5, 10, 40), traits{}},
	"gpt-4o":        {128_000, 16_384, usd(250, 125, 250, 1000), traits{}},
	"gpt-4o-mini":   {128_000, 16_384, usd(15, 7.5, 15, 60), traits{}},
	"o4-mini":       {200_000, 100_000, usd(110, 27.5, 110, 440), traits{}},
	"o3":            {200_000, 100_000, usd(200, 50, 200, 800), traits{}},
	"o3-mini":       {200_000, 100_000, usd(110, 55, 110, 440), traits{}},
	"o1":            {200_000, 100_000, usd(1500, 750, 1500, 6000), traits{}},
}

// snapshot is the date at the end of a model's name.
var snapshot = regexp.MustCompile(`-\d{4}-\d{2}-\d{2}$`)

// family gives a model's name without the date of its snapshot. The first one of
// gpt-4o had other prices.
func family(model string) string {
	if model == "gpt-4o-2024-05-13" {
		return model
	}
	return snapshot.ReplaceAllString(model, "")
}

// Known gives what is known about one of OpenAI's own models, by the name or the
// dated name that the API has for it, and whether it is known at all. The price is
// nil if it is not known for sure. Where OpenAI charges more for a request with
// more than 272,000 tokens, the price is the one for less; what an answer has
// cost is counted with the higher one.
func Known(model string) (parley.ModelInfo, bool) {
	e, ok := known[family(model)]
	if !ok {
		return parley.ModelInfo{}, false
	}
	info := parley.ModelInfo{Name: "openai/" + model, Context: e.context, MaxOutput: e.output}
	if e.price != nil {
		price := *e.price
		info.Price = &price
	}
	return info, true
}
