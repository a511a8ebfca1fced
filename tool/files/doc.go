// Package files gives an agent tools to read, write, edit, list and search files
// inside a folder that they cannot leave.
//
// Paths are resolved name by name, through folders that are held open
// ([os.Root]): neither "..", nor a symbolic link, nor a folder that is exchanged
// for a link between two steps leads out, or to what is hidden. What was looked
// at is what is opened, or the step is taken again. Only regular files are read
// and written; writing puts a whole file in the place of another.
//
// What it does not see: a hard link, or a mount, that somebody else made inside
// the folder and that shows a file from outside. Such a file can be read, though
// a write replaces the name and leaves the other file alone.
//
// The package starts no goroutine.
package files
