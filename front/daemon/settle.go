package daemon

import (
	"fmt"

	"assent/internal/offspring"
)

// Settle makes the process one that a kernel may run in, until unsettle is called:
// others keep out of its memory, what it was started with is handed on to nobody, and
// what its bodies leave behind stays below it. All that it starts has to be an
// [offspring.Child].
func Settle() (unsettle func(), err error) {
	if err := harden(); err != nil {
		return nil, fmt.Errorf("keeping others from this process's memory: %w", err)
	}
	if err := KeepInherited(); err != nil {
		return nil, fmt.Errorf("keeping open files from what is run: %w", err)
	}
	return offspring.Adopt()
}
