package telegramserver

import "encoding/json"

// User is a person or a bot.
type User struct {
	ID           int64  `json:"id"`
	IsBot        bool   `json:"is_bot"`
	FirstName    string `json:"first_name"`
	LastName     string `json:"last_name,omitempty"`
	Username     string `json:"username,omitempty"`
	LanguageCode string `json:"language_code,omitempty"`
}

// me is a User as getMe gives it.
type me struct {
	User
	CanJoinGroups           bool `json:"can_join_groups"`
	CanReadAllGroupMessages bool `json:"can_read_all_group_messages"`
	SupportsInlineQueries   bool `json:"supports_inline_queries"`
	CanConnectToBusiness    bool `json:"can_connect_to_business"`
	HasMainWebApp           bool `json:"has_main_web_app"`
}

// ChatRef is a chat as messages name it.
type ChatRef struct {
	ID        int64  `json:"id"`
	Title     string `json:"title,omitempty"`
	Username  string `json:"username,omitempty"`
	FirstName string `json:"first_name,omitempty"`
	LastName  string `json:"last_name,omitempty"`
	Type      string `json:"type"`
	IsForum   bool   `json:"is_forum,omitempty"`
}

// Entity is a stretch of a text; offsets and lengths are in UTF-16 units.
type Entity struct {
	Type          string `json:"type"`
	Offset        int    `json:"offset"`
	Length        int    `json:"length"`
	URL           string `json:"url,omitempty"`
	User          *User  `json:"user,omitempty"`
	Language      string `json:"language,omitempty"`
	CustomEmojiID string `json:"custom_emoji_id,omitempty"`
}

// Button is one button of an inline keyboard.
type Button struct {
	Text         string `json:"text"`
	URL          string `json:"url,omitempty"`
	CallbackData string `json:"callback_data,omitempty"`
}

// Keyboard is an inline keyboard.
type Keyboard struct {
	Rows [][]Button `json:"inline_keyboard"`
}

// FileRef is a file as messages name it, with what is known of its kind.
type FileRef struct {
	FileID       string `json:"file_id"`
	FileUniqueID string `json:"file_unique_id"`
	FileName     string `json:"file_name,omitempty"`
	MIME         string `json:"mime_type,omitempty"`
	Width        int    `json:"width,omitempty"`
	Height       int    `json:"height,omitempty"`
	Duration     int    `json:"duration,omitempty"`
	FileSize     int64  `json:"file_size,omitempty"`
	FilePath     string `json:"file_path,omitempty"`
}

// TopicCreated is what the message that opens a topic holds.
type TopicCreated struct {
	Name      string `json:"name"`
	IconColor int    `json:"icon_color"`
}

// Origin says where a forwarded message came from.
type Origin struct {
	Type       string `json:"type"`
	Date       int64  `json:"date"`
	SenderUser *User  `json:"sender_user,omitempty"`
	SenderName string `json:"sender_user_name,omitempty"`
}

// Message is a message as the wire has it.
type Message struct {
	ID              int           `json:"message_id"`
	ThreadID        int           `json:"message_thread_id,omitempty"`
	From            *User         `json:"from,omitempty"`
	Chat            ChatRef       `json:"chat"`
	Date            int64         `json:"date"`
	EditDate        int64         `json:"edit_date,omitempty"`
	ForwardOrigin   *Origin       `json:"forward_origin,omitempty"`
	IsTopicMessage  bool          `json:"is_topic_message,omitempty"`
	ReplyTo         *Message      `json:"reply_to_message,omitempty"`
	MediaGroupID    string        `json:"media_group_id,omitempty"`
	Text            string        `json:"text,omitempty"`
	Entities        []Entity      `json:"entities,omitempty"`
	Photo           []FileRef     `json:"photo,omitempty"`
	Document        *FileRef      `json:"document,omitempty"`
	Voice           *FileRef      `json:"voice,omitempty"`
	Caption         string        `json:"caption,omitempty"`
	CaptionEntities []Entity      `json:"caption_entities,omitempty"`
	ReplyMarkup     *Keyboard     `json:"reply_markup,omitempty"`
	TopicCreated    *TopicCreated `json:"forum_topic_created,omitempty"`
	NewMembers      []User        `json:"new_chat_members,omitempty"`
	MigrateTo       int64         `json:"migrate_to_chat_id,omitempty"`
	MigrateFrom     int64         `json:"migrate_from_chat_id,omitempty"`
}

// hasMedia reports whether the message's words are a caption.
func (m *Message) hasMedia() bool { return m.Photo != nil || m.Document != nil || m.Voice != nil }

// CallbackQuery is the press of a button.
type CallbackQuery struct {
	ID           string   `json:"id"`
	From         User     `json:"from"`
	Message      *Message `json:"message,omitempty"`
	ChatInstance string   `json:"chat_instance"`
	Data         string   `json:"data"`
}

// MemberUpdate says that the bot's place in a chat changed.
type MemberUpdate struct {
	Chat ChatRef    `json:"chat"`
	From User       `json:"from"`
	Date int64      `json:"date"`
	Old  ChatMember `json:"old_chat_member"`
	New  ChatMember `json:"new_chat_member"`
}

// ChatMember is somebody's place in a chat.
type ChatMember struct {
	Status      string `json:"status"`
	User        User   `json:"user"`
	IsAnonymous bool   `json:"is_anonymous,omitempty"`
	Until       *int64 `json:"until_date,omitempty"`
}

// Update is what a bot gets.
type Update struct {
	ID            int64          `json:"update_id"`
	Message       *Message       `json:"message,omitempty"`
	EditedMessage *Message       `json:"edited_message,omitempty"`
	CallbackQuery *CallbackQuery `json:"callback_query,omitempty"`
	MyChatMember  *MemberUpdate  `json:"my_chat_member,omitempty"`
}

// kind is the update's name in allowed_updates.
func (u *Update) kind() string {
	switch {
	case u.Message != nil:
		return "message"
	case u.EditedMessage != nil:
		return "edited_message"
	case u.CallbackQuery != nil:
		return "callback_query"
	default:
		return "my_chat_member"
	}
}

// BotCommand is a line of the commands menu.
type BotCommand struct {
	Command     string `json:"command"`
	Description string `json:"description"`
}

// answer is the envelope of every answer.
type answer struct {
	OK          bool            `json:"ok"`
	Result      json.RawMessage `json:"result,omitempty"`
	ErrorCode   int             `json:"error_code,omitempty"`
	Description string          `json:"description,omitempty"`
	Parameters  *parameters     `json:"parameters,omitempty"`
}

type parameters struct {
	RetryAfter int   `json:"retry_after,omitempty"`
	MigrateTo  int64 `json:"migrate_to_chat_id,omitempty"`
}
