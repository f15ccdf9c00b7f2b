//go:build !linux

package daemon

// Harden does nothing here.
func Harden() error { return nil }
