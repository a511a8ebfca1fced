package storetest

import (
	"slices"

	"github.com/parley-run/parley"
)

// plainBodies makes the bodies that no store looks into. Together with messages,
// participants and inputs they are all there are; the coverage table says if one
// is missing.
var plainBodies = map[parley.EventType]func(*generator) parley.EventBody{
	parley.EventStarted: func(*generator) parley.EventBody {
		return &parley.Started{Agent: "helper", Source: parley.Source{Kind: "cli"}}
	},
	parley.EventUpdated: func(*generator) parley.EventBody { return &parley.Updated{Fields: []string{"title"}} },
	parley.EventTurnStarted: func(g *generator) parley.EventBody {
		return &parley.TurnStarted{Attempt: g.upTo(3), Prompt: parley.PromptRef{ID: "p", Version: 1}}
	},
	parley.EventToolStarted: func(g *generator) parley.EventBody {
		return &parley.ToolStarted{Call: pick(g, callIDs), Tool: "shell"}
	},
	parley.EventToolCompleted: func(g *generator) parley.EventBody {
		return &parley.ToolCompleted{Call: pick(g, callIDs), Tool: "shell", State: parley.CallFinished}
	},
	parley.EventApprovalRequested: func(g *generator) parley.EventBody {
		return &parley.ApprovalRequested{
			Call: pick(g, callIDs), Tool: "shell", Deadline: g.moment(), Default: parley.ApprovalDenied,
		}
	},
	parley.EventApprovalResolved: func(g *generator) parley.EventBody {
		return &parley.ApprovalResolved{Call: pick(g, callIDs), State: parley.ApprovalApproved, By: pick(g, identityIDs)}
	},
	parley.EventTurnCompleted: func(g *generator) parley.EventBody {
		return &parley.TurnCompleted{
			StopReason: parley.StopDone, Usage: g.usage(), PromptTokens: either(g, 0, int64(g.upTo(1000))),
			Error:     maybe(g, 20, func() parley.TurnError { return parley.TurnError{Code: "turn_limit", Message: "too\nmany"} }),
			Uncounted: either(g, false, true),
		}
	},
	parley.EventDirectiveInjected: func(*generator) parley.EventBody {
		return &parley.DirectiveInjected{Inputs: []parley.InputRef{{Origin: "cli/x", ID: "1"}}}
	},
	parley.EventReset: func(g *generator) parley.EventBody {
		return &parley.Reset{From: pick(g, sessionIDs), Reason: "daily", TailUpto: either(g, uint64(0), 7)}
	},
	parley.EventResumed: func(g *generator) parley.EventBody {
		return &parley.Resumed{Instead: either(g, "", pick(g, sessionIDs))}
	},
	parley.EventSuspended: func(*generator) parley.EventBody { return &parley.Suspended{Reason: "three strikes"} },
	parley.EventRewound:   func(*generator) parley.EventBody { return &parley.Rewound{ToSeq: 1, Turns: 2} },
	parley.EventForked: func(g *generator) parley.EventBody {
		return &parley.Forked{From: pick(g, sessionIDs), AtSeq: 3}
	},
	parley.EventPromoted: func(g *generator) parley.EventBody {
		return &parley.Promoted{Key: pick(g, keyNames), Alias: pick(g, aliasNames)}
	},
	parley.EventRedacted: func(*generator) parley.EventBody {
		return &parley.Redacted{Seqs: []uint64{1, 2}, Reason: "asked\nfor"}
	},
	parley.EventDeliveryFailed: func(g *generator) parley.EventBody {
		return &parley.DeliveryFailed{Delivery: pick(g, deliveryIDs), Channel: "telegram", Reason: "blocked"}
	},
	parley.EventEnded: func(g *generator) parley.EventBody {
		return &parley.Ended{Reason: "reset", Next: either(g, "", pick(g, sessionIDs))}
	},
	customType: func(g *generator) parley.EventBody {
		return &parley.Custom{Type: customType, Data: []byte(either(g, `{"n":1.50,"s":"<ü>"}`, `[1,[2]]`, `"text"`, `null`))}
	},
}

// customType is an event type that an embedding program brings.
const customType parley.EventType = "app:happened"

// otherBody makes a body of a random plain type.
func (g *generator) otherBody() parley.EventBody {
	types := make([]parley.EventType, 0, len(plainBodies))
	for t := range plainBodies {
		types = append(types, t)
	}
	slices.Sort(types) // a sequence depends on its seed alone
	return plainBodies[pick(g, types)](g)
}

func (g *generator) usage() parley.Usage {
	return parley.Usage{
		InputTokens: int64(g.IntN(1000)), OutputTokens: int64(g.IntN(1000)), CacheReadTokens: int64(g.IntN(1000)),
		CacheWriteTokens: int64(g.IntN(1000)), CostMicroUSD: 1 << g.IntN(50),
	}
}
