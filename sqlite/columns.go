package sqlite

import "strings"

// columns are what one statement sets in a row. To set all of them at once costs little more
// than to set one.
type columns []column

type column struct {
	name  string
	value any
}

// put sets a column, in place of what it was set to before.
func (cs *columns) put(name string, value any) {
	for i := range *cs {
		if (*cs)[i].name == name {
			(*cs)[i].value = value
			return
		}
	}
	*cs = append(*cs, column{name, value})
}

// insertInto makes a row.
func (cs columns) insertInto(c *conn, table string) error {
	names, values := cs.split()
	return c.exec(`INSERT INTO `+table+` (`+strings.Join(names, ", ")+`) VALUES (?`+strings.Repeat(", ?", len(names)-1)+`)`, values...)
}

// update changes the rows for which a condition holds.
func (cs columns) update(c *conn, table, condition string, args ...any) error {
	names, values := cs.split()
	return c.exec(`UPDATE `+table+` SET `+strings.Join(names, " = ?, ")+` = ? WHERE `+condition, append(values, args...)...)
}

func (cs columns) split() (names []string, values []any) {
	for _, c := range cs {
		names, values = append(names, c.name), append(values, c.value)
	}
	return names, values
}
