package bench

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parley-run/parley"
)

// ResolveRate is the name of the figure of [Route].
const ResolveRate = "resolve_rate"

// routeLines is how many lines one side of a round has.
const routeLines = 20_000

// routeMeasure is the figure of [Route].
func routeMeasure() measure {
	return measure{
		ResolveRate, "lines/s", valueAtLeast, 50_000,
		"inbounds read, routed, explained and answered as JSON lines", "the same lines through a JSON decoder and encoder alone",
	}
}

// RouteNames gives the names of the figures of [Route].
func RouteNames() []string { return []string{ResolveRate} }

// Route measures how many lines a second `parley resolve` answers. Every answer
// has to have the right key, else the run fails with [parley.CodeInternal]. It
// touches no disk; for the rest it is as [Store].
func Route(ctx context.Context, cfg Config) (Report, error) {
	if cfg.ResolveFunc == nil {
		return Report{}, parley.Errorf(parley.CodeInvalid, "a run of routing needs ResolveFunc")
	}
	for _, name := range cfg.Only {
		if !slices.Contains(RouteNames(), name) {
			return Report{}, parley.Errorf(parley.CodeInvalid, "there is no figure %q; choose from %s", name, strings.Join(RouteNames(), ", "))
		}
	}
	if cfg.ProgressFunc == nil {
		cfg.ProgressFunc = func(string, int64, int64) {}
	}
	if cfg.Size.Rounds == 0 {
		cfg.Size.Rounds = FullSize().Rounds
	}
	r := &run{cfg: cfg, measures: map[string]measure{ResolveRate: routeMeasure()}, results: map[string]Result{}}
	if err := r.resolveRate(ctx); err != nil {
		return Report{}, fmt.Errorf("measure %s: %w", ResolveRate, err)
	}
	report := Report{Machine: machine(cfg.Dir), Results: []Result{r.results[ResolveRate]}}
	return report, nil
}

// resolveRate measures answers, beside JSON that is read and written again.
func (r *run) resolveRate(ctx context.Context) error {
	lines, keys := questions(routeLines)
	var answers bytes.Buffer
	var p pair
	err := r.rounds(ctx, "measuring "+ResolveRate, r.cfg.Size.Rounds, func(i int) error {
		return inTurns(i,
			into(&p.value, func() (float64, error) {
				answers.Reset()
				start := time.Now()
				if err := r.cfg.ResolveFunc(ctx, bytes.NewReader(lines), &answers); err != nil {
					return 0, err
				}
				took := time.Since(start)
				return rate(len(keys), took), checkAnswers(answers.Bytes(), keys)
			}),
			into(&p.reference, func() (float64, error) { return recode(lines, len(keys)) }))
	})
	if err != nil {
		return err
	}
	r.record(ResolveRate, &p)
	return nil
}

// questions makes lines such as chats bring, and the keys they have to get.
func questions(n int) (lines []byte, keys []string) {
	var b bytes.Buffer
	for i := range n {
		var signature string
		switch id := 1_000_000 + i; i % 4 {
		case 0:
			fmt.Fprintf(&b, `{"context":{"channel":"telegram","chat_type":"direct","chat_id":"%d","sender_id":"%[1]d"}}`, id)
			signature = fmt.Sprintf("v=1|agent=main|channel=telegram|account=default|chat=direct:%d", id)
		case 1:
			fmt.Fprintf(&b, `{"agent_id":"main","context":{"channel":"telegram","account":"Bot_A","space_type":"","space_id":"","chat_type":"group","chat_id":"-100%d",`+
				`"topic_id":"42","sender_id":"7","sender_id_alt":""},"dimensions":["chat"],"group_sessions_per_user":false,"thread_sessions_per_user":false,`+
				`"identity_links":{"alice":["telegram:7"]}}`, id)
			signature = fmt.Sprintf("v=1|agent=main|channel=telegram|account=bot_a|chat=group:-100%d/42", id)
		case 2:
			fmt.Fprintf(&b, `{"context":{"channel":"slack","account":"T-Bot","space_type":"workspace","space_id":"T001","chat_type":"channel","chat_id":"C001",`+
				`"topic_id":"1717171717.%06d","sender_id":"U0ABC"},"dimensions":["space","chat","topic","sender"]}`, i)
			signature = fmt.Sprintf("v=1|agent=main|channel=slack|account=t-bot|space=workspace:t001|chat=channel:c001|topic=topic:1717171717.%06d|sender=u0abc", i)
		case 3:
			fmt.Fprintf(&b, `{"context":{"channel":"discord","space_type":"guild","space_id":"G77","chat_type":"group","chat_id":"%d","sender_id":"4455"},`+
				`"group_sessions_per_user":true,"identity_links":{"alice":["telegram:7"],"Zoë":["discord:4455"]}}`, id)
			signature = fmt.Sprintf("v=1|agent=main|channel=discord|account=default|chat=group:%d|sender=zoë", id)
		}
		b.WriteByte('\n')
		sum := sha256.Sum256([]byte(signature))
		keys = append(keys, "sk_v1_"+hex.EncodeToString(sum[:]))
	}
	return b.Bytes(), keys
}

// checkAnswers looks for each key in its line.
func checkAnswers(answers []byte, keys []string) error {
	got := bytes.Count(answers, []byte("\n"))
	if got != len(keys) {
		return lost("%d lines were answered with %d", len(keys), got)
	}
	i := 0
	for line := range bytes.Lines(answers) {
		if !bytes.Contains(line, []byte(`"session_key":"`+keys[i]+`"`)) {
			return lost("line %d was answered with %s, and its key is %s", i+1, line, keys[i])
		}
		i++
	}
	return nil
}

// recode gives the lines a second that come out of JSON decoding and encoding.
func recode(lines []byte, n int) (float64, error) {
	start := time.Now()
	var out bytes.Buffer
	w := bufio.NewWriter(&out)
	enc := json.NewEncoder(w)
	for line := range bytes.Lines(lines) {
		var v any
		if err := json.Unmarshal(line, &v); err != nil {
			return 0, err
		}
		if err := enc.Encode(v); err != nil {
			return 0, err
		}
	}
	if err := w.Flush(); err != nil {
		return 0, err
	}
	return rate(n, time.Since(start)), nil
}
