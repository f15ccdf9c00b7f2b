package remainder

import (
	"context"
	"errors"
	"strings"
	"sync"
)

// script is a model that says what it was given, one answer after the other, and
// keeps what it was asked.
type script struct {
	mu      sync.Mutex
	answers []any // a text, an error, or a func(context.Context) (Answer, error)
	asked   []Request
}

func (s *script) Complete(ctx context.Context, r Request) (Answer, error) {
	s.mu.Lock()
	s.asked = append(s.asked, r)
	if len(s.answers) == 0 {
		s.mu.Unlock()
		return Answer{}, errors.New("the script is over")
	}
	next := s.answers[0]
	s.answers = s.answers[1:]
	s.mu.Unlock()
	switch a := next.(type) {
	case string:
		return Answer{Text: a}, nil
	case error:
		return Answer{}, a
	case func(context.Context) (Answer, error):
		return a(ctx)
	}
	panic("no answer")
}

func (s *script) connect(context.Context) (Model, error) { return s, nil }

// all is a request as text.
func all(r Request) string {
	var b strings.Builder
	b.WriteString(r.System)
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			b.WriteString("\n" + p.Text)
		}
	}
	return b.String()
}
