package daemon

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"assent/internal/config"
)

// settings hand the latest state of the configuration to the kernel. Those in
// between may be left out.
type settings struct {
	mu     sync.Mutex
	latest config.State
	more   chan struct{} // holds one when there is something new
	taking sync.Mutex    // held from where a state is looked at until it is in force
}

// alone does something while no state is taken. What it puts is taken next.
func (s *settings) alone(do func() error) error {
	s.taking.Lock()
	defer s.taking.Unlock()
	return do()
}

func newSettings() *settings { return &settings{more: make(chan struct{}, 1)} }

// begin is with what the kernel was started with, where nothing was put since.
func (s *settings) begin(state config.State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.more) == 0 {
		s.latest = state
	}
}

func (s *settings) put(state config.State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.latest = state
	s.anew()
}

// anew has the latest state taken once more.
func (s *settings) anew() {
	select {
	case s.more <- struct{}{}:
	default:
	}
}

// again is how long to wait with settings that could not be taken: the
// document cannot be written. They may be stricter than those in force.
const again = time.Second

// follow has every new state taken until ctx is done, and tries again what
// could not be.
func (s *settings) follow(ctx context.Context, take func(context.Context, config.State) error, log *slog.Logger) {
	var retry <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.more:
		case <-retry:
		}
		retry = nil
		err := s.alone(func() error {
			s.mu.Lock()
			state := s.latest
			s.mu.Unlock()
			return take(ctx, state)
		})
		if err != nil && ctx.Err() == nil {
			log.Error("settings are not in force yet", "error", err)
			retry = time.After(again)
		}
	}
}
