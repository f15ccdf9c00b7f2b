package plexus

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"assent/internal/place"
)

// acquire takes the lock beside the document. It goes with the process, however
// that ends.
func acquire(path string) (*place.Lock, error) {
	lock, err := place.Take(path)
	var taken *place.TakenError
	switch {
	case err == nil:
		return lock, nil
	case errors.As(err, &taken) && taken.PID != 0:
		return nil, fmt.Errorf("%w (in process %d)", ErrLocked, taken.PID)
	case errors.Is(err, place.ErrTaken):
		return nil, ErrLocked
	case errors.Is(err, os.ErrPermission), errors.Is(err, syscall.EROFS):
		return nil, fmt.Errorf("%w: %w", ErrReadOnly, err)
	}
	return nil, err
}
