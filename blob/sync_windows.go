package blob

import "os"

// syncNames does nothing: Windows has no sync of folders, and its file systems
// write names through.
func syncNames(*os.File) error { return nil }
