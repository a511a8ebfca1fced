package config

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/parley-run/parley"
)

// FileName is the configuration file in the data folder.
const FileName = "parley.yaml"

// Options says where a configuration comes from. The zero value is the defaults
// alone.
type Options struct {
	// File is the path of the file. Empty: none.
	File string
	// Environ are the variables, as [os.Environ] gives them. An empty one counts
	// as not set. Nil: none.
	Environ []string
	// PricedFunc reports whether the price of a model, provider/model, is known
	// without the configuration. Nil: none is.
	PricedFunc func(model string) bool
}

// Loaded is a configuration, and where its values come from.
type Loaded struct {
	Config Config
	// File is the file that was read, or empty.
	File string
	// Warnings are what works, but perhaps not as meant, in the order of
	// [Problems].
	Warnings Problems

	places map[string]Place
}

// Load gives the configuration that options lead to: the defaults, over them the
// file, over it the variables.
//
// What is wrong with it is [parley.CodeInvalid] with an [InvalidError] in the
// chain, which has all of it. A file that is not there is [parley.CodeNotFound], one that cannot be
// read [parley.CodeUnavailable], one beyond [MaxFileBytes] [parley.CodeTooLarge].
// Warnings are given with an error too, as far as it was possible to look.
func Load(options Options) (*Loaded, error) {
	l := &Loaded{Config: Default(), File: options.File}
	d := newDecoder()
	l.places = d.places
	root := reflect.ValueOf(&l.Config).Elem()
	if options.File != "" {
		data, err := readFile(options.File)
		if err != nil {
			return l, err
		}
		n, problems := readYAML(options.File, data)
		d.problems = append(d.problems, problems...)
		d.value(root, field{typ: root.Type()}, nil, n)
	}
	l.Config.complete()
	d.variables(root, options.Environ)
	l.Config.complete()
	check(&l.Config, d, options)
	l.Warnings = d.warnings.Sorted()
	return l, d.problems.Sorted().err()
}

// readFile gives the content of a file that can be a configuration.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, parley.Errorf(parley.CodeNotFound, "there is no configuration file %s; make one with 'parley config init'", path)
	case err == nil && info.IsDir():
		return nil, parley.Errorf(parley.CodeInvalid, "%s is a folder; name the configuration file in it, such as %s", path, FileName)
	case err == nil && !info.Mode().IsRegular():
		return nil, parley.Errorf(parley.CodeInvalid, "%s is not a plain file, so it is no configuration", path)
	case err == nil && info.Size() > MaxFileBytes:
		return nil, parley.Errorf(parley.CodeTooLarge, "%s has more than %s; is that a configuration?", path, Size(MaxFileBytes))
	}
	var data []byte
	if err == nil {
		data, err = readAll(path)
	}
	if err != nil {
		return nil, &parley.Error{Code: parley.CodeUnavailable, Message: "cannot read the configuration", Err: err}
	}
	return data, nil
}

func readAll(path string) (data []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return io.ReadAll(io.LimitReader(f, MaxFileBytes+1))
}

// variables decodes the variables of the environment over what is there.
func (d *decoder) variables(root reflect.Value, environ []string) {
	values := map[string]string{}
	size := 0
	for _, line := range environ {
		name, value, _ := strings.Cut(line, "=")
		if strings.HasPrefix(name, prefix) && value != "" {
			values[name] = value
			size += len(value)
		}
	}
	if size > MaxFileBytes {
		d.fail(Place{Variable: "PARLEY_*", Line: 1, Column: 1}, "the variables have more than %s together", Size(MaxFileBytes))
		return
	}
	known := map[string]bool{} // whether it holds JSON
	eachLeaf(root, nil, func(v reflect.Value, f field, path []string) {
		name := variable(pathText(path))
		known[name] = f.many()
		text, ok := values[name]
		if !ok {
			return
		}
		delete(values, name)
		d.variable(v, f, path, name, text)
	})
	for name := range values {
		d.strange(name, known)
	}
}

// variable decodes one variable into its field.
func (d *decoder) variable(v reflect.Value, f field, path []string, name, text string) {
	place := Place{Variable: name, Line: 1, Column: 1}
	if !utf8.ValidString(text) {
		d.fail(place, "%s is not UTF-8", pathText(path))
		return
	}
	n := node{kind: kindText, text: text, place: place}
	if f.many() {
		var problems Problems
		if n, problems = readJSON(name, text); len(problems) > 0 {
			d.problems = append(d.problems, problems...)
			return
		}
	}
	d.forget(path)
	d.value(v, f, path, n)
}

// strange warns about a variable that looks like one of ours and is none. Others
// may have set it for other programs, so it is no error.
func (d *decoder) strange(name string, known map[string]bool) {
	looks, hint := false, ""
	var lower []string
	for _, k := range slices.Sorted(maps.Keys(known)) {
		lower = append(lower, strings.ToLower(k))
		section, _, _ := strings.Cut(strings.TrimPrefix(k, prefix), "_")
		looks = looks || strings.HasPrefix(name, prefix+section+"_")
		if known[k] && strings.HasPrefix(name, k+"_") {
			hint = "; set " + k + ", which is JSON"
		}
	}
	if near := nearest(name, lower); near != "" && name != "PARLEY_DATA" {
		looks, hint = true, "; did you mean "+strings.ToUpper(near)+"?"
	}
	if looks {
		p := Place{Variable: name, Line: 1, Column: 1}
		d.warnings = append(d.warnings, Problem{p, "this variable is not known, and has no effect" + hint})
	}
}

// eachLeaf calls fn for each field that has a variable.
func eachLeaf(v reflect.Value, path []string, fn func(reflect.Value, field, []string)) {
	for _, f := range fieldsOf(v.Type()) {
		at, here := v.FieldByIndex(f.index), child(path, f.name)
		if leaf(f.typ) {
			fn(at, f, here)
		} else {
			eachLeaf(at, here, fn)
		}
	}
}
