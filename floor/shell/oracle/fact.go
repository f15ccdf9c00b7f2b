package oracle

import (
	"fmt"
	"path/filepath"
	"strings"

	"assent/floor/effect"
)

// Fact is one thing that really happened.
type Fact struct {
	Kind effect.Kind // Run, Read, Write or Delete
	// Path is the file as the kernel names it, after symlinks; for a run it is
	// the program file.
	Path string
	// Named is the path as it was asked for, made absolute.
	Named string
	// Args are the words of a run, its name first.
	Args []string
	// By are the programs that were run on the way to the process that did it,
	// outermost first; none means the shell of the script itself.
	By []string
	// Anywhere says that By is not known, because nobody watched the processes.
	Anywhere bool
	// List says that a read only lists a folder, Folder that a write makes one,
	// Moved that the file was not deleted but got another name.
	List, Folder, Moved bool
}

// Program is the base name of the program of a run.
func (f Fact) Program() string { return filepath.Base(f.Path) }

// String shows a fact in one line.
func (f Fact) String() string {
	by := "bash"
	if len(f.By) > 0 {
		by = strings.Join(f.By, " > ")
	}
	switch {
	case f.Kind == effect.Run:
		return fmt.Sprintf("%s runs %s %q", by, f.Program(), f.Args)
	case f.List:
		return fmt.Sprintf("%s lists %s", by, f.Path)
	case f.Named != "" && f.Named != f.Path:
		return fmt.Sprintf("%s %ss %s (named %s)", by, f.Kind, f.Path, f.Named)
	}
	return fmt.Sprintf("%s %ss %s", by, f.Kind, f.Path)
}
