package telegramserver

import (
	"fmt"
	"regexp"
)

// commandName is the form of a command in a menu.
var commandName = regexp.MustCompile(`^[a-z0-9_]{1,32}$`)

// menuKey names the menu that a call is about.
func menuKey(c *call) (string, *apiError) {
	var scope struct {
		Type string `json:"type"`
		Chat any    `json:"chat_id"`
		User any    `json:"user_id"`
	}
	if c.object("scope", &scope) != nil {
		return "", badRequest("can't parse BotCommandScope JSON object")
	}
	if scope.Type == "" {
		scope.Type = "default"
	}
	return fmt.Sprint(scope.Type, scope.Chat, scope.User, c.values["language_code"]), nil
}

// setMyCommands sets a commands menu.
func (s *Server) setMyCommands(c *call) (any, *apiError) {
	key, failure := menuKey(c)
	if failure != nil {
		return nil, failure
	}
	var menu []BotCommand
	if c.object("commands", &menu) != nil {
		return nil, badRequest("can't parse commands JSON array")
	}
	if len(menu) > 100 {
		return nil, badRequest("BOT_COMMANDS_TOO_MUCH")
	}
	for i, line := range menu {
		if len(line.Command) > 0 && line.Command[0] == '/' {
			menu[i].Command = line.Command[1:]
		}
		if !commandName.MatchString(menu[i].Command) {
			return nil, badRequest("BOT_COMMAND_INVALID")
		}
		if n := units(line.Description); n == 0 || n > 256 {
			return nil, badRequest("BOT_COMMAND_DESCRIPTION_INVALID")
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.menus[key] = menu
	s.notify()
	return true, nil
}

// getMyCommands gives a commands menu.
func (s *Server) getMyCommands(c *call) (any, *apiError) {
	key, failure := menuKey(c)
	if failure != nil {
		return nil, failure
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]BotCommand{}, s.menus[key]...), nil
}

// deleteMyCommands takes a commands menu away.
func (s *Server) deleteMyCommands(c *call) (any, *apiError) {
	key, failure := menuKey(c)
	if failure != nil {
		return nil, failure
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.menus, key)
	return true, nil
}
