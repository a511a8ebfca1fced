package main

import (
	"encoding/json"
	"io"
	"strconv"
	"strings"
)

// printText writes text as it is.
func (a *app) printText(text string) error {
	_, err := io.WriteString(a.out, text)
	return err
}

// printJSON writes a value as JSON, readable by people too.
func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(a.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// thousands writes a number with its digits in groups.
func thousands(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return sign + b.String()
}

// counted writes a number and what it counts: "1 session", "2 sessions".
func counted(n int64, what string) string {
	if n != 1 {
		what += "s"
	}
	return thousands(n) + " " + what
}
