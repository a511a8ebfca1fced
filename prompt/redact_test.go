package prompt_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/prompt"
)

func digits(key []byte, text string) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil))[:12]
}

func TestRedactor(t *testing.T) {
	t.Parallel()
	usual, err := prompt.NewRedactor(idKey, nil)
	if err != nil {
		t.Fatal(err)
	}
	others, err := prompt.NewRedactor(idKey, []string{"Slack"})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, got, want string }{
		{"user", usual.User("telegram:7"), "user_" + digits(idKey, "user\x00telegram:7")},
		{"chat", usual.Chat("telegram", "-1001"), "telegram:" + digits(idKey, "chat\x00telegram:-1001")},
		{"discord", usual.User("discord:7"), "discord:7"},
		{"chat of discord", usual.Chat("discord", "7"), "discord:7"},
		{"chat of discord in capitals", usual.Chat("Discord", "7"), "Discord:7"},
		{"not marked safe", usual.User("slack:U7"), "slack:U7"},
		{"unknown", usual.Chat("pigeon", "7"), "pigeon:7"},
		{"no user", usual.User(""), ""},
		{"no chat", usual.Chat("telegram", ""), ""},
		{"marked safe", others.User("slack:U7"), "user_" + digits(idKey, "user\x00slack:U7")},
		{"no longer marked safe", others.User("telegram:7"), "telegram:7"},
		{"no redactor, user", (*prompt.Redactor)(nil).User("discord:7"), ""},
		{"no redactor, chat", (*prompt.Redactor)(nil).Chat("discord", "7"), ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if test.got != test.want {
				t.Errorf("got %q, want %q", test.got, test.want)
			}
		})
	}
	t.Run("another key", func(t *testing.T) {
		t.Parallel()
		other, err := prompt.NewRedactor([]byte("another key for tests, of 16 or so"), nil)
		if err != nil {
			t.Fatal(err)
		}
		if other.User("telegram:7") == usual.User("telegram:7") {
			t.Error("the key does not matter")
		}
	})
}

func TestRefusedKeys(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]prompt.Config{
		"empty":   {IDKey: []byte{}},
		"short":   {IDKey: idKey[:15]},
		"discord": {IDKey: idKey, SafePlatforms: []string{"telegram", "Discord"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := prompt.New(cfg); !errors.Is(err, parley.ErrInvalid) {
				t.Errorf("got %v", err)
			}
		})
	}
}
