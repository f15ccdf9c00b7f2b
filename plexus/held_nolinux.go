//go:build !linux

package plexus

import "os"

// lockFile does nothing: the lock beside the document has to do (lock.go).
func lockFile(*os.File) error { return nil }

// keepsTimes is not known of any file system here.
func keepsTimes(*os.File) bool { return false }
