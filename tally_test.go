package parley_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-run/parley"
)

func TestTally(t *testing.T) {
	t.Parallel()
	say := func(role parley.MessageRole, text string) *parley.Message {
		return &parley.Message{ID: "m", Role: role, Parts: []parley.Part{parley.TextPart(text)}}
	}
	usage := parley.Usage{InputTokens: 1, OutputTokens: 2, CacheReadTokens: 3, CacheWriteTokens: 4, CostMicroUSD: 5}
	minute := func(n int) time.Time { return at.Add(time.Duration(n) * time.Minute) }
	for _, test := range []struct {
		name   string
		bodies []parley.EventBody // one a minute, seq counted from 1
		want   parley.Tally
	}{
		{name: "nothing"},
		{
			name:   "started",
			bodies: []parley.EventBody{&parley.Started{Agent: "main"}},
			want:   parley.Tally{LastActivity: minute(1)},
		},
		{
			name:   "what is no activity",
			bodies: []parley.EventBody{&parley.Started{}, &parley.Updated{}, &parley.Ended{}, &parley.Custom{Type: "a:b"}, &parley.Tombstone{Of: "a:b"}},
			want:   parley.Tally{LastActivity: minute(1)},
		},
		{
			name:   "an input is activity and no message",
			bodies: []parley.EventBody{&parley.Admitted{Parts: []parley.Part{parley.TextPart("x")}}},
			want:   parley.Tally{LastActivity: minute(1)},
		},
		{
			name:   "the last message that shows anything is the preview",
			bodies: []parley.EventBody{say("user", "a"), say("assistant", "b"), say("tool", "c"), say("system", "d"), say("assistant", " ")},
			want:   parley.Tally{Counters: parley.Counters{Messages: 5}, Preview: "b", PreviewSeq: 2, LastActivity: minute(5)},
		},
		{
			name:   "a redacted message counts and shows nothing",
			bodies: []parley.EventBody{say("user", "a"), &parley.Tombstone{Of: parley.EventMessage}, &parley.Tombstone{Of: parley.EventInput}},
			want:   parley.Tally{Counters: parley.Counters{Messages: 2}, Preview: "a", PreviewSeq: 1, LastActivity: minute(3)},
		},
		{
			name: "turns add up",
			bodies: []parley.EventBody{
				&parley.TurnStarted{Attempt: 1},
				&parley.TurnCompleted{Usage: usage, PromptTokens: 10},
				&parley.TurnCompleted{Usage: usage, PromptTokens: 7},
				&parley.TurnCompleted{},
				&parley.TurnCompleted{Uncounted: true},
			},
			want: parley.Tally{
				Counters: parley.Counters{
					Turns: 3, LastPromptTokens: 7,
					Usage: parley.Usage{InputTokens: 2, OutputTokens: 4, CacheReadTokens: 6, CacheWriteTokens: 8, CostMicroUSD: 10},
				},
				LastActivity: minute(5),
			},
		},
		{
			name: "the last word on a participant counts",
			bodies: []parley.EventBody{
				&parley.ParticipantChanged{Identity: "a:1"},
				&parley.ParticipantChanged{Identity: "a:2"},
				&parley.ParticipantChanged{Identity: "a:1", Left: true},
			},
			want: parley.Tally{Participants: []parley.ParticipantChanged{{Identity: "a:1", Left: true}, {Identity: "a:2"}}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var got parley.Tally
			for i, body := range test.bodies {
				got.Add(uint64(i+1), minute(i+1), body)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestUsagePlus(t *testing.T) {
	t.Parallel()
	a := parley.Usage{InputTokens: 1, OutputTokens: 2, CacheReadTokens: 3, CacheWriteTokens: 4, CostMicroUSD: 5}
	b := parley.Usage{InputTokens: 10, OutputTokens: 20, CacheReadTokens: 30, CacheWriteTokens: 40, CostMicroUSD: 50}
	want := parley.Usage{InputTokens: 11, OutputTokens: 22, CacheReadTokens: 33, CacheWriteTokens: 44, CostMicroUSD: 55}
	if got := a.Plus(b); got != want || b.Plus(a) != want || a.Plus(parley.Usage{}) != a {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
