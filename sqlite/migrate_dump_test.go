package sqlite_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ncruces/go-sqlite3"
)

// tableColumn is a column of a table.
type tableColumn struct{ table, name string }

// columnsOf gives the columns of all tables in a store's file, those of a table one after the other.
func columnsOf(t *testing.T, path string) (columns []tableColumn) {
	t.Helper()
	c := openFile(t, path)
	defer c.Close()
	for _, row := range query(t, c, `SELECT t.name, c.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c
		WHERE t.type = 'table' ORDER BY t.name, c.cid`) {
		columns = append(columns, tableColumn{row[0], row[1]})
	}
	return columns
}

// shapeOf gives what a store's file is made of: columns, in whatever order they are, and indexes.
func shapeOf(t *testing.T, path string) map[string][]string {
	t.Helper()
	c := openFile(t, path)
	defer c.Close()
	shape := map[string][]string{}
	for _, row := range slices.Concat(
		query(t, c, `SELECT t.name, c.name, c.type, c."notnull", c.dflt_value, c.pk FROM sqlite_schema t JOIN pragma_table_info(t.name) c
			WHERE t.type = 'table' ORDER BY t.name, c.name`),
		query(t, c, `SELECT tbl_name, name, sql FROM sqlite_schema WHERE type <> 'table' ORDER BY name`),
	) {
		shape[row[0]] = append(shape[row[0]], strings.Join(row[1:], " "))
	}
	return shape
}

// compareRows compares columns of two stores.
func compareRows(t *testing.T, when, want, got string, columns []tableColumn) {
	t.Helper()
	if diff := cmp.Diff(rowsOf(t, want, columns), rowsOf(t, got, columns)); diff != "" {
		t.Errorf("%s the rows are others (-want +got):\n%s", when, diff)
	}
}

// rowsOf gives columns of a store's file: by table, in the order of what its rows hold, and as SQL writes it.
func rowsOf(t *testing.T, path string, columns []tableColumn) map[string][]map[string]string {
	t.Helper()
	c := openFile(t, path)
	defer c.Close()
	names := map[string][]string{}
	for _, column := range columns {
		names[column.table] = append(names[column.table], column.name)
	}
	tables := map[string][]map[string]string{}
	for table, names := range names {
		tables[table] = nil // it is there, also without rows
		sql := `SELECT quote("` + strings.Join(names, `"), quote("`) + `") FROM "` + table + `" ORDER BY "` + strings.Join(names, `", "`) + `"`
		for _, values := range query(t, c, sql) {
			row := map[string]string{}
			for i, name := range names {
				row[name] = values[i]
			}
			tables[table] = append(tables[table], row)
		}
	}
	return tables
}

// execute changes a store's file.
func execute(t *testing.T, path, sql string) {
	t.Helper()
	c := openFile(t, path)
	defer c.Close()
	if err := c.Exec(sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// openFile opens a store's file as SQLite does.
func openFile(t *testing.T, path string) *sqlite3.Conn {
	t.Helper()
	c, err := sqlite3.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// query reads rows of text.
func query(t *testing.T, c *sqlite3.Conn, sql string) (rows [][]string) {
	t.Helper()
	s, _, err := c.Prepare(sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	for s.Step() {
		row := make([]string, s.ColumnCount())
		for i := range row {
			row[i] = s.ColumnText(i)
		}
		rows = append(rows, row)
	}
	if err := s.Close(); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return rows
}

// copyAtRest copies a store that was closed.
func copyAtRest(t *testing.T, from string) (path string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "parley.db")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
