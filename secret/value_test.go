package secret_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/parley-run/parley/secret"
)

func TestValueNeverPrintsItself(t *testing.T) {
	t.Parallel()
	const text = "correcthorse"
	v := secret.NewValue(text)
	type outer struct {
		Shown  secret.Value
		hidden secret.Value // fmt does not call the methods of such fields
		Ptr    *secret.Value
	}
	holder := outer{Shown: v, hidden: v, Ptr: &v}
	if holder.hidden.Reveal() != text {
		t.Fatal("the value is lost")
	}
	var out strings.Builder
	for _, x := range []any{v, &v, holder, &holder, []secret.Value{v}, map[string]secret.Value{"k": v}, [1]any{v}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%p", "%t", "%10.3s", "%T", "%w"} {
			fmt.Fprintf(&out, verb+"\n", x)
		}
		data, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(data)
		for _, h := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
			slog.New(h).Info("logged", "x", x, slog.Group("g", "x", x))
		}
	}
	for _, form := range []string{text, fmt.Sprintf("%x", text), fmt.Sprintf("%X", text), "[99 111", text[:3]} {
		if strings.Contains(out.String(), form) {
			t.Errorf("%q was printed:\n%s", form, out.String())
		}
	}
	if !strings.Contains(out.String(), secret.Mask) {
		t.Error("nothing was masked")
	}
}

func TestValueForms(t *testing.T) {
	t.Parallel()
	v := secret.NewValue(sample)
	text, err := v.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(map[string]any{"v": v})
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]string{
		"String": v.String(), "GoString": v.GoString(), "%v": fmt.Sprint(v), "%#v": fmt.Sprintf("%#v", v),
		"%x": fmt.Sprintf("%x", v), "LogValue": v.LogValue().String(), "MarshalText": string(text),
	} {
		if got != secret.Mask {
			t.Errorf("%s gives %q", name, got)
		}
	}
	if want := []byte(`{"v":"[secret]"}`); !bytes.Equal(data, want) {
		t.Errorf("JSON is %s, want %s", data, want)
	}
	if got := v.Reveal(); got != sample {
		t.Errorf("revealed %q", got)
	}
	if got := (secret.Value{}).Reveal(); got != "" {
		t.Errorf("the zero value reveals %q", got)
	}
}
