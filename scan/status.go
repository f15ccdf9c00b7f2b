package scan

import (
	"context"
	"fmt"

	"assent/floor"
	"assent/tirith"
)

// State says whether the scanner takes part in judging.
type State uint8

// The states. The zero value is that every command is refused.
const (
	Failed State = iota // it must run and cannot
	Absent              // there is none, and none was ever found
	Off                 // by the policy
	Ready               // it answers
)

func (s State) String() string {
	switch s {
	case Absent:
		return "absent"
	case Off:
		return "off"
	case Ready:
		return "ready"
	case Failed:
	}
	return "failed"
}

// Status is what there is to say of the scanner.
type Status struct {
	Setting floor.Scanner
	State   State
	// By is how it answers.
	By tirith.Way
	// Version, Program and Socket are those that are there.
	Version, Program, Socket string
	// Why says what keeps it from answering.
	Why string
}

// Status asks the scanner how it is.
func (s *Scanner) Status(ctx context.Context, setting floor.Scanner) Status {
	st := Status{Setting: setting}
	if setting == floor.ScannerOff {
		st.State = Off
		return st
	}
	there, err := s.there()
	if now := s.now(); now != nil {
		st.Program, st.Socket = now.Program, now.Socket
	}
	switch {
	case err != nil:
		st.Why = err.Error()
		return st
	case !there && setting == floor.ScannerRequired:
		st.Why = "the policy requires it, and it is not installed"
		return st
	case !there:
		st.State = Absent
		return st
	}
	if st.Program != "" {
		if st.Version, err = s.Tirith.Version(ctx); err != nil {
			st.Why = fmt.Sprintf("its program: %v", err)
		}
	}
	r, err := s.ask(ctx, "true", "/")
	if err != nil {
		st.Why = err.Error()
		s.mu.Lock()
		defer s.mu.Unlock()
		if was, _ := s.was(); was != nil && st.Program == "" && st.Socket == "" {
			st.Why = fmt.Sprintf("it was found on %s (%s) and is gone", was.Since.Format("2006-01-02"), was)
		}
		return st
	}
	st.State, st.By = Ready, r.By
	return st
}

// Missing says that there is none here, and none that must run.
func (s *Scanner) Missing() bool {
	there, err := s.there()
	return err == nil && !there
}

func (p *Place) String() string {
	if p.Program != "" {
		return p.Program
	}
	return p.Socket
}
