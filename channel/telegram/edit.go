package telegram

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/go-telegram/bot/models"
)

// editName names a later wording of a message: when it was edited, and a hash of what it
// says since. Telegram tells the time in seconds, in which somebody can edit twice; and the
// same update, if it comes again, has to have the same name.
func editName(m *models.Message) string {
	text, marks := wording(m)
	sum := sha256.Sum256([]byte(mediaID(m) + "\x00" + withAddresses(text, marks)))
	return strconv.Itoa(m.EditDate) + "-" + hex.EncodeToString(sum[:6])
}

// mediaID names the medium of a message, the same each time it is told; empty: there is none.
func mediaID(m *models.Message) string {
	switch {
	case len(m.Photo) > 0:
		return m.Photo[0].FileUniqueID
	case m.Animation != nil:
		return m.Animation.FileUniqueID
	case m.Document != nil:
		return m.Document.FileUniqueID
	case m.Voice != nil:
		return m.Voice.FileUniqueID
	case m.Audio != nil:
		return m.Audio.FileUniqueID
	case m.Video != nil:
		return m.Video.FileUniqueID
	case m.VideoNote != nil:
		return m.VideoNote.FileUniqueID
	}
	return ""
}
