package sqlite

// shareIndex does nothing: files inherit their access rights from the folder.
func shareIndex(string) {}
