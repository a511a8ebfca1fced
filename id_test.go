package parley_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/parley-run/parley"
)

func TestNewSessionID(t *testing.T) {
	t.Parallel()
	east := time.FixedZone("east", 9*3600)
	for _, test := range []struct {
		namespace string
		at        time.Time
		random    [4]byte
		want      parley.SessionID
	}{
		{"cli", time.Date(2026, 1, 2, 3, 4, 5, 999, time.UTC), [4]byte{0, 0, 0, 0}, "cli:20260102_030405_00000000"},
		{"telegram", time.Date(2026, 1, 2, 3, 4, 5, 0, east), [4]byte{0xde, 0xad, 0xbe, 0xef}, "telegram:20260101_180405_deadbeef"},
	} {
		got := parley.NewSessionID(test.namespace, test.at, test.random)
		if got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
		if !regexp.MustCompile(`^[a-z]+:\d{8}_\d{6}_[0-9a-f]{8}$`).MatchString(string(got)) {
			t.Errorf("%s does not have the format", got)
		}
		if err := got.Validate(); err != nil {
			t.Errorf("%s: %v", got, err)
		}
		if got.Namespace() != test.namespace {
			t.Errorf("namespace of %s is %q", got, got.Namespace())
		}
	}
}

func TestIDs(t *testing.T) {
	t.Parallel()
	kinds := []struct {
		name     string
		validate func(string) error
		good     []string
		bad      []badID
	}{
		{
			name:     "session",
			validate: func(s string) error { return parley.SessionID(s).Validate() },
			good:     []string{"cli:work", "api:a:b:c", "web:café", "x:-", "x::", "cli:" + strings.Repeat("x", parley.MaxIDBytes-4)},
			bad: append(badIDs(),
				badID{"no namespace", ":work", parley.CodeInvalid},
				badID{"no name", "cli:", parley.CodeInvalid},
				badID{"no colon", "work", parley.CodeInvalid}),
		},
		{
			name:     "identity",
			validate: func(s string) error { return parley.IdentityID(s).Validate() },
			good:     []string{"telegram:7", "matrix:@alice:example.org", "local:owner"},
			bad: append(badIDs(),
				badID{"no channel", ":7", parley.CodeInvalid},
				badID{"no id", "telegram:", parley.CodeInvalid},
				badID{"no colon", "alice", parley.CodeInvalid}),
		},
		{
			name:     "key",
			validate: func(s string) error { return parley.Key(s).Validate() },
			good:     []string{"sk_v1_" + strings.Repeat("0", 64), "agent:main:main", "k"},
			bad:      badIDs(),
		},
		{
			name:     "alias",
			validate: func(s string) error { return parley.Alias(s).Validate() },
			good:     []string{"agent:main:telegram:group:-1001/42", `a chat with spaces and \`, strings.Repeat("x", parley.MaxAliasBytes)},
			bad: append(badNames(),
				badID{"nothing", "", parley.CodeInvalid},
				badID{"a byte too long", strings.Repeat("x", parley.MaxAliasBytes+1), parley.CodeTooLarge}),
		},
		{
			name:     "input origin",
			validate: func(s string) error { return parley.InputRef{Origin: s, ID: "1"}.Validate() },
			good:     []string{"telegram/default/-1001", "local:owner/cli:work"},
			bad:      append(badNames(), badID{"nothing", "", parley.CodeInvalid}),
		},
		{
			name:     "input id",
			validate: func(s string) error { return parley.InputRef{Origin: "x", ID: s}.Validate() },
			good:     []string{"1", "a message id/with anything"},
			bad: append(badNames(),
				badID{"nothing", "", parley.CodeInvalid},
				badID{"a byte too long", strings.Repeat("x", parley.MaxIDBytes+1), parley.CodeTooLarge}),
		},
	}
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			for _, id := range kind.good {
				if err := kind.validate(id); err != nil {
					t.Errorf("%.40q is refused: %v", id, err)
				}
			}
			for _, bad := range kind.bad {
				t.Run(bad.name, func(t *testing.T) {
					t.Parallel()
					wantCode(t, kind.validate(bad.id), bad.code)
				})
			}
		})
	}
}

func TestNamespace(t *testing.T) {
	t.Parallel()
	for id, want := range map[parley.SessionID]string{"cli:work": "cli", "a:b:c": "a", "work": "work", "": "", ":x": ""} {
		if got := id.Namespace(); got != want {
			t.Errorf("namespace of %q is %q, want %q", id, got, want)
		}
	}
}

func TestPageSize(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int]int{-1: 50, 0: 50, 1: 1, 50: 50, parley.MaxPageSize: parley.MaxPageSize, parley.MaxPageSize + 1: parley.MaxPageSize} {
		if got := parley.PageSize(limit); got != want {
			t.Errorf("PageSize(%d) is %d, want %d", limit, got, want)
		}
	}
}
