package editor

// style is the parameters of an ANSI sequence; empty is no style at all.
type style string

func (s style) paint(text string) string {
	if s == "" || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[m"
}

// palette is how the parts of the view are drawn.
type palette struct {
	prompt, quiet, paste, choice, chosen style
}

func newPalette(color, dark bool) palette {
	switch {
	case !color:
		return palette{}
	case dark:
		return palette{prompt: "38;5;111", quiet: "38;5;245", paste: "38;5;179", choice: "38;5;250", chosen: "1;38;5;111"}
	default:
		return palette{prompt: "38;5;25", quiet: "38;5;243", paste: "38;5;94", choice: "38;5;238", chosen: "1;38;5;25"}
	}
}
