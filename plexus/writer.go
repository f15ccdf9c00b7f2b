package plexus

import (
	"fmt"
	"strings"
)

// Role says as what somebody writes. The zero value is nobody and is refused.
type Role uint8

// The roles. Which fields and registers each may write stands in the schema.
const (
	Nobody Role = iota
	Host        // the kernel
	Human       // a person
	Agent       // an agent, or a hook on its behalf
)

var roleNames = [...]string{"nobody", "host", "human", "agent"}

// String is the role's name as it is stored.
func (r Role) String() string {
	if int(r) < len(roleNames) {
		return roleNames[r]
	}
	return roleNames[Nobody]
}

// Writer is who writes. It is stored as "human:NAME".
type Writer struct {
	Role Role
	Name string
}

// String is the writer as it is stored.
func (w Writer) String() string { return w.Role.String() + ":" + w.Name }

// MarshalText writes the writer as it is stored.
func (w Writer) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// ParseWriter reads a writer as it is stored.
func ParseWriter(text string) (Writer, error) {
	role, name, ok := strings.Cut(text, ":")
	for r := Host; ok && name != "" && int(r) < len(roleNames); r++ {
		if roleNames[r] == role {
			return Writer{Role: r, Name: name}, nil
		}
	}
	return Writer{}, fmt.Errorf("writer %q: %w (want host:NAME, human:NAME or agent:NAME)", text, ErrRole)
}

// behalf stands between a host and who asked it for what it writes.
const behalf = " for "

// For is the host as it writes what somebody asked of it: "host:kernel for human:ada".
func (w Writer) For(asked Writer) Writer {
	return Writer{w.Role, w.Name + behalf + asked.String()}
}

// Asked is who asked the host for what it wrote, if it was [Writer.For] somebody.
func (w Writer) Asked() (Writer, bool) {
	_, asked, ok := strings.Cut(w.Name, behalf)
	if w.Role != Host || !ok {
		return Writer{}, false
	}
	by, err := ParseWriter(asked)
	return by, err == nil
}
