package storetest

import (
	"strings"
	"time"

	"github.com/parley-run/parley"
)

var counterTests = []test{
	{"messages and turns are counted, usage is added up", func(f *fixture) {
		f.change(newSession(home, says(2)...))
		f.change(appendTo(home,
			parley.NewEvent{Body: &parley.TurnCompleted{
				StopReason: parley.StopDone, PromptTokens: 100,
				Usage: parley.Usage{InputTokens: 1, OutputTokens: 2, CacheReadTokens: 3, CacheWriteTokens: 4, CostMicroUSD: 1 << 40},
			}},
			parley.NewEvent{Body: &parley.Message{ID: "t", Role: parley.MessageTool}},
			parley.NewEvent{Body: &parley.TurnCompleted{
				StopReason: parley.StopError,
				Usage:      parley.Usage{InputTokens: 10, OutputTokens: 20, CacheReadTokens: 30, CacheWriteTokens: 40, CostMicroUSD: 5},
			}},
			join(anna)))
		want := parley.Counters{
			Messages: 3, Turns: 2, LastPromptTokens: 100,
			Usage: parley.Usage{
				InputTokens: 11, OutputTokens: 22, CacheReadTokens: 33, CacheWriteTokens: 44, CostMicroUSD: 1<<40 + 5,
			},
		}
		f.equal("counters", want, f.session(home).Counters)
		f.reopen()
		f.equal("counters after a reopen", want, f.session(home).Counters)
		f.change(redact(home, 1))
		f.equal("counters after a redaction", want, f.session(home).Counters)
	}},
	{"the preview is of the last message that has one", func(f *fixture) {
		f.change(newSession(home, say("m1", " first \n line ")))
		f.equal("preview", "first line", f.session(home).Preview)
		f.change(appendTo(home, reply("m2", strings.Repeat("ö", 500))))
		f.equal("preview of a long message", strings.Repeat("ö", 120)+"…", f.session(home).Preview)
		hidden := []parley.Part{parley.TextPart("no list shows this")}
		f.change(appendTo(home, reply("m3", "third"), reply("m4", " "),
			parley.NewEvent{Body: &parley.Message{ID: "m5", Role: parley.MessageTool, Parts: hidden}},
			parley.NewEvent{Body: &parley.Message{ID: "m6", Role: parley.MessageSystem, Parts: hidden}}))
		f.equal("preview", "third", f.session(home).Preview)
		noted := say("m7", "fourth").Body.(*parley.Message)
		noted.Parts = append([]parley.Part{{Kind: parley.PartText, Note: true, Text: "nobody wrote this"}}, noted.Parts...)
		f.change(appendTo(home, parley.NewEvent{Body: noted},
			parley.NewEvent{Body: &parley.Message{ID: "m8", Role: parley.MessageUser, Parts: noted.Parts[:1]}}))
		f.equal("preview beside a note", "fourth", f.session(home).Preview)
		events := f.events(home)
		got, err := events[len(events)-2].Decode()
		f.code("Decode", "", err)
		f.equal("message with its note", noted, got.(*parley.Message))
	}},
	{"the last activity is the time of the last event that is one", func(f *fixture) {
		f.change(newSession(home))
		f.equal("without events", f.now, f.session(home).UpdatedAt)
		f.change(appendTo(home, say("m1", "hello")))
		f.equal("after a message", f.now, f.session(home).UpdatedAt)
		active := f.now
		f.change(appendTo(home, join(anna), parley.NewEvent{Body: &parley.Custom{Type: customType, Data: []byte(`{}`)}}))
		f.change(parley.SessionChange{Session: home, Claim: true, Patch: parley.SessionPatch{Description: new("new")}})
		f.equal("after what is no activity", active, f.session(home).UpdatedAt)
		f.change(admit(home, post("1", "hello")))
		f.equal("after an input", f.now, f.session(home).UpdatedAt)
		for _, body := range []parley.EventBody{
			&parley.Started{Agent: "helper", Source: parley.Source{Kind: "cli"}},
			&parley.TurnStarted{Attempt: 1}, &parley.TurnCompleted{StopReason: parley.StopDone},
		} {
			f.change(appendTo(home, parley.NewEvent{Body: body}))
			f.equal("after "+string(body.EventType()), f.now, f.session(home).UpdatedAt)
		}
		imported := startOfTime.Add(-time.Hour)
		f.change(appendTo(home, parley.NewEvent{Body: say("m2", "x").Body, At: imported}))
		f.equal("after an imported message", imported, f.session(home).UpdatedAt)
	}},
	{"they agree with what the root package adds up", func(f *fixture) {
		f.change(newSession(home, says(3)...))
		f.change(appendTo(home, join(anna), reply("m4", "answer"), parley.NewEvent{Body: &parley.TurnCompleted{
			StopReason: parley.StopDone, PromptTokens: 5, Usage: parley.Usage{InputTokens: 5},
		}}))
		f.change(redact(home, 5))
		var tally parley.Tally
		for _, e := range f.events(home) {
			body, err := e.Decode()
			f.code("Decode", "", err)
			tally.Add(e.Seq, e.At, body)
		}
		s := f.session(home)
		f.equal("counters", tally.Counters, s.Counters)
		f.equal("preview", tally.Preview, s.Preview)
		f.equal("last activity", tally.LastActivity, s.UpdatedAt)
	}},
}
