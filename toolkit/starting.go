package toolkit

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"assent/job"
)

// starting is the folder that a command starts in: the very one that was judged.
type starting struct {
	path string // by which it is entered
	real string // without links
	end  func()
}

// startingIn is where the command of a call starts. Its path has no links left in it,
// as a prepared path, and is walked in the same way.
func startingIn(call job.Call) (starting, error) {
	real := call.RealCwd
	if real == "" && call.Cwd == "" {
		real = call.RealWorkspace
	}
	if !filepath.IsAbs(real) {
		return starting{}, fmt.Errorf("where its folder %q really lies was not known when it was judged: %w", call.Cwd, ErrUnprepared)
	}
	s, err := walkTo(filepath.Clean(real))
	if err != nil {
		return starting{}, fmt.Errorf("%s: %w", real, err)
	}
	return s, nil
}

func (s starting) close() { s.end() }

// because is an error of a start, with the folder as people know it.
func (s starting) because(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) && path.Path == s.path {
		return fmt.Errorf("%s: %w", s.real, path.Err)
	}
	return err
}
