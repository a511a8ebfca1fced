package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-run/parley"
)

// Place is where something stands: a file or a variable, and the line and column
// in it, both counted from 1.
type Place struct {
	// File is the path of the configuration file; empty for a variable.
	File string `json:"file,omitempty"`
	// Variable is the name of the variable; empty for the file.
	Variable string `json:"variable,omitempty"`
	Line     int    `json:"line,omitempty"`
	Column   int    `json:"column,omitempty"`
}

// String gives file:line:column, or the variable's name, with line and column
// if it is not the beginning.
func (p Place) String() string {
	if p.Variable != "" && p.Line <= 1 && p.Column <= 1 {
		return p.Variable
	}
	return fmt.Sprintf("%s:%d:%d", p.source(), p.Line, p.Column)
}

func (p Place) source() string { return cmp.Or(p.File, p.Variable) }

// compare orders places: the file first, then the variables, each from the top.
func (p Place) compare(q Place) int {
	return cmp.Or(cmp.Compare(p.Variable, q.Variable), cmp.Compare(p.Line, q.Line), cmp.Compare(p.Column, q.Column))
}

// Problem is something that is wrong with a configuration, or looks like it. The
// message names the key, its value unless that may be a secret, and what would be
// right.
type Problem struct {
	Place
	Message string `json:"message"`
}

// String gives the place and the message.
func (p Problem) String() string { return p.Place.String() + ": " + p.Message }

// Problems is a list of what was found, from the top of the file down, variables
// last.
type Problems []Problem

// InvalidError is a configuration that cannot be used.
type InvalidError struct {
	// Problems is everything that is wrong with it: at least one.
	Problems Problems
}

// Error gives the first problem and says how many more there are.
func (e *InvalidError) Error() string {
	text := e.Problems[0].String()
	if more := len(e.Problems) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more; see 'parley config check')", more)
	}
	return text
}

// Sorted gives the problems in order, each once.
func (ps Problems) Sorted() Problems {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(a.compare(b.Place), strings.Compare(a.Message, b.Message))
	})
	return slices.Compact(ps)
}

// err gives the problems as an error, or nil if there are none.
func (ps Problems) err() error {
	if len(ps) == 0 {
		return nil
	}
	return &parley.Error{Code: parley.CodeInvalid, Message: "the configuration cannot be used", Err: &InvalidError{ps}}
}
