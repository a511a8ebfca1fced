package telegramserver

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// maxEntities is how many entities of a message count; the real one drops the rest.
const maxEntities = 100

// isPlainStyle reports whether an entity may be anywhere but in code.
func isPlainStyle(kind string) bool {
	switch kind {
	case "bold", "italic", "underline", "strikethrough", "spoiler":
		return true
	default:
		return false
	}
}

func isCode(kind string) bool  { return kind == "code" || kind == "pre" }
func isQuote(kind string) bool { return kind == "blockquote" || kind == "expandable_blockquote" }

// isFound reports whether the server finds such entities by itself, and passes over
// those it is given.
func isFound(kind string) bool {
	return slices.Contains([]string{"mention", "hashtag", "cashtag", "bot_command", "url", "email", "phone_number"}, kind)
}

// readEntities reads the entities of a request and refuses those that do not fit
// the text.
func readEntities(text, raw string) ([]Entity, *apiError) {
	var items []json.RawMessage
	if err := json.Unmarshal([]byte(raw), &items); err != nil {
		return nil, badRequest("can't parse entities JSON object")
	}
	var out []Entity
	for _, item := range items {
		var e Entity
		if err := json.Unmarshal(item, &e); err != nil {
			return nil, badRequest("can't parse MessageEntity: " + err.Error())
		}
		if failure := checkEntity(text, e); failure != nil {
			return nil, failure
		}
		if !isFound(e.Type) {
			out = append(out, e)
		}
	}
	sortEntities(out)
	return out, nil
}

// checkEntity refuses an entity that is not within its text or lacks what its type
// needs.
func checkEntity(text string, e Entity) *apiError {
	switch {
	case isPlainStyle(e.Type), isCode(e.Type), isQuote(e.Type), isFound(e.Type):
	case e.Type == "text_link":
		if checkedLink(e.URL) == "" {
			return badRequest("entity URL is invalid")
		}
	case e.Type == "text_mention":
		if e.User == nil {
			return badRequest("can't parse MessageEntity: Can't find field \"user\"")
		}
	case e.Type == "custom_emoji":
		if e.CustomEmojiID == "" {
			return badRequest("Invalid custom emoji identifier specified")
		}
	default:
		return badRequest("can't parse MessageEntity: Unsupported type specified")
	}
	if e.Offset < 0 || e.Length <= 0 {
		return strict(fmt.Sprintf("an entity starts at %d and is %d long", e.Offset, e.Length))
	}
	end := units(text)
	if e.Offset >= end || e.Length > end-e.Offset {
		return badRequest(fmt.Sprintf("entity beginning at UTF-16 offset %d ends after the end of the text at UTF-16 offset %d",
			e.Offset, end))
	}
	if at, ok := byteAt(text, e.Offset); !ok {
		return badRequest(fmt.Sprintf("entity begins in a middle of a UTF-16 symbol at byte offset %d", at))
	}
	if at, ok := byteAt(text, e.Offset+e.Length); !ok {
		return badRequest(fmt.Sprintf("entity ends in a middle of a UTF-16 symbol at byte offset %d", at))
	}
	return nil
}

// nesting says what is wrong with how entities lie in each other, as the API's
// documentation has it; empty if nothing is.
func nesting(entities []Entity) string {
	sorted := slices.Clone(entities)
	sortEntities(sorted)
	var open []Entity
	for _, e := range sorted {
		open = slices.DeleteFunc(open, func(o Entity) bool { return o.Offset+o.Length <= e.Offset })
		for _, outer := range open {
			if wrong := within(outer, e); wrong != "" {
				return wrong
			}
		}
		open = append(open, e)
	}
	return ""
}

// within says what is wrong with an entity that starts inside of another.
func within(outer, inner Entity) string {
	where := fmt.Sprintf("%s at %d and %s at %d", outer.Type, outer.Offset, inner.Type, inner.Offset)
	switch {
	case inner.Offset+inner.Length > outer.Offset+outer.Length:
		return "entities cross: " + where
	case outer.Type == inner.Type && outer.Offset == inner.Offset && outer.Length == inner.Length:
		return "an entity is there twice: " + where
	case isQuote(outer.Type) && isQuote(inner.Type):
		return "quotes are nested: " + where
	case isQuote(outer.Type):
		return ""
	case isQuote(inner.Type) && !isPlainStyle(outer.Type):
		return "a quote is within another entity: " + where
	case isCode(outer.Type) || isCode(inner.Type):
		return "code is within another entity, or has one in it: " + where
	case !isPlainStyle(outer.Type) && !isPlainStyle(inner.Type):
		return "entities of these types cannot be nested: " + where
	default:
		return ""
	}
}

// checkedLink gives a link in full, or "" if it is none.
func checkedLink(link string) string {
	link = strings.TrimSpace(link)
	if link == "" || strings.ContainsAny(link, " \n\t") {
		return ""
	}
	lower := strings.ToLower(link)
	if !strings.Contains(link, "://") && !strings.HasPrefix(lower, "tg:") && !strings.HasPrefix(lower, "ton:") {
		link = "http://" + link
	}
	u, err := url.Parse(link)
	if err != nil {
		return ""
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		if !strings.Contains(u.Hostname(), ".") && u.Hostname() != "localhost" {
			return ""
		}
		if u.Path == "" {
			u.Path = "/"
		}
		return u.String()
	case "tg", "ton", "tonsite":
		return link
	default:
		return ""
	}
}

// linkedUser gives the user that a link names, 0 if it names none.
func linkedUser(link string) int64 {
	u, err := url.Parse(link)
	if err != nil || !strings.EqualFold(u.Scheme, "tg") {
		return 0
	}
	if host := cmp.Or(u.Host, strings.SplitN(u.Opaque, "?", 2)[0]); !strings.EqualFold(host, "user") {
		return 0
	}
	var id int64
	if _, err := fmt.Sscan(u.Query().Get("id"), &id); err != nil {
		return 0
	}
	return id
}

// linkEntity gives the entity of a link over a stretch, and whether it is one.
func linkEntity(link string, offset, length int) (Entity, bool) {
	if id := linkedUser(link); id > 0 {
		return Entity{Type: "text_mention", Offset: offset, Length: length, User: &User{ID: id}}, true
	}
	if full := checkedLink(link); full != "" {
		return Entity{Type: "text_link", Offset: offset, Length: length, URL: full}, true
	}
	return Entity{}, false
}
