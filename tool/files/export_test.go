package files

// NewGlob is newGlob.
var NewGlob = newGlob
