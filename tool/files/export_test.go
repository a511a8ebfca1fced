package files

// NewGlob is newGlob.
var NewGlob = newGlob

// OnLook has fn called whenever a name was looked at, before it is opened.
func (f *Files) OnLook(fn func(name string)) { f.lookedFunc = fn }
