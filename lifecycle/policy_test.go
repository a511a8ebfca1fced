package lifecycle_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/lifecycle"
)

func TestPoliciesFor(t *testing.T) {
	t.Parallel()
	const direct, group = parley.SessionDirect, parley.SessionGroup
	// A policy is known by its idle time; what it leaves out must not be filled
	// in from the others, which are all quiet.
	idle := func(minutes int) lifecycle.Policy {
		return lifecycle.Policy{Idle: time.Duration(minutes) * time.Minute}
	}
	all := lifecycle.Policies{
		Default: lifecycle.Policy{Mode: lifecycle.ModeDaily, Quiet: true, Carry: lifecycle.CarryNone},
		Types:   map[parley.SessionType]lifecycle.Policy{group: idle(1)},
		Channels: map[string]lifecycle.ChannelPolicies{
			"telegram": {Default: new(idle(2)), Types: map[parley.SessionType]lifecycle.Policy{group: idle(3)}},
			"slack":    {Types: map[parley.SessionType]lifecycle.Policy{direct: idle(4)}},
			"discord":  {Default: new(lifecycle.Policy{})},
		},
	}
	if err := all.Validate(); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		channel string
		typ     parley.SessionType
		want    lifecycle.Policy
		rule    lifecycle.Rule
	}{
		{"telegram", group, idle(3), lifecycle.RuleChannelType},
		{"telegram", direct, idle(2), lifecycle.RuleChannel},
		{"slack", direct, idle(4), lifecycle.RuleChannelType},
		{"slack", group, idle(1), lifecycle.RuleType},
		{"discord", group, lifecycle.Policy{}, lifecycle.RuleChannel},
		{"web", group, idle(1), lifecycle.RuleType},
		{"web", direct, all.Default, lifecycle.RuleDefault},
		{"", direct, all.Default, lifecycle.RuleDefault},
	}
	for _, test := range tests {
		t.Run(test.channel+"/"+string(test.typ), func(t *testing.T) {
			t.Parallel()
			got, rule := all.For(test.channel, test.typ)
			if got != test.want || rule != test.rule {
				t.Errorf("got %+v by %s, want %+v by %s", got, rule, test.want, test.rule)
			}
		})
	}
	if got, rule := (lifecycle.Policies{}).For("telegram", group); got != (lifecycle.Policy{}) || rule != lifecycle.RuleDefault {
		t.Errorf("without any: got %+v by %s", got, rule)
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	telegram := func(of lifecycle.ChannelPolicies) lifecycle.Policies {
		return lifecycle.Policies{Channels: map[string]lifecycle.ChannelPolicies{"slack": {}, "telegram": of}}
	}
	tests := []struct {
		name string
		err  error
		want string // in the message, or "" for none
	}{
		{"the default", lifecycle.Policy{}.Validate(), ""},
		{"hour 0", lifecycle.Policy{AtHour: new(0)}.Validate(), ""},
		{"hour 23", lifecycle.Policy{AtHour: new(23)}.Validate(), ""},
		{"hour -1", lifecycle.Policy{AtHour: new(-1)}.Validate(), "reset hour -1 does not exist; it must be 0 to 23"},
		{"hour 24", lifecycle.Policy{AtHour: new(24)}.Validate(), "reset hour 24 does not exist; it must be 0 to 23"},
		{"mode", lifecycle.Policy{Mode: "hourly"}.Validate(), `reset mode "hourly" is not known; it must be none, idle, daily or both`},
		{"carry", lifecycle.Policy{Carry: "all"}.Validate(), `reset carry "all" is not known; it must be tail or none`},
		{"negative idle", lifecycle.Policy{Idle: -time.Minute}.Validate(), "idle time -1m0s is not possible"},
		{"endless idle", lifecycle.Policy{Idle: lifecycle.MaxIdle + 1}.Validate(), "at most 100 years"},
		{"the default everywhere", lifecycle.Policies{}.Validate(), ""},
		{"the default of all", lifecycle.Policies{Default: lifecycle.Policy{Mode: "x"}}.Validate(), `reset mode "x"`},
		{
			"a type", lifecycle.Policies{Types: map[parley.SessionType]lifecycle.Policy{"group": {Mode: "x"}}}.Validate(),
			`type group: reset mode "x"`,
		},
		{
			"an unknown type", lifecycle.Policies{Types: map[parley.SessionType]lifecycle.Policy{"thread": {}}}.Validate(),
			`session type "thread" is not known; it must be direct or group`,
		},
		{"a channel", telegram(lifecycle.ChannelPolicies{Default: &lifecycle.Policy{Mode: "x"}}).Validate(), `channel telegram: reset mode "x"`},
		{
			"a channel's type", telegram(lifecycle.ChannelPolicies{Types: map[parley.SessionType]lifecycle.Policy{"direct": {AtHour: new(99)}}}).Validate(),
			"channel telegram: type direct: reset hour 99",
		},
		{
			"a channel's unknown type", telegram(lifecycle.ChannelPolicies{Types: map[parley.SessionType]lifecycle.Policy{"dm": {}}}).Validate(),
			`channel telegram: session type "dm" is not known`,
		},
		{"resume", lifecycle.Resume{}.Validate(), ""},
		{"strikes", lifecycle.Resume{Strikes: -1}.Validate(), "-1 strikes are not possible"},
		{"retention", lifecycle.Retention{}.Validate(), ""},
		{"negative retention", lifecycle.Retention{After: -1}.Validate(), "sessions cannot be removed -1ns after"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if test.want == "" {
				if test.err != nil {
					t.Errorf("got %v", test.err)
				}
				return
			}
			if !errors.Is(test.err, parley.ErrInvalid) || !strings.Contains(test.err.Error(), test.want) {
				t.Errorf("got %v, want it to say %q", test.err, test.want)
			}
		})
	}
}

// TestZeroPolicy holds what the zero value promises: both clocks, four o'clock,
// 24 hours, the machine's zone.
func TestZeroPolicy(t *testing.T) {
	t.Parallel()
	var zero lifecycle.Policy
	full := lifecycle.Policy{Mode: lifecycle.ModeBoth, AtHour: new(4), Idle: 24 * time.Hour, Zone: time.Local, Carry: lifecycle.CarryTail}
	last := time.Date(2026, 6, 16, 12, 0, 0, 0, time.Local)
	for hours := range 72 {
		now := last.Add(time.Duration(hours) * time.Hour)
		got, want := lifecycle.Open(session(last), lifecycle.Work{}, zero, now), lifecycle.Open(session(last), lifecycle.Work{}, full, now)
		if got != want {
			t.Fatalf("after %d hours: got %+v, want %+v", hours, got, want)
		}
	}
	day := time.Date(2026, 6, 17, 4, 0, 0, 0, time.Local)
	if got := lifecycle.Open(session(last), lifecycle.Work{}, zero, day); got.Reason != lifecycle.ReasonDaily || !got.Due.Equal(day) {
		t.Errorf("at four: %+v", got)
	}
}
