package files

import (
	"path"
	"regexp"
	"strings"
)

// newGlob gives what decides whether a path fits a glob: * and ? stay inside a
// name, ** goes through folders, [a-z] is one of a set, {a,b} one of several. A glob
// without a slash is about the last name.
func newGlob(glob string) (func(string) bool, error) {
	if len(glob) > maxPattern {
		return nil, refusef("glob must have at most %d bytes", maxPattern)
	}
	pattern, err := globPattern(glob)
	if err != nil {
		return nil, err
	}
	re, compileErr := regexp.Compile(pattern)
	if compileErr != nil {
		return nil, badGlob(glob)
	}
	if strings.Contains(glob, "/") {
		return re.MatchString, nil
	}
	return func(p string) bool { return re.MatchString(path.Base(p)) }, nil
}

func badGlob(glob string) error {
	return refusef("%s is no glob; use for example *.go, src/**/*.ts or *.{js,ts}", show(glob))
}

// globPattern writes a glob as a regular expression.
func globPattern(glob string) (string, error) {
	var b strings.Builder
	b.WriteString(`(?s)\A`)
	open := 0 // braces
	rest := strings.TrimPrefix(glob, "./")
	for rest != "" {
		switch c := rest[0]; {
		case strings.HasPrefix(rest, "**/"):
			b.WriteString(`(?:.*/)?`)
			rest = rest[3:]
			continue
		case strings.HasPrefix(rest, "**"):
			b.WriteString(`.*`)
			rest = rest[2:]
			continue
		case c == '*':
			b.WriteString(`[^/]*`)
		case c == '?':
			b.WriteString(`[^/]`)
		case c == '[':
			set, after, ok := globSet(rest)
			if !ok {
				return "", badGlob(glob)
			}
			b.WriteString(set)
			rest = after
			continue
		case c == '{':
			open++
			b.WriteString(`(?:`)
		case c == '}' && open > 0:
			open--
			b.WriteString(`)`)
		case c == ',' && open > 0:
			b.WriteString(`|`)
		case c == '\\' && len(rest) > 1:
			b.WriteString(regexp.QuoteMeta(rest[1:2]))
			rest = rest[2:]
			continue
		default:
			b.WriteString(regexp.QuoteMeta(rest[:1]))
		}
		rest = rest[1:]
	}
	if open > 0 {
		return "", badGlob(glob)
	}
	b.WriteString(`\z`)
	return b.String(), nil
}

// globSet writes a set such as [a-z] or [^0-9] at the start of a glob as one of a
// regular expression, which never fits a slash.
func globSet(rest string) (set, after string, ok bool) {
	body := rest[1:]
	negated := strings.HasPrefix(body, "^") || strings.HasPrefix(body, "!")
	if negated {
		body = body[1:]
	}
	end := strings.IndexByte(body, ']')
	if end <= 0 || strings.ContainsAny(body[:end], `/\[`) {
		return "", "", false
	}
	inner := strings.ReplaceAll(strings.ReplaceAll(body[:end], "^", `\^`), "&", `\&`)
	if negated {
		return "[^/" + inner + "]", body[end+1:], true
	}
	return "[" + inner + "]", body[end+1:], true
}
