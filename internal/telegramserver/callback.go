package telegramserver

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

// query is the press of a button.
type query struct {
	at     time.Time
	answer *Answer
}

// Answer is how the bot answered the press of a button.
type Answer struct {
	Text  string
	Alert bool
}

// Press is a person pressing a button of a message: the one with that callback
// data, or else with that text. It gives the id of the query, by which its answer
// is known.
func (s *Server) Press(c *Chat, from User, message int, button string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := c.message(message)
	if r == nil || r.now.ReplyMarkup == nil {
		return "", fmt.Errorf("message %d has no buttons", message)
	}
	var found *Button
	for _, row := range r.now.ReplyMarkup.Rows {
		for _, b := range row {
			if b.CallbackData == button || found == nil && b.Text == button {
				found = &b
			}
		}
	}
	if found == nil || found.CallbackData == "" {
		return "", fmt.Errorf("message %d has no button %q to press", message, button)
	}
	id := strconv.Itoa(5_000_000 + len(s.queries))
	s.queries[id] = &query{at: s.clock.Now()}
	s.enqueue(Update{CallbackQuery: &CallbackQuery{
		ID: id, From: from, Message: r.snapshot(), ChatInstance: strconv.FormatInt(c.ID, 10), Data: found.CallbackData,
	}})
	return id, nil
}

// WaitAnswer waits until the bot answered the press of a button.
func (s *Server) WaitAnswer(ctx context.Context, id string) (Answer, error) {
	var given *Answer
	err := s.Wait(ctx, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		if q, ok := s.queries[id]; ok {
			given = q.answer
		}
		return given != nil
	})
	if err != nil {
		return Answer{}, err
	}
	return *given, nil
}

// answerCallbackQuery takes the answer to the press of a button, once.
func (s *Server) answerCallbackQuery(c *call) (any, *apiError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, ok := s.queries[c.values["callback_query_id"]]
	if !ok || q.answer != nil || s.clock.Now().Sub(q.at) > s.cfg.QueryLife {
		return nil, badRequest("query is too old and response timeout expired or query ID is invalid")
	}
	if units(c.values["text"]) > 200 {
		return nil, badRequest("MESSAGE_TOO_LONG")
	}
	q.answer = &Answer{Text: c.values["text"], Alert: c.flag("show_alert")}
	s.notify()
	return true, nil
}
