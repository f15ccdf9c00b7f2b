//go:build !linux && !darwin

package hook

import "errors"

// listener cannot be told here: nothing is said to whom nobody knows.
func listener(int) (uid uint32, err error) {
	return 0, errors.New("this system does not tell")
}
