package scan

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"assent/internal/place"
)

// Place is where the scanner was found, and when for the first time.
type Place struct {
	Program string    `json:"program,omitempty"`
	Socket  string    `json:"socket,omitempty"`
	Since   time.Time `json:"since"`
}

// there says whether the scanner takes part: it is installed, or was found once
// and must run since. It is written down when it is found; where that cannot be
// done it is tried again with the next call.
func (s *Scanner) there() (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if now == nil {
		was, err := s.was()
		if err != nil {
			return true, err // it may have been found
		}
		return was != nil, nil
	}
	if s.found == nil {
		s.found = now
		if err := s.keep(now); err != nil {
			s.found = nil
			return true, err
		}
	}
	return true, nil
}

// now is where the scanner is now, nil when it is not.
func (s *Scanner) now() *Place {
	var p Place
	if name, err := s.Tirith.Installed(); err == nil {
		p.Program = name
	}
	if _, err := s.Tirith.Listening(); err == nil {
		p.Socket = s.Tirith.Socket
	}
	if p == (Place{}) {
		return nil
	}
	p.Since = time.Now().UTC().Truncate(time.Second)
	return &p
}

// was is where it was found once, nil when it never was.
func (s *Scanner) was() (*Place, error) {
	if s.found != nil || s.Found == "" {
		return s.found, nil
	}
	return written(s.Found)
}

// written is what a file says of where it was found, nil without a file.
func written(name string) (*Place, error) {
	text, _, err := place.Read(name, 1<<16, "place of a scanner")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("whether it was found before: %w", err)
	}
	var p Place
	if err := json.Unmarshal(text, &p); err != nil {
		return nil, fmt.Errorf("whether it was found before: %s: %w", name, err)
	}
	return &p, nil
}

// keep writes down that it was found, once.
func (s *Scanner) keep(p *Place) error {
	if s.Found == "" || !s.Keep {
		return nil
	}
	if was, err := written(s.Found); err == nil && was != nil {
		return nil
	}
	text, err := json.Marshal(p, jsontext.WithIndent("  "))
	if err == nil {
		err = os.MkdirAll(filepath.Dir(s.Found), 0o700)
	}
	if err == nil {
		err = place.Replace(s.Found, append(text, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("that it was found cannot be remembered: %w", err)
	}
	return nil
}
