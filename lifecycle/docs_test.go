package lifecycle_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parley-run/parley/lifecycle"
)

// TestDocs holds the examples of docs/lifecycle.md.
func TestDocs(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "docs", "lifecycle.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(page), "<!-- examples:begin -->\n")
	table, _, ok := strings.Cut(after, "<!-- examples:end -->")
	if !ok {
		t.Fatal("the page has no examples")
	}
	rows := strings.Split(strings.TrimSpace(table), "\n")[2:]
	if len(rows) < 10 {
		t.Fatalf("the page has %d examples", len(rows))
	}
	for _, row := range rows {
		t.Run(row, func(t *testing.T) {
			t.Parallel()
			cells := strings.Split(strings.Trim(row, "| "), " | ")
			if len(cells) != 5 {
				t.Fatalf("got %d cells", len(cells))
			}
			p := lifecycle.Policy{Zone: zone(t, cells[0])}
			mode, hour, at := strings.Cut(cells[1], " at ")
			p.Mode = lifecycle.Mode(mode)
			if at {
				n, err := strconv.Atoi(hour)
				if err != nil {
					t.Fatal(err)
				}
				p.AtHour = &n
			}
			if err := p.Validate(); err != nil {
				t.Fatal(err)
			}
			got := lifecycle.Open(session(docTime(t, cells[2], p.Zone)), lifecycle.Work{}, p, docTime(t, cells[3], p.Zone))
			text := "it goes on"
			if got.Action == lifecycle.ActionReset {
				text = "reset: `" + string(got.Reason) + "`"
			}
			if text != cells[4] {
				t.Errorf("got %q, want %q", text, cells[4])
			}
		})
	}
}

// docTime reads an instant with what the wall clock shows in parentheses.
func docTime(t *testing.T, cell string, z *time.Location) time.Time {
	t.Helper()
	instant, wall, _ := strings.Cut(strings.TrimSuffix(cell, ")"), " (")
	at := utc(t, instant)
	shown := strings.TrimSuffix(at.In(z).Format("15:04:05"), ":00")
	if wall != shown {
		t.Errorf("at %s the wall clock shows %s, not %s", instant, shown, wall)
	}
	return at
}
