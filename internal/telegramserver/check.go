package telegramserver

import "errors"

// ParseHTML reads a text in HTML mode as the server does. An error has the server's
// words.
func ParseHTML(src string) (text string, entities []Entity, err error) {
	f, err := parseHTML(src)
	return f.text, f.entities, err
}

// ParseMarkdownV2 reads a text in MarkdownV2 as the server does. An error has the
// server's words.
func ParseMarkdownV2(src string) (text string, entities []Entity, err error) {
	f, err := parseMarkdown(src)
	return f.text, f.entities, err
}

// CheckEntities says in the server's words what is wrong with entities of a text,
// for tests that need no server.
func CheckEntities(text string, entities []Entity) error {
	for _, e := range entities {
		if failure := checkEntity(text, e); failure != nil {
			return errors.New(failure.text)
		}
	}
	if wrong := nesting(entities); wrong != "" {
		return errors.New(strict(wrong).text)
	}
	if len(entities) > maxEntities {
		return errors.New(strict("more than 100 entities").text)
	}
	return nil
}

// Units gives the length of a text in UTF-16 units, by which the server counts.
func Units(text string) int { return units(text) }
