package parley_test

import (
	"testing"

	"github.com/parley-run/parley"
)

func TestVisibility(t *testing.T) {
	t.Parallel()
	within := func(v parley.Visibility, namespace string) parley.Visibility {
		v.Namespace = namespace
		return v
	}
	both := []parley.IdentityID{"telegram:7", "slack:U1"}
	for _, test := range []struct {
		name         string
		v            parley.Visibility
		session      parley.SessionID
		participants []parley.IdentityID
		want         bool
	}{
		{"zero sees nothing", parley.Visibility{}, "cli:work", both, false},
		{"a namespace alone sees nothing", parley.Visibility{Namespace: "cli"}, "cli:work", both, false},
		{"nobody sees nothing", parley.SeeAs(), "cli:work", nil, false},
		{"all", parley.SeeAll(), "cli:work", nil, true},
		{"all of a namespace", within(parley.SeeAll(), "cli"), "cli:work", nil, true},
		{"all of another namespace", within(parley.SeeAll(), "web"), "cli:work", nil, false},
		{"a namespace that starts alike", within(parley.SeeAll(), "cl"), "cli:work", nil, false},
		{"takes part", parley.SeeAs("slack:U1"), "cli:work", both, true},
		{"takes part by another identity", parley.SeeAs("web:1", "telegram:7"), "cli:work", both, true},
		{"does not take part", parley.SeeAs("telegram:8"), "cli:work", both, false},
		{"an identity that starts alike", parley.SeeAs("telegram:77", "telegram:"), "cli:work", both, false},
		{"nobody takes part", parley.SeeAs("telegram:7"), "cli:work", nil, false},
		{"takes part, within the namespace", within(parley.SeeAs("telegram:7"), "cli"), "cli:work", both, true},
		{"takes part, outside of the namespace", within(parley.SeeAs("telegram:7"), "web"), "cli:work", both, false},
		{"does not take part, within the namespace", within(parley.SeeAs("telegram:8"), "cli"), "cli:work", both, false},
	} {
		if got := test.v.Allows(test.session, test.participants); got != test.want {
			t.Errorf("%s: got %v", test.name, got)
		}
		if test.want && test.v.Empty() {
			t.Errorf("%s: counts as empty, but sees something", test.name)
		}
	}
	if !(parley.Visibility{}).Empty() || !parley.SeeAs().Empty() || parley.SeeAll().Empty() || parley.SeeAs("a:1").Empty() {
		t.Error("Empty is wrong")
	}
}
