package termsvg

import (
	"strconv"
	"strings"
)

// style is how a cell is drawn.
type style struct {
	fore, back                                              color
	bold, faint, italic, underline, strike, reverse, hidden bool
}

// apply takes the parameters of an SGR sequence. Those it does not know change
// nothing.
func (s *style) apply(params string) {
	list := strings.Split(params, ";")
	for len(list) > 0 {
		// Parameters of a parameter are behind colons.
		name, sub, hasSub := strings.Cut(list[0], ":")
		list = list[1:]
		n, err := strconv.Atoi(name)
		if name == "" {
			n, err = 0, nil
		}
		switch {
		case err != nil:
		case n == 38 || n == 48 || n == 58:
			var c color
			var ok bool
			if hasSub {
				c, _, ok = readColor(strings.Split(sub, ":"))
			} else {
				c, list, ok = readColor(list)
			}
			switch {
			case ok && n == 38:
				s.fore = c
			case ok && n == 48:
				s.back = c
			}
		case n == 4 && sub == "0":
			s.underline = false
		default:
			s.set(n)
		}
	}
}

// set takes a parameter that stands for itself.
func (s *style) set(n int) {
	switch n {
	case 0:
		*s = style{}
	case 1:
		s.bold = true
	case 2:
		s.faint = true
	case 3:
		s.italic = true
	case 4, 21:
		s.underline = true
	case 7:
		s.reverse = true
	case 8:
		s.hidden = true
	case 9:
		s.strike = true
	case 22:
		s.bold, s.faint = false, false
	case 23:
		s.italic = false
	case 24:
		s.underline = false
	case 27:
		s.reverse = false
	case 28:
		s.hidden = false
	case 29:
		s.strike = false
	case 39:
		s.fore = color{}
	case 49:
		s.back = color{}
	}
	switch {
	case n >= 30 && n <= 37:
		s.fore = indexed(n - 30)
	case n >= 40 && n <= 47:
		s.back = indexed(n - 40)
	case n >= 90 && n <= 97:
		s.fore = indexed(n - 90 + 8)
	case n >= 100 && n <= 107:
		s.back = indexed(n - 100 + 8)
	}
}

// readColor takes 5;n or 2;r;g;b from the start of a list. With colons there may be
// a colour space before the r.
func readColor(list []string) (c color, rest []string, ok bool) {
	number := func(i int) int {
		if n, err := strconv.Atoi(list[i]); err == nil && n >= 0 && n <= 255 {
			return n
		}
		ok = false
		return 0
	}
	ok = true
	switch {
	case len(list) >= 2 && list[0] == "5":
		return indexed(number(1)), list[2:], ok
	case len(list) == 5 && list[0] == "2" && list[1] == "":
		return exact(number(2), number(3), number(4)), nil, ok
	case len(list) >= 4 && list[0] == "2":
		return exact(number(1), number(2), number(3)), list[4:], ok
	}
	return color{}, nil, false
}
