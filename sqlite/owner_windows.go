package sqlite

// matchOwnerOfWALIndex does nothing: files inherit their access rights from the folder.
func matchOwnerOfWALIndex(string) {}

// matchOwner does nothing, for the same reason.
func matchOwner(_, _ string) {}
