package approval

import (
	"errors"
	"fmt"
)

// Mode is the permission mode: who answers the remainder (law §1, §5). The
// zero value asks a person.
type Mode uint8

// The three modes. All run the same floor.
const (
	Manual Mode = iota // a person
	Auto               // grants, then the classifier, then a person
	Yolo               // nobody: the remainder is allowed
)

var modeNames = [...]string{"manual", "auto", "yolo"}

// ErrCatalog is the error of a name that belongs to another catalog: plan and
// act are modes of a session, not permission modes (law §5).
var ErrCatalog = errors.New("not a permission mode")

// ErrAdmission is the error of an unattended session that asks for a mode
// other than auto or yolo (law §6, ruling 10).
var ErrAdmission = errors.New("an unattended session runs in mode auto or yolo")

// ParseMode reads a mode's name. The alias always-approve means yolo and is
// never stored; a name nobody knows means manual; plan and act are refused
// with [ErrCatalog] (law §5).
func ParseMode(name string) (Mode, error) {
	switch name {
	case "auto":
		return Auto, nil
	case "yolo", "always-approve":
		return Yolo, nil
	case "plan", "act":
		return Manual, fmt.Errorf("%q: %w (want manual, auto or yolo)", name, ErrCatalog)
	}
	return Manual, nil
}

// AdmitUnattended reads the mode an unattended session is admitted with:
// auto or yolo, after the alias, and nothing else (law §6, ruling 10).
func AdmitUnattended(name string) (Mode, error) {
	mode, err := ParseMode(name)
	if err != nil {
		return Manual, err
	}
	if mode == Manual {
		return Manual, fmt.Errorf("mode %q: %w", name, ErrAdmission)
	}
	return mode, nil
}

// String is the mode's name as it is stored.
func (m Mode) String() string {
	if int(m) < len(modeNames) {
		return modeNames[m]
	}
	return modeNames[Manual]
}

// MarshalText writes the name as it is stored.
func (m Mode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads a name as [ParseMode] does.
func (m *Mode) UnmarshalText(b []byte) (err error) {
	*m, err = ParseMode(string(b))
	return err
}
