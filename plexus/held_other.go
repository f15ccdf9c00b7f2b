//go:build !unix

package plexus

import "os"

// Which file is which is not to be had here: no document is taken for a sealed
// one, and none is missed.

func openFile(path string) (*os.File, error) { return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) }
func openSeal(path string) (*os.File, error) { return os.Open(path) }

func idOf(string) (fileID, error)               { return fileID{}, nil }
func idOfOpen(*os.File) (fileID, uint64, error) { return fileID{}, 1, nil }
func stateOf(string) (fileState, bool)          { return fileState{}, false }
func stateOfOpen(*os.File) (fileState, bool)    { return fileState{}, false }
