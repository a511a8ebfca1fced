package markdown_test

import (
	"math"
	"strings"
	"testing"

	"github.com/parley-run/parley/chat/markdown"
)

// Every colour can be read on backgrounds that terminals have.
func TestContrast(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		style      markdown.Style
		background [3]float64
	}{
		{dark, [3]float64{0, 0, 0}},
		{dark, [3]float64{40, 44, 52}},
		{light, [3]float64{255, 255, 255}},
		{light, [3]float64{253, 246, 227}},
	} {
		used := markdown.Colors(tt.style)
		if len(used) < 6 {
			t.Fatalf("only %d colours", len(used))
		}
		for color := range used {
			if color == 0 {
				continue // the terminal's own
			}
			if ratio := contrast(rgb(t, color), tt.background); ratio < 4.5 {
				t.Errorf("colour %d on %v has a contrast of %.1f", color, tt.background, ratio)
			}
		}
	}
}

// rgb gives a colour of the cube or of the greys, which terminals agree on.
func rgb(t *testing.T, color uint8) [3]float64 {
	t.Helper()
	levels := [6]float64{0, 95, 135, 175, 215, 255}
	switch {
	case color >= 232:
		grey := float64(8 + 10*(int(color)-232))
		return [3]float64{grey, grey, grey}
	case color >= 16:
		n := int(color) - 16
		return [3]float64{levels[n/36], levels[n/6%6], levels[n%6]}
	}
	t.Fatalf("colour %d is whatever the terminal's theme says", color)
	return [3]float64{}
}

func contrast(a, b [3]float64) float64 {
	x, y := luminance(a), luminance(b)
	return (math.Max(x, y) + 0.05) / (math.Min(x, y) + 0.05)
}

func luminance(c [3]float64) float64 {
	weights := [3]float64{0.2126, 0.7152, 0.0722}
	sum := 0.0
	for i, v := range c {
		v /= 255
		if v <= 0.04045 {
			v /= 12.92
		} else {
			v = math.Pow((v+0.055)/1.055, 2.4)
		}
		sum += weights[i] * v
	}
	return sum
}

func TestWithoutColor(t *testing.T) {
	t.Parallel()
	text := "# **a** *b* ~~c~~ `d` [e](f)\n\n```go\nfunc\n```\n\n| a |\n|---|\n| b |\n\n> q\n\n- i\n"
	got := strings.Join(whole(markdown.Style{Dark: true}, text, 40), "\n")
	if strings.Contains(got, "\x1b") {
		t.Errorf("there are colours in %q", got)
	}
	if want := "# **a** *b* ~~c~~ `d` e (f)"; !strings.HasPrefix(got, want) {
		t.Errorf("%q does not start with %q", got, want)
	}
}
