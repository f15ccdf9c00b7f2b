package plexus

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// Memory that is short is told as that.
func TestMemoryThatIsShort(t *testing.T) {
	for _, code := range []int{codeNoMemory, codeNoMemory | 1<<8} {
		if err, refused := sentinelOf(code, "out of memory (7)"); !errors.Is(err, ErrMemory) || errors.Is(err, ErrTampered) || refused {
			t.Errorf("%d: %v, refused %v", code, err, refused)
		}
	}
}

// A document that could not be read for want of memory is not relied on, and not
// called damaged.
func TestUnreadIsNotDamaged(t *testing.T) {
	err := distrust(fmt.Errorf("%w (out of memory)", ErrMemory))
	if !errors.Is(err, ErrTampered) || !errors.Is(err, ErrMemory) {
		t.Error("what relies on no damaged document would rely on it:", err)
	}
	if got, want := err.Error(), "the document could not be read: there is not enough memory (out of memory)"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if err := distrust(ErrDisk); errors.Is(err, ErrMemory) || !strings.Contains(err.Error(), ErrTampered.Error()) {
		t.Error("of a disk that fails:", err)
	}
}
