package bench

import (
	"slices"
	"strings"

	"github.com/parley-run/parley"
)

// The names of the figures, as they appear in reports.
const (
	Commit64          = "commit_64"
	Commit1           = "commit_1"
	Commit64Encrypted = "commit_64_encrypted"
	CommitDeep        = "commit_deep"
	WindowDeep        = "window_deep"
	ListPage          = "list_page"
	AliasLookup       = "alias_lookup"
	StartCold         = "start_cold"
	RSSIdle           = "rss_idle"
	FeedCatchup       = "feed_catchup"
	FeedFanout        = "feed_fanout_p99"
	EngineOverhead    = "engine_overhead"
	TurnsConcurrent   = "turns_concurrent"
	CancelStream      = "cancel_stream_p99"
	CancelTool        = "cancel_tool_p99"
	HTTPAck           = "http_ack_p99"
	SSEFanout         = "sse_fanout_p99"
	SSEIdle           = "sse_idle_rss"
	ChatStart         = "chat_start"
	ChatKey           = "chat_key_p99"
)

// speedup is how much faster 64 sessions at once must be than one alone.
const speedup = 2.5

// storeMeasures are the figures of [Store], in the order of a report.
func storeMeasures() []measure {
	return []measure{
		{Commit64, "commits/s", ratioAtLeast, 0.12, "durable admissions, 64 sessions at once", "a bare file, one sync per 64 records that as many goroutines hand over"},
		{Commit1, "commits/s", ratioAtLeast, 0.6, "durable admissions, one session alone", "a bare file, one sync per record"},
		{Commit64Encrypted, "commits/s", ratioAtLeast, 0.35, "durable admissions to an encrypted store, 64 sessions at once", "the same to one that is not"},
		{CommitDeep, "ms", ratioAtMost, 1.25, "an admission to a session with a long log", "the same to an empty session"},
		{WindowDeep, "ms", ratioAtMost, 2, "the last 100 messages of a long log", "the same of a log with 100"},
		{ListPage, "ms", ratioAtMost, 2, "a page of 50 among many sessions", "the same among few"},
		{AliasLookup, "ms", ratioAtMost, 2, "finding a session by an alias among many", "the same among few"},
		{StartCold, "ms", ratioAtMost, 1.5, "a fresh process opens the store with many sessions and reads", "the same with none"},
		{RSSIdle, "MiB", valueAtMost, 10, "memory that many idle sessions add to a process", "the process with none"},
	}
}

// feedMeasures are the figures of [Feed], in the order of a report.
func feedMeasures() []measure {
	return []measure{
		{FeedCatchup, "events/s", valueAtLeast, 100_000, "a subscriber catching up from a long log", "reading the same pages from the store alone"},
		{FeedFanout, "ms", valueAtMost, 50, "from a commit to the last of many subscribers, 99th percentile", "the commit alone"},
	}
}

// engineMeasures are the figures of [Engine], in the order of a report.
func engineMeasures() []measure {
	return []measure{
		{EngineOverhead, "ms", ratioAtMost, 3, "processor time of a turn without tools, 64 sessions at once", "the two commits of such a turn alone, 64 sessions at once"},
		{TurnsConcurrent, "turns/s", ratioAtLeast, 0.8, "turns of many sessions, 64 at once, on a model that takes 100 ms", "what 64 at once can come to"},
	}
}

// turnMeasures are the figures of [Turn], in the order of a report.
func turnMeasures() []measure {
	return []measure{
		{CancelStream, "ms", valueAtMost, 100, "from a person's stop to the end of a run whose model streams over HTTP, 99th percentile", "a bare HTTP client that reads the same stream"},
		{CancelTool, "ms", valueAtMost, 100, "the same, of a run whose command has a child and a grandchild, all deaf to signals", "the same three processes, killed by their numbers"},
	}
}

// httpMeasures are the figures of [HTTP], in the order of a report.
func httpMeasures() []measure {
	return []measure{
		{HTTPAck, "ms", ratioAtMost, 4, "acknowledgement of a post over HTTP, 500 a second, 99th percentile", "a bare file, one append and sync per record at the same rate"},
		{SSEFanout, "ms", valueAtMost, 250, "from a request to the last of many streams that its event goes to, 99th percentile", "the request alone"},
		{SSEIdle, "MiB", valueAtMost, 200, "memory that many idle streams add to a daemon", "the daemon with none"},
	}
}

// chatMeasures are the figures of [Chat], in the order of a report.
func chatMeasures() []measure {
	return []measure{
		{ChatStart, "ms", valueAtMost, 150, "from the start of the terminal program to the conversation and the first prompt, among many sessions", "'parley version'"},
		{ChatKey, "ms", valueAtMost, 50, "from a key to the frame that shows it, during 2,000 deltas a second, 99th percentile", "the same while nothing happens"},
	}
}

func namesOf(measures []measure) []string {
	var names []string
	for _, m := range measures {
		names = append(names, m.name)
	}
	return names
}

// chosen gives those of the measures that were asked for: all, if none was named.
func chosen(measures []measure, only []string) (map[string]measure, error) {
	known := namesOf(measures)
	for _, name := range only {
		if !slices.Contains(known, name) {
			return nil, parley.Errorf(parley.CodeInvalid, "there is no figure %q; choose from %s", name, strings.Join(known, ", "))
		}
	}
	chosen := map[string]measure{}
	for _, m := range measures {
		if len(only) == 0 || slices.Contains(only, m.name) {
			chosen[m.name] = m
		}
	}
	return chosen, nil
}
