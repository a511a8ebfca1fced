package config_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/config"
	"github.com/parley-run/parley/lifecycle"
	"github.com/parley-run/parley/route"
)

func TestPolicies(t *testing.T) {
	t.Parallel()
	c := load(t, `
session:
  reset: {mode: daily, at_hour: 0, zone: Europe/Berlin, notify: false, by_type: {group: {mode: none}}}
  resume: {freshness: 0s, strikes: 5}
channels:
  telegram: {session: {reset: {mode: idle, idle_minutes: 30, carry: none, by_type: {direct: {at_hour: 7}}}}}
  slack: {}
`).Config
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	hour := func(h int) *int { return &h }
	day := 24 * time.Hour
	ps := c.Policies()
	if err := ps.Validate(); err != nil {
		t.Error(err)
	}
	for _, test := range []struct {
		channel string
		typ     parley.SessionType
		want    lifecycle.Policy
		rule    lifecycle.Rule
	}{
		{"slack", parley.SessionDirect, lifecycle.Policy{Mode: lifecycle.ModeDaily, AtHour: hour(0), Idle: day, Zone: berlin, Quiet: true, Carry: lifecycle.CarryTail}, lifecycle.RuleDefault},
		{"slack", parley.SessionGroup, lifecycle.Policy{Mode: lifecycle.ModeNone, AtHour: hour(4), Idle: day, Carry: lifecycle.CarryTail}, lifecycle.RuleType},
		{"telegram", parley.SessionGroup, lifecycle.Policy{Mode: lifecycle.ModeIdle, AtHour: hour(4), Idle: 30 * time.Minute, Carry: lifecycle.CarryNone}, lifecycle.RuleChannel},
		{"telegram", parley.SessionDirect, lifecycle.Policy{Mode: lifecycle.ModeBoth, AtHour: hour(7), Idle: day, Carry: lifecycle.CarryTail}, lifecycle.RuleChannelType},
	} {
		got, rule := ps.For(test.channel, test.typ)
		if diff := cmp.Diff(test.want, got, cmp.Comparer(func(a, b *time.Location) bool { return a.String() == b.String() && (a == nil) == (b == nil) })); diff != "" || rule != test.rule {
			t.Errorf("%s, %s: rule %s, want %s; -want +got:\n%s", test.channel, test.typ, rule, test.rule, diff)
		}
	}
	if r := c.Resume(); *r.Freshness != 0 || r.Strikes != 5 || r.Validate() != nil {
		t.Errorf("resume is %+v", r)
	}
}

// TestDefaultsAgree holds that both packages mean the same by saying nothing.
func TestDefaultsAgree(t *testing.T) {
	t.Parallel()
	c := config.Default()
	p := c.Policies().Default
	if *p.AtHour != lifecycle.DefaultAtHour || p.Idle != lifecycle.DefaultIdle || p.Mode != lifecycle.ModeBoth || p.Carry != lifecycle.CarryTail || p.Quiet || p.Zone != nil {
		t.Errorf("the default policy is %+v", p)
	}
	if r := c.Resume(); *r.Freshness != lifecycle.DefaultFreshness || r.Strikes != lifecycle.DefaultStrikes {
		t.Errorf("the default of resume is %+v", r)
	}
	if c.Session.InactiveAfter != lifecycle.DefaultInactiveAfter {
		t.Errorf("session.inactive_after is %s", c.Session.InactiveAfter)
	}
}

func TestRoute(t *testing.T) {
	t.Parallel()
	l := load(t, contract, "PARLEY_SESSION_UNIFIED=true", "PARLEY_SESSION_GROUP_SESSIONS_PER_USER=true", "PARLEY_SESSION_THREAD_SESSIONS_PER_USER=true")
	want := route.Config{
		Agents: []string{"main", "ops"}, DefaultAgent: "main", Dimensions: []parley.Dimension{"chat"},
		GroupSessionsPerUser: true, ThreadSessionsPerUser: true, Unified: true,
		IdentityLinks: map[string][]string{"alice": {"telegram:7", "slack:U01"}},
		Routes: []route.Route{{
			Match: route.Match{Channel: "telegram", Chat: "group:-1001"}, Agent: "ops", Dimensions: []parley.Dimension{"chat", "sender"},
		}},
	}
	if diff := cmp.Diff(want, l.Config.Route()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if _, err := route.New(l.Config.Route()); err != nil {
		t.Error(err)
	}
}
