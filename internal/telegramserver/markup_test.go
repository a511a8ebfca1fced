package telegramserver_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
	"github.com/google/go-cmp/cmp"

	"github.com/parley-run/parley/internal/telegramserver"
)

const (
	html     = "HTML"
	markdown = "MarkdownV2"
)

// reserved is what is said of a character that has to be escaped.
func reserved(c string) string {
	return "can't parse entities: Character '" + c + "' is reserved and must be escaped with the preceding '\\'"
}

// badMarkup are texts that Telegram refuses.
var badMarkup = []struct{ mode, text, want string }{
	{html, "1 < 2", `can't parse entities: Unsupported start tag "" at byte offset 2`},
	{html, "if a<b then", `can't parse entities: Unclosed start tag at byte offset 4`},
	{html, "vector<int> v;", `can't parse entities: Unsupported start tag "int" at byte offset 6`},
	{html, "<p>one</p>", `can't parse entities: Unsupported start tag "p" at byte offset 0`},
	{html, "line<br>line", `can't parse entities: Unsupported start tag "br" at byte offset 4`},
	{html, "line<br/>line", `can't parse entities: Unsupported start tag "br/" at byte offset 4`},
	{html, "<h1>Title</h1>", `can't parse entities: Unsupported start tag "h1" at byte offset 0`},
	{html, "<ul><li>x</li></ul>", `can't parse entities: Unsupported start tag "ul" at byte offset 0`},
	{html, "<!-- note -->", `can't parse entities: Unsupported start tag "!--" at byte offset 0`},
	{html, "<script>x</script>", `can't parse entities: Unsupported start tag "script" at byte offset 0`},
	{html, "<>empty</>", `can't parse entities: Unsupported start tag "" at byte offset 0`},
	{html, "<b>bold", `can't parse entities: Can't find end tag corresponding to start tag "b"`},
	{html, "<b><i>both</b></i>", `can't parse entities: Unmatched end tag at byte offset 10, expected "</i>", found "</b>"`},
	{html, "<strong>x</b>", `can't parse entities: Unmatched end tag at byte offset 9, expected "</strong>", found "</b>"`},
	{html, "<i>x</b>", `can't parse entities: Unmatched end tag at byte offset 4, expected "</i>", found "</b>"`},
	{html, "gone</b>", `can't parse entities: Unexpected end tag at byte offset 4`},
	{html, "<b>x</b></b>", `can't parse entities: Unexpected end tag at byte offset 8`},
	{html, "<b>x</b", `can't parse entities: Unclosed end tag at byte offset 4`},
	{html, "<b>x</b y>", `can't parse entities: Unclosed end tag at byte offset 4`},
	{html, "<b", `can't parse entities: Unclosed start tag at byte offset 0`},
	{html, "ä <a href=", `can't parse entities: Unclosed start tag "a" at byte offset 3`},
	{html, `<a href="https://x.org>link</a>`, `can't parse entities: Unclosed start tag at byte offset 0`},
	{html, `<a href=https://x.org>link</a>`, `can't parse entities: Unexpected end of name token at byte offset 8`},
	{html, `<a ="x">y</a>`, `can't parse entities: Empty attribute name in the tag "a" at byte offset 0`},
	{html, "<span>x</span>", `can't parse entities: Tag "span" must have class "tg-spoiler" at byte offset 0`},
	{html, `<span class="red">x</span>`, `can't parse entities: Tag "span" must have class "tg-spoiler" at byte offset 0`},
	{html, `<tg-emoji emoji-id="smile">x</tg-emoji>`, `can't parse entities: Invalid custom emoji identifier specified`},
	{html, "half &#xD83D; pair", `can't parse entities: Text contains invalid Unicode characters`},
	{html, "<pre><code>x</pre></code>", `can't parse entities: Unmatched end tag at byte offset 12, expected "</code>", found "</pre>"`},
	{html, "<blockquote>x", `can't parse entities: Can't find end tag corresponding to start tag "blockquote"`},
	{markdown, "Done.", reserved(".")},
	{markdown, "- item", reserved("-")},
	{markdown, "1 + 1", reserved("+")},
	{markdown, "a = b", reserved("=")},
	{markdown, "# Title", reserved("#")},
	{markdown, "Hello!", reserved("!")},
	{markdown, "f(x)", reserved("(")},
	{markdown, "x)", reserved(")")},
	{markdown, "{x", reserved("{")},
	{markdown, "x}", reserved("}")},
	{markdown, "a | b", reserved("|")},
	{markdown, "2 > 1", reserved(">")},
	{markdown, ">one>", reserved(">")},
	{markdown, ">>twice", reserved(">")},
	{markdown, "x]", reserved("]")},
	{markdown, "*bold", `can't parse entities: Can't find end of Bold entity at byte offset 0`},
	{markdown, "snake_case", `can't parse entities: Can't find end of Italic entity at byte offset 5`},
	{markdown, "__init__ and __x", `can't parse entities: Can't find end of Underline entity at byte offset 13`},
	{markdown, "*a _b* c_", `can't parse entities: Can't find end of Italic entity at byte offset 8`},
	{markdown, "~gone", `can't parse entities: Can't find end of Strikethrough entity at byte offset 0`},
	{markdown, "||secret", `can't parse entities: Can't find end of Spoiler entity at byte offset 0`},
	{markdown, "`code", `can't parse entities: Can't find end of Code entity at byte offset 0`},
	{markdown, "ü ```go\nx := 1", `can't parse entities: Can't find end of PreCode entity at byte offset 3`},
	{markdown, "```\nx", `can't parse entities: Can't find end of Pre entity at byte offset 0`},
	{markdown, "```\nx``", `can't parse entities: Can't find end of Pre entity at byte offset 0`},
	{markdown, "[link", `can't parse entities: Can't find end of TextUrl entity at byte offset 0`},
	{markdown, "[link](https://x.org", `can't parse entities: Can't find end of a URL at byte offset 7`},
	{markdown, "![e]", `can't parse entities: Custom emoji entity must contain a tg://emoji URL`},
	{markdown, "![e](https://x.org)", `can't parse entities: Custom emoji URL must have scheme tg`},
	{markdown, "![e](tg://user?id=1)", `can't parse entities: Custom emoji URL must have host "emoji"`},
	{markdown, "![e](tg://emoji?x=1)", `can't parse entities: Custom emoji URL must have an emoji identifier`},
	{markdown, "![e](tg://emoji?id=one)", `can't parse entities: Invalid custom emoji identifier specified`},
	{markdown, "![e](tg://emoji?id=1", `can't parse entities: Can't find end of a custom emoji URL at byte offset 5`},
	{markdown, ">*a\nb*", `can't parse entities: Can't find end of Bold entity at byte offset 1`},
	{"Markdown", "old", "unsupported parse_mode"},
	{"BBCode", "x", "unsupported parse_mode"},
}

// badEntities are lists of entities that Telegram refuses, or would repair where we
// want to know.
var badEntities = []struct{ text, entities, want string }{
	{"abc", `{}`, "can't parse entities JSON object"},
	{"abc", `[{"type":"bold","offset":"x","length":1}]`, "can't parse MessageEntity"},
	{"abc", `[{"type":"fat","offset":0,"length":1}]`, "can't parse MessageEntity: Unsupported type specified"},
	{"abc", `[{"type":"bold","offset":0,"length":4}]`, "entity beginning at UTF-16 offset 0 ends after the end of the text at UTF-16 offset 3"},
	{"abc", `[{"type":"bold","offset":3,"length":1}]`, "entity beginning at UTF-16 offset 3 ends after"},
	{"abc", `[{"type":"bold","offset":-1,"length":2}]`, "strict: "},
	{"abc", `[{"type":"bold","offset":0,"length":0}]`, "strict: "},
	{"a\U0001F600b", `[{"type":"bold","offset":2,"length":2}]`, "entity begins in a middle of a UTF-16 symbol"},
	{"a\U0001F600b", `[{"type":"bold","offset":0,"length":2}]`, "entity ends in a middle of a UTF-16 symbol"},
	{"abcdef", `[{"type":"bold","offset":0,"length":4},{"type":"italic","offset":2,"length":4}]`, "strict: entities cross"},
	{"abcdef", `[{"type":"bold","offset":0,"length":3},{"type":"bold","offset":0,"length":3}]`, "strict: an entity is there twice"},
	{"abcdef", `[{"type":"code","offset":0,"length":6},{"type":"bold","offset":1,"length":2}]`, "strict: code is within"},
	{"abcdef", `[{"type":"bold","offset":0,"length":6},{"type":"pre","offset":1,"length":2}]`, "strict: code is within"},
	{"abcdef", `[{"type":"blockquote","offset":0,"length":6},{"type":"blockquote","offset":1,"length":2}]`, "strict: quotes are nested"},
	{"abcdef", `[{"type":"text_link","url":"https://x.org","offset":0,"length":6},{"type":"code","offset":1,"length":2}]`, "strict: code is within"},
	{"abcdef", `[{"type":"text_link","url":"https://x.org","offset":0,"length":6},{"type":"blockquote","offset":1,"length":2}]`, "strict: a quote is within"},
	{"abcdef", `[{"type":"text_link","url":"no link","offset":0,"length":6}]`, "entity URL is invalid"},
	{"abcdef", `[{"type":"text_link","url":"javascript:alert(1)","offset":0,"length":6}]`, "entity URL is invalid"},
	{"abcdef", `[{"type":"text_mention","offset":0,"length":6}]`, `Can't find field "user"`},
	{"abcdef", `[{"type":"custom_emoji","offset":0,"length":6}]`, "Invalid custom emoji identifier specified"},
}

func TestKnownBadSamples(t *testing.T) {
	t.Parallel()
	if n := len(badMarkup) + len(badEntities); n < 50 {
		t.Fatalf("there are %d samples, want 50 at least", n)
	}
	s := telegramserver.Start(t, telegramserver.Config{Limits: telegramserver.NoLimits})
	ada := s.AddUser(telegramserver.User{FirstName: "Ada"})
	chat := s.Private(ada)
	b := newBot(t, s)
	for _, c := range badMarkup {
		_, err := b.SendMessage(t.Context(), &bot.SendMessageParams{ChatID: chat.ID, Text: c.text, ParseMode: models.ParseMode(c.mode)})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %q: %v, want %q", c.mode, c.text, err, c.want)
		}
	}
	for _, c := range badEntities {
		form := url.Values{"chat_id": {strconv.FormatInt(chat.ID, 10)}, "text": {c.text}, "entities": {c.entities}}
		status, answer := postForm(t, s, "sendMessage", form)
		if status != http.StatusBadRequest || !strings.Contains(answer.Description, c.want) {
			t.Errorf("%q with %s: %d %q, want %q", c.text, c.entities, status, answer.Description, c.want)
		}
	}
	if sent := s.Sent(chat); len(sent) != 0 {
		t.Errorf("the chat has %d messages: %+v", len(sent), sent)
	}
}

// goodMarkup are texts that Telegram takes, with what it makes of them.
var goodMarkup = []struct {
	mode, text, want string
	entities         []telegramserver.Entity
}{
	{html, "plain &amp; simple &lt;3 &#233; &#xe9 &nope;", "plain & simple <3 é é &nope;", nil},
	{html, "<b>a<i>b</i></b>", "ab", []telegramserver.Entity{{Type: "bold", Offset: 0, Length: 2}, {Type: "italic", Offset: 1, Length: 1}}},
	{html, "<B>x</ >y<U></u>", "xy", []telegramserver.Entity{{Type: "bold", Offset: 0, Length: 1}}},
	{html, "\U0001F600<s>x</s>", "\U0001F600x", []telegramserver.Entity{{Type: "strikethrough", Offset: 2, Length: 1}}},
	{
		html, `<pre><code class="language-go">x := 1</code></pre>`, "x := 1",
		[]telegramserver.Entity{{Type: "pre", Offset: 0, Length: 6, Language: "go"}},
	},
	{html, "<pre>\n x\n</pre>end", "\n x\nend", []telegramserver.Entity{{Type: "pre", Offset: 0, Length: 4}}},
	{html, `<code class="x">y</code>`, "y", []telegramserver.Entity{{Type: "code", Offset: 0, Length: 1}}},
	{html, `<a href="https://x.org/?a=1&amp;b=2">x</a>`, "x", []telegramserver.Entity{{Type: "text_link", Offset: 0, Length: 1, URL: "https://x.org/?a=1&b=2"}}},
	{html, `<a href='x.org'>x</a>`, "x", []telegramserver.Entity{{Type: "text_link", Offset: 0, Length: 1, URL: "http://x.org/"}}},
	{html, `<a href="mailto:x">no link</a>`, "no link", nil},
	{html, `<span class="tg-spoiler">x</span>`, "x", []telegramserver.Entity{{Type: "spoiler", Offset: 0, Length: 1}}},
	{html, `<tg-spoiler>x</tg-spoiler>`, "x", []telegramserver.Entity{{Type: "spoiler", Offset: 0, Length: 1}}},
	{html, `<tg-emoji emoji-id="53">x</tg-emoji>`, "x", []telegramserver.Entity{{Type: "custom_emoji", Offset: 0, Length: 1, CustomEmojiID: "53"}}},
	{html, "<blockquote expandable>x</blockquote>", "x", []telegramserver.Entity{{Type: "expandable_blockquote", Offset: 0, Length: 1}}},
	{html, "a > b", "a > b", nil},
	{markdown, `Done\. \- x`, "Done. - x", nil},
	{markdown, "*a _b_ __c__ ~d~ ||e||*", "a b c d e", []telegramserver.Entity{
		{Type: "bold", Offset: 0, Length: 9},
		{Type: "italic", Offset: 2, Length: 1},
		{Type: "underline", Offset: 4, Length: 1},
		{Type: "strikethrough", Offset: 6, Length: 1},
		{Type: "spoiler", Offset: 8, Length: 1},
	}},
	{markdown, "_a __b___", "a b", []telegramserver.Entity{{Type: "italic", Offset: 0, Length: 3}, {Type: "underline", Offset: 2, Length: 1}}},
	{markdown, "`a\\`.b!`", "a`.b!", []telegramserver.Entity{{Type: "code", Offset: 0, Length: 5}}},
	{markdown, "```go\na.b()\n```", "a.b()", []telegramserver.Entity{{Type: "pre", Offset: 0, Length: 5, Language: "go"}}},
	{markdown, "```\r\na\n```x", "a\nx", []telegramserver.Entity{{Type: "pre", Offset: 0, Length: 2}}},
	{markdown, `[x](https://x.org/a\)b)`, "x", []telegramserver.Entity{{Type: "text_link", Offset: 0, Length: 1, URL: "https://x.org/a)b"}}},
	{markdown, `[no link](nowhere)`, "no link", nil},
	{markdown, "![e](tg://emoji?id=53)", "e", []telegramserver.Entity{{Type: "custom_emoji", Offset: 0, Length: 1, CustomEmojiID: "53"}}},
	{markdown, ">a\n>b\nc", "a\nb\nc", []telegramserver.Entity{{Type: "blockquote", Offset: 0, Length: 4}}},
	{markdown, "x\n>a\n**>b", "x\na\nb", []telegramserver.Entity{{Type: "blockquote", Offset: 2, Length: 2}, {Type: "blockquote", Offset: 4, Length: 1}}},
	{markdown, ">a\n>b||", "a\nb", []telegramserver.Entity{{Type: "expandable_blockquote", Offset: 0, Length: 3}}},
	{markdown, ">a||b||\nc", "ab\nc", []telegramserver.Entity{{Type: "blockquote", Offset: 0, Length: 3}, {Type: "spoiler", Offset: 1, Length: 1}}},
	{markdown, "\\\\ \\a é\\é", "\\ a é\\é", nil},
	{"", "  plain *text* <b> \n", "plain *text* <b>", nil},
}

func TestKnownGoodSamples(t *testing.T) {
	t.Parallel()
	s := telegramserver.Start(t, telegramserver.Config{Limits: telegramserver.NoLimits})
	chat := s.Private(s.AddUser(telegramserver.User{FirstName: "Ada"}))
	b := newBot(t, s)
	for i, c := range goodMarkup {
		_, err := b.SendMessage(t.Context(), &bot.SendMessageParams{ChatID: chat.ID, Text: c.text, ParseMode: models.ParseMode(c.mode)})
		if err != nil {
			t.Fatalf("%s %q: %v", c.mode, c.text, err)
		}
		got := s.Sent(chat)[i]
		if got.Text != c.want || got.Raw != c.text {
			t.Errorf("%s %q: the text is %q, want %q", c.mode, c.text, got.Text, c.want)
		}
		if diff := cmp.Diff(c.entities, got.Entities); diff != "" {
			t.Errorf("%s %q (-want +got):\n%s", c.mode, c.text, diff)
		}
	}
	if wrong := s.Violations(); len(wrong) != 0 {
		t.Errorf("violations: %+v", wrong)
	}
}

func TestGoodEntities(t *testing.T) {
	t.Parallel()
	s := telegramserver.Start(t, telegramserver.Config{Limits: telegramserver.NoLimits})
	ada := s.AddUser(telegramserver.User{FirstName: "Ada"})
	chat := s.Private(ada)
	b := newBot(t, s)
	_, err := b.SendMessage(t.Context(), &bot.SendMessageParams{
		ChatID: chat.ID, Text: "  \U0001F600 bold code \r\nAda and nobody ", Entities: []models.MessageEntity{
			{Type: "blockquote", Offset: 5, Length: 9},
			{Type: "bold", Offset: 5, Length: 4},
			{Type: "italic", Offset: 5, Length: 2},
			{Type: "code", Offset: 10, Length: 4},
			{Type: "text_mention", Offset: 17, Length: 3, User: &models.User{ID: ada.ID}},
			{Type: "text_mention", Offset: 25, Length: 6, User: &models.User{ID: 5}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := s.Sent(chat)[0]
	if got.Text != "\U0001F600 bold code \nAda and nobody" {
		t.Errorf("the text is %q", got.Text)
	}
	want := []telegramserver.Entity{
		{Type: "blockquote", Offset: 3, Length: 9},
		{Type: "bold", Offset: 3, Length: 4},
		{Type: "italic", Offset: 3, Length: 2},
		{Type: "code", Offset: 8, Length: 4},
		{Type: "text_mention", Offset: 14, Length: 3, User: &ada},
	}
	if diff := cmp.Diff(want, got.Entities); diff != "" {
		t.Errorf("entities (-want +got):\n%s", diff)
	}
	var many []models.MessageEntity
	for i := range 101 {
		many = append(many, models.MessageEntity{Type: "bold", Offset: 2 * i, Length: 1})
	}
	if _, err := b.SendMessage(t.Context(), &bot.SendMessageParams{ChatID: chat.ID, Text: strings.Repeat("ab", 101), Entities: many}); err != nil {
		t.Fatal(err)
	}
	if n := len(s.Sent(chat)[1].Entities); n != 100 {
		t.Errorf("%d entities were kept, want 100", n)
	}
	if wrong := s.Violations(); len(wrong) != 1 || wrong[0].Kind != telegramserver.ViolationEntities {
		t.Errorf("violations: %+v", wrong)
	}
}

// apiAnswer is an answer as the wire has it.
type apiAnswer struct {
	OK          bool            `json:"ok"`
	Result      json.RawMessage `json:"result"`
	Description string          `json:"description"`
	Parameters  struct {
		RetryAfter int   `json:"retry_after"`
		MigrateTo  int64 `json:"migrate_to_chat_id"`
	} `json:"parameters"`
}

// postForm calls a method without the library.
func postForm(t *testing.T, s *telegramserver.Server, method string, form url.Values) (int, apiAnswer) {
	t.Helper()
	return post(t, s.URL+"/bot"+s.Token()+"/"+method, "application/x-www-form-urlencoded", form.Encode())
}

func post(t *testing.T, target, kind, body string) (int, apiAnswer) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, target, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", kind)
	resp, err := client(t).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var answer apiAnswer
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, answer
}

func TestChecksWithoutAServer(t *testing.T) {
	t.Parallel()
	for _, c := range badMarkup {
		var err error
		switch c.mode {
		case html:
			_, _, err = telegramserver.ParseHTML(c.text)
		case markdown:
			_, _, err = telegramserver.ParseMarkdownV2(c.text)
		default:
			continue
		}
		if err == nil || !strings.Contains("can't parse entities: "+err.Error(), c.want) {
			t.Errorf("%s %q: %v, want %q", c.mode, c.text, err, c.want)
		}
	}
	for _, c := range badEntities {
		var entities []telegramserver.Entity
		if json.Unmarshal([]byte(c.entities), &entities) != nil {
			continue
		}
		if err := telegramserver.CheckEntities(c.text, entities); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q with %s: %v, want %q", c.text, c.entities, err, c.want)
		}
	}
	many := make([]telegramserver.Entity, 101)
	for i := range many {
		many[i] = telegramserver.Entity{Type: "bold", Offset: i, Length: 1}
	}
	if err := telegramserver.CheckEntities(strings.Repeat("x", 101), many); err == nil {
		t.Error("101 entities are fine")
	}
	if err := telegramserver.CheckEntities(strings.Repeat("x", 101), many[1:]); err != nil {
		t.Errorf("100 entities: %v", err)
	}
	if n := telegramserver.Units("a\U0001F600é"); n != 4 {
		t.Errorf("the text has %d units, want 4", n)
	}
}
