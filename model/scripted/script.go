package scripted

import (
	_ "embed" // the script of the demo
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/parley-run/parley"
)

//go:embed demo.yaml
var demoText []byte

// Demo gives the script that is there without a file: it says that it is the
// offline model, and shows on request what Parley can do.
func Demo() *Script { return demo() }

var demo = sync.OnceValue(func() *Script {
	s, err := Parse("demo.yaml", demoText)
	if err != nil {
		panic(err) // it is part of the program, and the tests read it
	}
	return s
})

// Parse reads a script, in YAML or JSON. The file is only named in errors.
//
// A script that cannot be used is [parley.CodeInvalid]; the error has a line for
// each thing that is wrong, with file, line and column, and what would be right.
func Parse(file string, data []byte) (*Script, error) {
	r := &reader{file: file}
	n := r.read(data)
	var s *Script
	if len(r.problems) == 0 {
		d := &decoder{r}
		s = d.script(n)
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	return s, nil
}

// Load reads a script from a file, as [Parse] does. A file that is not there is
// [parley.CodeNotFound], one that cannot be read [parley.CodeUnavailable].
func Load(path string) (*Script, error) {
	data, err := readFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, parley.Errorf(parley.CodeNotFound, "there is no script %s", path)
	case parley.CodeOf(err) == parley.CodeInvalid:
		return nil, err
	case err != nil:
		return nil, &parley.Error{Code: parley.CodeUnavailable, Message: "cannot read the script", Err: err}
	}
	return Parse(path, data)
}

// readFile gives the content of a plain file, and of a large one enough to see
// that it is too large.
func readFile(path string) (data []byte, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, parley.Errorf(parley.CodeInvalid, "%s is not a plain file, so it is no script", path)
	}
	f, err := os.Open(path) //nolint:gosec // G304: the path comes from whoever runs Parley, never from a message
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return io.ReadAll(io.LimitReader(f, MaxScriptBytes+8))
}
