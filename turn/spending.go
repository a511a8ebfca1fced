package turn

import (
	"context"
	"sync"

	"github.com/parley-run/parley"
)

// toolBudget is a turn's budget as the run and its tools see it. What is spent by
// tools, such as those that run a turn of their own, is counted: it belongs to the
// turn's usage. It works without a budget as well.
type toolBudget struct {
	of parley.Budget

	mu    sync.Mutex
	tools int64
}

// Reserve sets money aside; see [parley.Budget].
func (b *toolBudget) Reserve(ctx context.Context, microUSD int64) (settle func(int64), err error) {
	if b.of == nil {
		return func(int64) {}, nil
	}
	return b.of.Reserve(ctx, microUSD)
}

// forTools gives the budget to tools.
func (b *toolBudget) forTools() parley.Budget { return countedBudget{b} }

func (b *toolBudget) spent() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tools
}

type countedBudget struct{ in *toolBudget }

func (c countedBudget) Reserve(ctx context.Context, microUSD int64) (settle func(int64), err error) {
	outer, err := c.in.Reserve(ctx, microUSD)
	if err != nil {
		return nil, err
	}
	var once sync.Once
	return func(spent int64) {
		once.Do(func() {
			c.in.mu.Lock()
			c.in.tools += max(spent, 0)
			c.in.mu.Unlock()
		})
		outer(spent)
	}, nil
}

// Within gives a part of a budget: not more than limit of it, in millionths of a
// dollar; 0 is no limit of its own.
func Within(of parley.Budget, limit int64) parley.Budget {
	if limit <= 0 {
		return of
	}
	return &share{of: of, limit: limit}
}

type share struct {
	of    parley.Budget
	limit int64

	mu    sync.Mutex
	taken int64 // spent and set aside
}

func (s *share) Reserve(ctx context.Context, microUSD int64) (settle func(int64), err error) {
	s.mu.Lock()
	if microUSD > s.limit-s.taken {
		left := s.limit - s.taken
		s.mu.Unlock()
		return nil, parley.Errorf(parley.CodeBudgetExceeded, "this part of the work may cost %d micro-dollars, of which %d are left, and the next step may need %d", s.limit, max(left, 0), microUSD)
	}
	s.taken += microUSD
	s.mu.Unlock()
	outer := func(int64) {}
	if s.of != nil {
		if outer, err = s.of.Reserve(ctx, microUSD); err != nil {
			s.mu.Lock()
			s.taken -= microUSD
			s.mu.Unlock()
			return nil, err
		}
	}
	var once sync.Once
	return func(spent int64) {
		once.Do(func() {
			s.mu.Lock()
			s.taken += spent - microUSD
			s.mu.Unlock()
			outer(spent)
		})
	}, nil
}
