package layout

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Load reads the packages of the module in dir. It looks at every file, whatever
// platform it is for, and asks the go command for the modules they depend on.
func Load(ctx context.Context, dir string) ([]Package, error) {
	byFolder := make(map[string]*Package)
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if file != dir && ignored(d.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(file, ".go") {
			return nil
		}
		folder, err := filepath.Rel(dir, filepath.Dir(file))
		if err != nil {
			return err
		}
		folder = filepath.ToSlash(folder)
		p := byFolder[folder]
		if p == nil {
			p = &Package{Path: folder}
			byFolder[folder] = p
		}
		return p.addFile(file)
	})
	if err != nil {
		return nil, fmt.Errorf("read the source tree: %w", err)
	}
	modules, err := foreignModules(ctx, dir)
	if err != nil {
		return nil, err
	}
	packages := make([]Package, 0, len(byFolder))
	for folder, p := range byFolder {
		p.Imports = sorted(p.Imports)
		p.TestImports = sorted(p.TestImports)
		p.Modules = modules[folder]
		packages = append(packages, *p)
	}
	slices.SortFunc(packages, func(a, b Package) int { return strings.Compare(a.Path, b.Path) })
	return packages, nil
}

// ignored reports whether the go command does not look into such a folder.
func ignored(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" || name == "node_modules"
}

func (p *Package) addFile(name string) error {
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly|parser.ParseComments)
	if err != nil {
		return err
	}
	for _, group := range file.Comments {
		for _, c := range group.List {
			if expr, err := constraint.Parse(c.Text); err == nil && expr.String() == "ignore" {
				return nil // a script, not part of the package
			}
		}
	}
	imports := make([]string, 0, len(file.Imports))
	for _, spec := range file.Imports {
		imp, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		imports = append(imports, imp)
	}
	test := strings.HasSuffix(name, "_test.go")
	if test {
		p.TestImports = append(p.TestImports, imports...)
	} else {
		p.Imports = append(p.Imports, imports...)
	}
	// A folder with test files only is a package too; otherwise the name and
	// the doc comment come from the other files.
	if !test || p.Name == "" {
		p.Name = strings.TrimSuffix(file.Name.Name, "_test")
	}
	if doc := file.Doc.Text(); doc != "" && (p.Doc == "" || !test) {
		p.Doc = doc
	}
	return nil
}

// foreignModules gives, for each package of the module in dir, the other
// modules that it depends on.
func foreignModules(ctx context.Context, dir string) (map[string][]string, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-e", "-deps", "-json=ImportPath,Deps,Standard,Module", "./...")
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, stderr.String())
	}
	type listed struct {
		ImportPath string
		Deps       []string
		Module     *struct{ Path string }
	}
	var all []listed
	moduleOf := make(map[string]string)
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listed
		if err := dec.Decode(&l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("read the answer of go list: %w", err)
		}
		all = append(all, l)
		if l.Module != nil {
			moduleOf[l.ImportPath] = l.Module.Path
		}
	}
	modules := make(map[string][]string)
	for _, l := range all {
		folder, ours := folderOf(l.ImportPath)
		if !ours {
			continue
		}
		for _, dep := range l.Deps {
			if m := moduleOf[dep]; m != "" && m != Module {
				modules[folder] = append(modules[folder], m)
			}
		}
		modules[folder] = sorted(modules[folder])
	}
	return modules, nil
}

func sorted(s []string) []string {
	slices.Sort(s)
	return slices.Compact(s)
}
