package storetest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestExpectationsAreAllGenerated compares the expectations that sequences use
// with those the root package declares, which reflection cannot list.
func TestExpectationsAreAllGenerated(t *testing.T) {
	t.Parallel()
	declared := map[string]bool{}
	file, err := parser.ParseFile(token.NewFileSet(), "../expect.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil && f.Name.Name == "validate" {
			declared[f.Recv.List[0].Type.(*ast.Ident).Name] = true
		}
	}
	generated := map[string]bool{}
	g := newGenerator(0, newOracle())
	for _, makes := range expectations {
		generated[strings.TrimPrefix(fmt.Sprintf("%T", makes(g)), "parley.")] = true
	}
	if want, got := slices.Sorted(maps.Keys(declared)), slices.Sorted(maps.Keys(generated)); !slices.Equal(want, got) {
		t.Errorf("generated are %v, declared are %v", got, want)
	}
}

// TestSequencesDependOnTheirSeedAlone makes sure that a failure can be repeated.
func TestSequencesDependOnTheirSeedAlone(t *testing.T) {
	t.Parallel()
	history := func() string {
		q := newSequence(t, newShelf().harness(), newCoverage())
		defer q.finish()
		g := newGenerator(7, q.oracle)
		for range 60 {
			b := g.batch()
			if d := q.step(operation{batch: &b}); d != nil {
				t.Fatal(d.text)
			}
		}
		return fmt.Sprint(q.history)
	}
	if first, second := history(), history(); first != second {
		t.Error("the same seed gives another sequence")
	}
}
