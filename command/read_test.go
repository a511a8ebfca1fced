package command_test

import (
	"strings"
	"testing"

	"github.com/parley-run/parley/command"
)

func text(s string) command.Reading { return command.Reading{Kind: command.Text, Text: s} }

func known(name, args, bot string) command.Reading {
	return command.Reading{Kind: command.Known, Command: command.Command{Name: name, Args: args, Bot: bot}}
}

func unknown(name, args, near string) command.Reading {
	return command.Reading{Kind: command.Unknown, Command: command.Command{Name: name, Args: args}, Near: near}
}

func TestRead(t *testing.T) {
	t.Parallel()
	addressed := unknown("rest", "now", "reset")
	addressed.Command.Bot = "parley_bot"
	for _, c := range []struct {
		text string
		want command.Reading
	}{
		// Every name.
		{"/help", known("help", "", "")},
		{"/new", known("new", "", "")},
		{"/reset", known("reset", "", "")},
		{"/stop", known("stop", "", "")},
		{"/resume", known("resume", "", "")},
		{"/sessions", known("sessions", "", "")},
		{"/title", known("title", "", "")},
		{"/status", known("status", "", "")},
		{"/usage", known("usage", "", "")},
		{"/model", known("model", "", "")},
		{"/queue", known("queue", "", "")},
		{"/steer", known("steer", "", "")},
		{"/busy", known("busy", "", "")},
		{"/undo", known("undo", "", "")},
		{"/retry", known("retry", "", "")},
		{"/fork", known("fork", "", "")},
		{"/cancel", known("stop", "", "")},
		{"/rename x", known("title", "x", "")},
		// Arguments.
		{"/help reset", known("help", "reset", "")},
		{"/help /reset", known("help", "/reset", "")},
		{"/new Trip to  Rome", known("new", "Trip to  Rome", "")},
		{"/new   Trip  ", known("new", "Trip", "")},
		{"/new ", known("new", "", "")},
		{"/queue\nfirst\n  second\n", known("queue", "first\n  second", "")},
		{"/queue\tdo", known("queue", "do", "")},
		{"/stop\r\n", known("stop", "", "")},
		{"/title\u00a0Rome\u00a0", known("title", "Rome", "")},
		{"/steer //x", known("steer", "//x", "")},
		{"/steer /etc/passwd", known("steer", "/etc/passwd", "")},
		{"/queue a\xffb", known("queue", "a\xffb", "")},
		{"/title 旅行 🇮🇹", known("title", "旅行 🇮🇹", "")},
		// Capitals.
		{"/HELP", known("help", "", "")},
		{"/Reset", known("reset", "", "")},
		{"/nEw Trip", known("new", "Trip", "")},
		{"/Cancel", known("stop", "", "")},
		{"/REST", unknown("rest", "", "reset")},
		{"/for\u212a", unknown("for\u212a", "", "fork")}, // the sign for Kelvin is another letter
		// Bots.
		{"/help@parley_bot", known("help", "", "parley_bot")},
		{"/help@Parley-Bot2 reset", known("help", "reset", "Parley-Bot2")},
		{"/STOP@x", known("stop", "", "x")},
		{"/rest@parley_bot now", addressed},
		{"/help@", text("/help@")},
		{"/help@a@b", text("/help@a@b")},
		{"/help@bot.example", text("/help@bot.example")},
		{"/alice@example.com writes", text("/alice@example.com writes")},
		{"/@bot", text("/@bot")},
		{"/help@бот", text("/help@бот")},
		{"/help @bot", known("help", "@bot", "")},
		// Names that do not exist.
		{"/rest", unknown("rest", "", "reset")},
		{"/rest now", unknown("rest", "now", "reset")},
		{"/hepl", unknown("hepl", "", "help")},
		{"/hlep", unknown("hlep", "", "help")},
		{"/holp", unknown("holp", "", "help")},
		{"/session", unknown("session", "", "sessions")},
		{"/sesion", unknown("sesion", "", "sessions")},
		{"/sess", unknown("sess", "", "sessions")},
		{"/mod", unknown("mod", "", "model")},
		{"/st", unknown("st", "", "stop")},
		{"/canel", unknown("canel", "", "stop")},
		{"/stauts", unknown("stauts", "", "status")},
		{"/resumee", unknown("resumee", "", "resume")},
		{"/s", unknown("s", "", "")},
		{"/foo", unknown("foo", "", "")},
		{"/etc", unknown("etc", "", "")},
		{"/usr", unknown("usr", "", "")},
		{"/start", unknown("start", "", "")},
		{"/helpme", unknown("helpme", "", "help")},
		{"/newspaper", unknown("newspaper", "", "")},
		{"/привет", unknown("привет", "", "")},
		// Texts.
		{"", text("")},
		{"hello", text("hello")},
		{"help", text("help")},
		{"/", text("/")},
		{"/ help", text("/ help")},
		{"/\thelp", text("/\thelp")},
		{"/\nhelp", text("/\nhelp")},
		{" /help", text(" /help")},
		{"\n/help", text("\n/help")},
		{"\u00a0/help", text("\u00a0/help")},
		{"\ufeff/help", text("\ufeff/help")},
		{"see /help", text("see /help")},
		{"\\/help", text("\\/help")},
		{"／help", text("／help")},
		{"/etc/passwd", text("/etc/passwd")},
		{"/etc/passwd is readable", text("/etc/passwd is readable")},
		{"/help/me", text("/help/me")},
		{"/new/", text("/new/")},
		{"/help!", text("/help!")},
		{"/stop.", text("/stop.")},
		{"/reset, please", text("/reset, please")},
		{"/help-me", text("/help-me")},
		{"/new_thing", text("/new_thing")},
		{"/2", text("/2")},
		{"/x2", text("/x2")},
		{"/*regexp*/", text("/*regexp*/")},
		{"/^a$/", text("/^a$/")},
		{"/help\x00", text("/help\x00")},
		{"/help\u200b", text("/help\u200b")},
		{"/he\xffp", text("/he\xffp")},
		{"/e\u0301", text("/e\u0301")},
		// The escape.
		{"//", text("/")},
		{"//help", text("/help")},
		{"//help me", text("/help me")},
		{"//rest", text("/rest")},
		{"//etc/passwd", text("/etc/passwd")},
		{"///help", text("//help")},
		{"// help", text("/ help")},
		{" //help", text(" //help")},
	} {
		if got := command.Read(c.text); got != c.want {
			t.Errorf("%q: got %+v, want %+v", c.text, got, c.want)
		}
	}
}

// TestReadLong holds that a name of any length is answered at once.
func TestReadLong(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("help", 1<<18)
	r := command.Read("/" + long)
	if r.Kind != command.Unknown || r.Command.Name != long || r.Near != "" {
		t.Errorf("got %s, near %q", r.Kind, r.Near)
	}
	if n := len(command.UnknownText(r)); n > 250 {
		t.Errorf("the answer is %d bytes long", n)
	}
}

func TestCommandString(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, want string
	}{
		{"/STOP", "/stop"},
		{"/cancel", "/stop"},
		{"/help@Bot  reset ", "/help@Bot reset"},
		{"/queue\na\nb", "/queue a\nb"},
	} {
		if got := command.Read(c.text).Command.String(); got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
}

func TestEscape(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"hello", "hello"},
		{"/etc/passwd", "/etc/passwd"},
		{"/help", "//help"},
		{"/foo", "//foo"},
		{"//help", "///help"},
		{"// a comment", "/// a comment"},
		{"", ""},
		{"/", "/"},
	} {
		if got := command.Escape(c.text); got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
}

// FuzzRead holds that nothing is lost: a text comes back but for the escape, and a
// command that is written again reads the same.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		"", "/", "//", "///", "/help", "//help", "/ help", "/help@bot x", "/new\n\n a b \n", "/etc/passwd", "/REST", "/for\u212a",
		"/queue a\xffb", "/help\u2028x", "/title \u00a0", "/\xff", "/cancel now",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r := command.Read(s)
		switch r.Kind {
		case command.Text:
			want := s
			if strings.HasPrefix(s, "//") {
				want = s[1:]
			}
			if r != text(want) {
				t.Fatalf("%q: got %+v", s, r)
			}
		case command.Known, command.Unknown:
			if r.Text != "" || r.Kind == command.Known && r.Near != "" {
				t.Fatalf("%q: got %+v", s, r)
			}
			if again := command.Read(r.Command.String()); again != r {
				t.Fatalf("%q is %+v, and written as %q it is %+v", s, r, r.Command, again)
			}
			if !strings.HasPrefix(s, "/") || !strings.HasSuffix(strings.TrimSpace(s), r.Command.Args) {
				t.Fatalf("%q: the arguments are %q", s, r.Command.Args)
			}
			if _, ok := command.Find(r.Command.Name); ok != (r.Kind == command.Known) {
				t.Fatalf("%q: %s is %s, and found: %t", s, r.Command.Name, r.Kind, ok)
			}
			if _, ok := command.Find(r.Near); r.Near != "" && !ok {
				t.Fatalf("%q: there is no command %s", s, r.Near)
			}
			if text := command.UnknownText(r); strings.ContainsAny(text, "\n\r") || len(text) > 400 {
				t.Fatalf("%q: the answer is %q", s, text)
			}
		default:
			t.Fatalf("%q: got kind %q", s, r.Kind)
		}
		if r := command.Read(command.Escape(s)); r != text(s) {
			t.Fatalf("%q escaped is %+v", s, r)
		}
	})
}
