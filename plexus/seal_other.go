//go:build !unix

package plexus

// stateOf is not to be had here: no document is taken for a sealed one.
func stateOf(string) (fileState, bool) { return fileState{}, false }
