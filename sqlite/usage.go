package sqlite

import (
	"context"
	"math"
	"strings"
	"time"

	"github.com/parley-run/parley"
)

// spend adds what a completed turn consumed to its day. No rebuild does that
// again: what deleted sessions consumed is nowhere else.
func (t *tx) spend(h *head, at time.Time, by parley.IdentityID, u parley.Usage) error {
	if u == (parley.Usage{}) {
		return nil
	}
	return t.c.exec(`INSERT INTO usage
		VALUES ((SELECT p.agent FROM sessions s JOIN snapshots p ON p.nr = s.snapshot WHERE s.nr = ?), ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET input_tokens = input_tokens + excluded.input_tokens, output_tokens = output_tokens + excluded.output_tokens,
			cache_read_tokens = cache_read_tokens + excluded.cache_read_tokens,
			cache_write_tokens = cache_write_tokens + excluded.cache_write_tokens, cost_microusd = cost_microusd + excluded.cost_microusd`,
		h.nr, dayOf(at), by, u.InputTokens, u.OutputTokens, u.CacheReadTokens, u.CacheWriteTokens, u.CostMicroUSD)
}

// dayOf gives the day of an instant in UTC, counted from 1970-01-01.
func dayOf(at time.Time) int64 {
	const daySeconds = 24 * 60 * 60
	s := at.Unix()
	day := s / daySeconds
	if s%daySeconds < 0 {
		day--
	}
	return day
}

// Spent implements [parley.UsageReader]. It goes by an index, whatever is chosen,
// over rows of which there is one per agent, day and identity, however many
// sessions there are.
func (s *Store) Spent(ctx context.Context, q parley.SpentQuery) (parley.Usage, error) {
	sql, args := spentQuery(q)
	var sum parley.Usage
	err := s.read(ctx, "read usage", func(c *conn) error {
		_, err := c.one(func(r row) {
			sum = parley.Usage{
				InputTokens: r.int(0), OutputTokens: r.int(1), CacheReadTokens: r.int(2), CacheWriteTokens: r.int(3), CostMicroUSD: r.int(4),
			}
		}, sql, args...)
		return err
	})
	return sum, err
}

func spentQuery(q parley.SpentQuery) (sql string, args []any) {
	from, until := int64(math.MinInt64), int64(math.MaxInt64)
	if !q.From.IsZero() {
		from = dayOf(q.From)
	}
	if !q.Until.IsZero() {
		until = dayOf(q.Until)
	}
	conditions, args := []string{"day >= ?", "day < ?"}, []any{from, until}
	if q.User != "" {
		conditions, args = append(conditions, "identity IN (SELECT id FROM identities WHERE user = ?)"), append(args, q.User)
	}
	if q.Identity != "" {
		conditions, args = append(conditions, "identity = ?"), append(args, q.Identity)
	}
	switch {
	case q.Agent == "":
	case q.User != "" || q.Identity != "":
		// The plus keeps it from going by the agent: one identity has fewer rows.
		conditions, args = append(conditions, "+agent = ?"), append(args, q.Agent)
	default:
		conditions, args = append(conditions, "agent = ?"), append(args, q.Agent)
	}
	return `SELECT sum(input_tokens), sum(output_tokens), sum(cache_read_tokens), sum(cache_write_tokens), sum(cost_microusd)
		FROM usage WHERE ` + strings.Join(conditions, " AND "), args
}
