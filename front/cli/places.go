package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"assent/floor"
	"assent/front/reach"
	"assent/senses"
)

// places fills in where a call of the command line happens. What is assumed
// because nobody said it is told where it makes a difference.
func (c *checker) places(call *floor.Call, warn warning) error {
	here, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("finding the present folder: %w", err)
	}
	if call.Home, err = namedFolder("home", c.home, here); err != nil {
		return err
	}
	if call.Home == "" {
		// Without one the home is unknown, and paths in it are asked about.
		call.Home = reach.Home(os.Getenv("HOME"), homeOfUser)
	}
	if call.Workspace, err = namedFolder("workspace", c.workspace, here); err != nil {
		return err
	}
	assumed := call.Workspace == ""
	if assumed {
		call.Workspace = senses.Workspace(here)
	}
	switch {
	case call.Workspace == "/":
		warn("/ is no workspace: every path is judged as outside one; name the folder with --workspace")
	case assumed && within(call.Home, call.Workspace):
		warn("no repository is here, so %s is taken for the workspace, with all of your home in it; name the folder with --workspace", oneLine(call.Workspace, 4*maxTarget))
	}
	if call.Cwd, err = namedFolder("cwd", c.cwd, here); err != nil {
		return err
	}
	if call.Cwd == "" && within(here, call.Workspace) {
		call.Cwd = here
	}
	return nil
}

// placeFlags are the flags for where a call happens, in the words for whom.
func (c *checker) placeFlags(cmd *cobra.Command, works, starts string) {
	f := cmd.Flags()
	f.StringVarP(&c.workspace, "workspace", "w", "", "the `folder` "+works+" (default: the repository or folder you are in)")
	f.StringVarP(&c.cwd, "cwd", "C", "", "the `folder` "+starts+" (default: the folder you are in, when it is in the workspace)")
	_ = cmd.MarkFlagDirname("workspace")
	_ = cmd.MarkFlagDirname("cwd")
}

// within reports whether a path is a folder or lies below it.
func within(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

// namedFolder makes a folder of the command line absolute. It must exist: a slip of
// the pen would be judged as another place.
func namedFolder(flag, folder, here string) (string, error) {
	if folder == "" {
		return "", nil
	}
	if strings.IndexByte(folder, 0) >= 0 || !utf8.ValidString(folder) {
		return "", usagef("--%s: %q is no folder", flag, folder)
	}
	abs := filepath.Clean(folder)
	if !filepath.IsAbs(folder) {
		abs = filepath.Join(here, folder)
	}
	info, err := os.Stat(abs)
	switch {
	case err != nil:
		return "", usagef("--%s: %w", flag, err)
	case !info.IsDir():
		return "", usagef("--%s: %s is not a folder", flag, oneLine(folder, 4*maxTarget))
	}
	return abs, nil
}
