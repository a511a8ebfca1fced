package editor

import (
	tea "charm.land/bubbletea/v2"
)

// binding is what a key does. Do reports whether the key is for the editor.
type binding struct {
	what action
	do   func(e *Editor) bool
}

// bindings are the keys, by the names that they have in Bubble Tea.
var bindings = bind(
	does(moving, func(e *Editor) { e.cursor = before(e.text, e.cursor) }, "left", "ctrl+b"),
	does(moving, func(e *Editor) { e.cursor = after(e.text, e.cursor) }, "right", "ctrl+f"),
	does(moving, func(e *Editor) { e.cursor = wordStart(e.text, e.cursor, inWord) }, "alt+b", "alt+left", "ctrl+left"),
	does(moving, func(e *Editor) { e.cursor = wordEnd(e.text, e.cursor, inWord) }, "alt+f", "alt+right", "ctrl+right"),
	does(moving, func(e *Editor) { e.cursor = lineStart(e.text, e.cursor) }, "home", "ctrl+a"),
	does(moving, func(e *Editor) { e.cursor = lineEnd(e.text, e.cursor) }, "end", "ctrl+e"),
	does(moving, func(e *Editor) { e.cursor = 0 }, "ctrl+home", "alt+<"),
	does(moving, func(e *Editor) { e.cursor = len(e.text) }, "ctrl+end", "alt+>"),
	does(vertical, (*Editor).upOrOlder, "up", "ctrl+p"),
	does(vertical, (*Editor).downOrNewer, "down", "ctrl+n"),

	does(deleting, func(e *Editor) { e.replace(before(e.text, e.cursor), e.cursor, "") }, "backspace", "shift+backspace", "ctrl+h"),
	does(deleting, func(e *Editor) { e.replace(e.cursor, after(e.text, e.cursor), "") }, "delete"),
	may(deleting, func(e *Editor) bool {
		// In an empty terminal it means the end of input, which is not ours.
		if e.Empty() {
			return false
		}
		e.replace(e.cursor, after(e.text, e.cursor), "")
		return true
	}, "ctrl+d"),
	does(killing, func(e *Editor) { e.kill(wordStart(e.text, e.cursor, notSpace), e.cursor) }, "ctrl+w"),
	does(killing, func(e *Editor) { e.kill(wordStart(e.text, e.cursor, inWord), e.cursor) }, "alt+backspace", "ctrl+backspace"),
	does(killing, func(e *Editor) { e.kill(e.cursor, wordEnd(e.text, e.cursor, inWord)) }, "alt+d", "alt+delete", "ctrl+delete"),
	does(killing, (*Editor).killToEnd, "ctrl+k"),
	does(killing, (*Editor).killToStart, "ctrl+u"),
	does(moving, func(e *Editor) { e.insert(e.killed) }, "ctrl+y"),
	does(moving, (*Editor).undoLast, "ctrl+z", "ctrl+_", "ctrl+/", "ctrl+shift+-"),

	does(typing, func(e *Editor) { e.insert("\n") }, "alt+enter", "shift+enter", "ctrl+enter", "ctrl+j"),
	may(moving, (*Editor).enter, "enter"),
	does(moving, (*Editor).startSearch, "ctrl+r"),
	may(moving, func(e *Editor) bool {
		e.popup.close()
		e.offer()
		return e.popup.open()
	}, "tab"),
)

type binder func(all map[string]binding)

func bind(binders ...binder) map[string]binding {
	all := make(map[string]binding)
	for _, b := range binders {
		b(all)
	}
	return all
}

// does binds keys to something that is always for the editor.
func does(what action, do func(e *Editor), keys ...string) binder {
	return may(what, func(e *Editor) bool { do(e); return true }, keys...)
}

func may(what action, do func(e *Editor) bool, keys ...string) binder {
	return func(all map[string]binding) {
		for _, key := range keys {
			all[key] = binding{what: what, do: do}
		}
	}
}

func (e *Editor) key(msg tea.KeyPressMsg) bool {
	if e.search != nil && e.searchKey(msg) {
		return true
	}
	name := msg.Keystroke()
	if e.popup.open() && e.popupKey(name) {
		return true
	}
	if msg.Text != "" {
		e.begin(typing)
		e.insert(clean(msg.Text))
		e.offer()
		return true
	}
	b, ok := bindings[name]
	if !ok {
		return false
	}
	e.begin(b.what)
	handled := b.do(e)
	switch {
	case b.what == typing || b.what == deleting:
		e.offer()
	case name != "tab":
		e.popup.close()
	}
	return handled
}
