package main

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/parley-run/parley/bench"
)

// benchText is the report for people.
func benchText(r bench.Report, size bench.Size, took time.Duration) string {
	var b strings.Builder
	m := r.Machine
	parts := []string{m.CPU, fmt.Sprintf("%d cores", m.Cores), m.OS + "/" + m.Arch, m.Go}
	if m.Filesystem != "" {
		parts = append(parts, m.Filesystem)
	}
	b.WriteString(strings.TrimPrefix(strings.Join(parts, ", "), ", ") + "\n")
	fmt.Fprintf(&b, "%smedians of %d rounds and more, %s in all\n\n",
		sizeText(r, size), leastRounds(r, size), took.Round(time.Second))

	rows := [][]string{{"", "measured", "reference", "ratio", "bar"}}
	failed := 0
	for _, res := range r.Results {
		verdict := "ok"
		if !res.OK {
			verdict = "FAIL"
			failed++
		}
		ratio := fmt.Sprintf("%.2fx", res.Ratio)
		if strings.HasSuffix(res.BarIs, res.Unit) {
			ratio = "" // the value itself is judged
		}
		rows = append(rows, []string{
			res.Name, figure(res.Value) + " " + res.Unit, figure(res.Reference) + " " + res.Unit, ratio, res.BarIs, verdict,
		})
	}
	b.WriteString(table(rows) + "\n")
	for _, res := range r.Results {
		fmt.Fprintf(&b, "%s: %s; reference: %s.\n", res.Name, res.What, res.ReferenceIs)
		if res.Note != "" {
			fmt.Fprintf(&b, "    %s\n", res.Note)
		}
	}
	if failed > 0 {
		fmt.Fprintf(&b, "\n%d of %d do not hold their bar.\n", failed, len(r.Results))
	} else {
		b.WriteString("\nEvery bar is held.\n")
	}
	full := bench.FullSize()
	if size.Sessions < full.Sessions || size.Deep < full.Deep || size.Subscribers < full.Subscribers || size.Turns < full.Turns || size.Cancels < full.Cancels ||
		size.Posts < full.Posts || size.Streams < full.Streams || size.IdleStreams < full.IdleStreams || size.Keys < full.Keys {
		b.WriteString("This is a first impression: the bars are meant for a full run, without --quick.\n")
	}
	return b.String()
}

// leastRounds gives how many rounds every median is of.
func leastRounds(r bench.Report, size bench.Size) int {
	least := min(size.Rounds, size.CommitRounds)
	for _, res := range r.Results {
		if res.Name == bench.HTTPAck {
			least = min(least, bench.AckRounds)
		}
	}
	return least
}

// sizeText says how much was stored, as far as it matters to the figures.
func sizeText(r bench.Report, size bench.Size) string {
	text := ""
	for _, res := range r.Results {
		switch res.Name {
		case bench.ResolveRate, bench.EngineOverhead, bench.TurnsConcurrent, bench.CancelStream, bench.CancelTool,
			bench.HTTPAck, bench.SSEFanout, bench.SSEIdle, bench.ChatKey:
		case bench.ChatStart:
			text = cmp.Or(text, counted(int64(size.Sessions), "session")+"; ")
		case bench.FeedCatchup, bench.FeedFanout:
			text = cmp.Or(text, fmt.Sprintf("logs of %s; ", counted(int64(size.Deep), "event")))
		default:
			return fmt.Sprintf("%s beside %s, logs of %s; ",
				counted(int64(size.Sessions), "session"), thousands(int64(size.Few)), counted(int64(size.Deep), "event"))
		}
	}
	return text
}

// table sets rows in columns.
func table(rows [][]string) string {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2))
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}

// figure writes a number with as many digits as mean something.
func figure(v float64) string {
	switch {
	case v >= 1000 || v <= -1000:
		return thousands(int64(v + 0.5))
	case v >= 100 || v <= -100:
		return fmt.Sprintf("%.0f", v)
	case v >= 1 || v <= -1:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.3f", v)
}
