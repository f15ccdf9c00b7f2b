//go:build !linux

package daemon

// harden does nothing here.
func harden() error { return nil }
