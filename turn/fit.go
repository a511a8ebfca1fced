package turn

import (
	"sync"

	"github.com/tiktoken-go/tokenizer"

	"github.com/parley-run/parley"
)

const (
	messageTokens = 6        // what a provider wraps around a message
	imageTokens   = 1600     // about what a large picture counts
	answerTokens  = 16 << 10 // of an answer at most, if the agent has no limit of its own
)

// vocabulary is loaded when a window is long enough to be counted; it takes some
// memory.
var vocabulary = sync.OnceValues(func() (tokenizer.Codec, error) { return tokenizer.Get(tokenizer.O200kBase) })

func countTokens(text string) int {
	codec, err := vocabulary()
	if err != nil {
		return len(text) // no token is shorter than a byte
	}
	n, err := codec.Count(text)
	if err != nil {
		return len(text)
	}
	return n
}

// size adds up a request with a measure for texts.
func size(req parley.ModelRequest, measure func(string) int) int {
	n := measure(req.System)
	for _, t := range req.Tools {
		n += messageTokens + measure(t.Name) + measure(t.Description) + measure(string(t.Schema))
	}
	for _, m := range req.Messages {
		n += messageTokens
		for _, p := range m.Parts {
			n += measure(p.Text)
			if p.Call != nil {
				n += messageTokens + measure(p.Call.Name) + measure(string(p.Call.Arguments))
			}
			if p.Result != nil {
				n += messageTokens + measure(p.Result.Text)
			}
			if len(p.Data) > 0 {
				n += imageTokens
			}
			n += len(p.Opaque) / 4
		}
	}
	return n
}

// tokensAtMost is what a request has in tokens at most, for nothing.
func tokensAtMost(req parley.ModelRequest) int {
	return size(req, func(s string) int { return len(s) })
}

// tokensAbout is what a request has in tokens, roughly: as text in European
// languages has it.
func tokensAbout(req parley.ModelRequest) int {
	return size(req, func(s string) int { return (len(s) + 3) / 4 })
}

// answerLimit is how long an answer of a model may be: as the agent has it, else a
// length that is enough for nearly all; never more than the model can, and at most
// half of what it takes. Money is set aside for it.
func answerLimit(agent int, info parley.ModelInfo) int {
	limit := agent
	if limit <= 0 {
		limit = answerTokens
	}
	if info.MaxOutput > 0 {
		limit = min(limit, info.MaxOutput)
	}
	if info.Context > 0 {
		limit = min(limit, info.Context/2)
	}
	return limit
}

// fits fails if a model cannot take a request and have room for an answer. It
// counts only if there is doubt.
func (r *Runner) fits(info parley.ModelInfo, req parley.ModelRequest) error {
	if info.Context <= 0 {
		return nil
	}
	room := info.Context - req.MaxTokens
	if tokensAtMost(req) <= room {
		return nil
	}
	if n := size(req, r.cfg.CountFunc); n > room {
		return parley.Errorf(parley.CodeTooLarge,
			"the conversation has about %d tokens, and %s takes %d with room for an answer; start a new one, or rewind this one", n, info.Name, room)
	}
	return nil
}
