package httpapi_test

import (
	"encoding/json"
	"errors"
	"testing"
	"unicode/utf8"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/httpapi"
)

// FuzzDecode reads bodies: what is taken is JSON that a plain decoder reads alike,
// and what is not is told in words that can be shown.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"text":"hello","input_id":"1"}`, `{"content":[{"type":"text","text":"a"}]}`, `{"text":null}`, `[]`, `{"text":"a","text":"b"}`,
		`{"sender":{"channel":"web","id":"x"},"mentioned":true}`, "{\"text\":\"\xff\"}", `{"text":"\ud800"}`, `{"a":[[[[{}]]]]}`, ``, `1e999`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		text, err := httpapi.DecodePost(data)
		if err != nil {
			if !errors.Is(err, parley.ErrInvalid) || !utf8.ValidString(err.Error()) {
				t.Fatalf("got %q", err)
			}
			return
		}
		var plain struct {
			Text *string `json:"text"`
		}
		if err := json.Unmarshal(data, &plain); err != nil {
			t.Fatalf("it was taken: %v", err)
		}
		if plain.Text != nil && *plain.Text != text || plain.Text == nil && text != "" {
			t.Errorf("got %q", text)
		}
	})
}
