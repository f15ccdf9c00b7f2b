//go:build unix && !linux

package daemon

import "errors"

func closeRange() error { return errors.ErrUnsupported }
