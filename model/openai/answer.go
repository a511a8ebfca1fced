package openai

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/parley-run/parley"
)

// chunk is an event of the stream, as far as it is looked at. What servers write
// in different ways is left raw.
type chunk struct {
	Choices []struct {
		Index        int             `json:"index"`
		Delta        delta           `json:"delta"`
		FinishReason *string         `json:"finish_reason"`
		Error        json.RawMessage `json:"error"`
	} `json:"choices"`
	Usage json.RawMessage `json:"usage"`
	Error json.RawMessage `json:"error"`
}

type delta struct {
	Content          json.RawMessage `json:"content"`
	Refusal          json.RawMessage `json:"refusal"`
	ReasoningContent json.RawMessage `json:"reasoning_content"`
	Reasoning        json.RawMessage `json:"reasoning"`
	ToolCalls        []callDelta     `json:"tool_calls"`
	FunctionCall     *functionDelta  `json:"function_call"`
}

type callDelta struct {
	Index    *int          `json:"index"`
	ID       string        `json:"id"`
	Function functionDelta `json:"function"`
}

type functionDelta struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// answer puts an answer together from its events.
type answer struct {
	failures
	started bool // there was an event
	over    bool // nothing more is to come
	refused bool
	finish  string // finish_reason
	calls   calls
	usage   parley.Usage
}

// take takes the data of an event and gives the pieces that it brings.
func (a *answer) take(data []byte) ([]parley.ModelPiece, error) {
	a.started = true
	data = bytes.TrimSpace(data)
	if bytes.HasPrefix(data, []byte("[DONE]")) {
		a.over = true
		return nil, nil
	}
	var c chunk
	readable := json.Unmarshal(data, &c) == nil
	switch failed := !readable || !empty(c.Error); {
	case failed && a.finish != "":
		// The answer is whole; what comes after can only bring its usage.
		a.over = true
		return nil, nil
	case !readable:
		return nil, a.nonsense("an event is not what it should be")
	case failed:
		return nil, a.inStream(c.Error)
	}
	if !empty(c.Usage) {
		a.usage = readUsage(c.Usage)
	}
	var pieces []parley.ModelPiece
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue
		}
		if !empty(choice.Error) && a.finish == "" {
			return pieces, a.inStream(choice.Error)
		}
		more, err := a.delta(choice.Delta)
		pieces = append(pieces, more...)
		if err != nil {
			return pieces, err
		}
		if choice.FinishReason != nil && *choice.FinishReason != "" {
			a.finish = *choice.FinishReason
		}
	}
	return pieces, nil
}

func (a *answer) delta(d delta) ([]parley.ModelPiece, error) {
	var pieces []parley.ModelPiece
	say := func(kind parley.PartKind, raw json.RawMessage) bool {
		// The store takes no NUL characters, and nobody misses them.
		text := strings.ReplaceAll(plain(raw), "\x00", "")
		if text != "" {
			pieces = append(pieces, parley.ModelPiece{Kind: kind, Text: text})
		}
		return text != ""
	}
	// Some servers send reasoning under both names.
	if !say(parley.PartReasoning, d.ReasoningContent) {
		say(parley.PartReasoning, d.Reasoning)
	}
	say(parley.PartText, d.Content)
	if say(parley.PartText, d.Refusal) {
		a.refused = true
	}
	if d.FunctionCall != nil {
		only := -1
		d.ToolCalls = append(d.ToolCalls, callDelta{Index: &only, Function: *d.FunctionCall})
	}
	for _, c := range d.ToolCalls {
		if problem := a.calls.add(c); problem != "" {
			return pieces, a.nonsense(problem)
		}
	}
	return pieces, nil
}

// end gives what is left when the stream has ended, by err or by itself: the
// calls and the end, or why there is none.
func (a *answer) end(err error) ([]parley.ModelPiece, error) {
	stop := parley.StopDone
	switch a.finish {
	case "":
		return nil, a.broken(err, a.started)
	case "error", "abort", "insufficient_system_resource":
		return nil, a.nonsense("the server gave up on it")
	case "length", "max_tokens":
		stop = parley.StopLength
	case "content_filter":
		stop = parley.StopContentFilter
	}
	if a.refused {
		stop = parley.StopContentFilter
	}
	var pieces []parley.ModelPiece
	if stop != parley.StopContentFilter {
		whole, problem := a.calls.whole(stop == parley.StopLength)
		if problem != "" {
			return nil, a.nonsense(problem)
		}
		for _, call := range whole {
			pieces = append(pieces, parley.ModelPiece{Kind: parley.PartToolCall, Call: call})
			stop = parley.StopDone
		}
	}
	usage := a.usage
	usage.CostMicroUSD = a.model.cost(usage)
	return append(pieces, parley.ModelPiece{Done: &parley.ModelDone{StopReason: stop, Usage: usage}}), nil
}

// cost gives what usage has cost, or 0 if that is not known.
func (m *Model) cost(u parley.Usage) int64 {
	if m.info.Price == nil {
		return 0
	}
	price := *m.info.Price
	if m.traits.long && u.InputTokens+u.CacheReadTokens+u.CacheWriteTokens > longInput {
		price.Input *= 2
		price.CacheRead *= 2
		price.CacheWrite *= 2
		price.Output += price.Output / 2
	}
	return price.Cost(u)
}

// readUsage brings usage into Parley's way of counting, where no token counts
// twice. What cannot be read is nothing.
func readUsage(raw json.RawMessage) parley.Usage {
	var u struct {
		Prompt     float64 `json:"prompt_tokens"`
		Completion float64 `json:"completion_tokens"`
		Details    struct {
			Cached  float64 `json:"cached_tokens"`
			Written float64 `json:"cache_write_tokens"`
		} `json:"prompt_tokens_details"`
		Hit float64 `json:"prompt_cache_hit_tokens"` // DeepSeek's word for cached
	}
	if json.Unmarshal(raw, &u) != nil {
		return parley.Usage{}
	}
	tokens := func(n, most float64) int64 { return int64(max(0, min(n, most))) }
	const most = 1 << 50
	prompt := tokens(u.Prompt, most)
	cached := tokens(max(u.Details.Cached, u.Hit), float64(prompt))
	written := tokens(u.Details.Written, float64(prompt-cached))
	return parley.Usage{
		InputTokens: prompt - cached - written, OutputTokens: tokens(u.Completion, most),
		CacheReadTokens: cached, CacheWriteTokens: written,
	}
}

// plain gives the text of a field: a string, or a list of parts with text.
func plain(raw json.RawMessage) string {
	var text string
	if empty(raw) || json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return ""
	}
	for _, p := range parts {
		if p.Type == "text" {
			text += p.Text
		}
	}
	return text
}

func empty(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }
