package cli

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"assent/front/connect"
	"assent/front/reach"
	"assent/senses"
)

func clientNames() (names []string) {
	for _, c := range connect.Clients {
		names = append(names, c.Name)
	}
	return names
}

func newConnect() *cobra.Command {
	var project, dry, undo bool
	cmd := &cobra.Command{
		Use:   "connect CLIENT",
		Short: "Put assent in front of the tools of your agent",
		Long: `Connect writes assent-hook into the configuration of claude, codex, gemini or
opencode: from then on each call of a tool is held until assent has answered,
and refused when that goes wrong. Other entries, comments and the order of the
file stay as they are. What is said at the end matters: what you must do
yet, and what such a hook does not stop.

A copy of what was there is kept. --undo gives it back byte for byte where the
file was not touched since, and otherwise takes out what connect put in.

The files: ~/.claude/settings.json (CLAUDE_CONFIG_DIR), ~/.codex/hooks.json
(CODEX_HOME), ~/.gemini/settings.json (GEMINI_CLI_HOME),
~/.config/opencode/plugins/assent.js (XDG_CONFIG_HOME). With --project those of
the project that you are in.`,
		Example: `  assent connect claude --dry-run
  assent connect claude
  assent connect claude --undo`,
		Args:              exactlyOne("a client: " + strings.Join(clientNames(), ", ")),
		ValidArgsFunction: completeClients,
		RunE: func(cmd *cobra.Command, args []string) error {
			return connectClient(cmd, args[0], project, dry, undo)
		},
	}
	cmd.Flags().BoolVar(&project, "project", false, "the configuration of the project you are in, and not that of all your projects")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "say what would be changed, and change nothing")
	cmd.Flags().BoolVar(&undo, "undo", false, "take the hook out again")
	return cmd
}

func completeClients(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return clientNames(), cobra.ShellCompDirectiveNoFileComp
}

// configurationOf is the file of a client's configuration.
func configurationOf(c connect.Client, project bool) (string, error) {
	if !project {
		if file := c.Personal(os.Getenv); file != "" {
			return file, nil
		}
		return "", fmt.Errorf("the configuration of %s is not known: its variable or HOME is not an absolute path", c.Title)
	}
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	file := senses.Workspace(here)
	for part := range strings.SplitSeq(filepath.Dir(c.Project), "/") { // a project may have any link
		file = filepath.Join(file, part)
		if info, err := os.Lstat(file); err == nil && info.Mode()&os.ModeSymlink != 0 {
			return "", fmt.Errorf("%s is a link: nothing is written through it", file)
		}
	}
	return filepath.Join(file, filepath.Base(c.Project)), nil
}

func connectClient(cmd *cobra.Command, name string, project, dry, undo bool) error {
	c, ok := connect.Find(name)
	if !ok {
		return usagef("%s is no client that is known; there are %s", oneLine(name, maxTarget), strings.Join(clientNames(), ", "))
	}
	file, err := configurationOf(c, project)
	if err != nil {
		return err
	}
	at, err := reach.Find(homeOfUser)
	if err != nil {
		return err
	}
	keep := filepath.Join(at.State, "connect")
	var change *connect.Change
	if undo {
		change, err = c.Undo(file, keep, os.Getuid())
	} else {
		var hook string
		if hook, err = hookProgram(); err == nil {
			change, err = c.Connect(file, keep, os.Getuid(), connect.Setting{
				Program: hook, Name: "assent-" + rand.Text(),
				Kernel: connect.Kernel{Socket: at.Socket, Config: at.Config, State: at.State},
			})
		}
	}
	if err != nil {
		return err
	}
	if !dry {
		if err := change.Apply(); err != nil {
			return err
		}
	}
	return tellChange(cmd, c, change, project, dry, undo)
}

// hookProgram is assent-hook beside this program.
func hookProgram() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	return connect.Beside(self, os.Getuid())
}

func tellChange(cmd *cobra.Command, c connect.Client, change *connect.Change, project, dry, undo bool) error {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	path := oneLine(change.Path, 4*maxTarget)
	switch {
	case change.Same() && undo:
		say("%s: nothing of assent's is in it.", path)
	case change.Same():
		say("%s: it is as it should be; nothing is changed.", path)
	case !change.Exists && dry:
		say("%s would be removed:", path)
	case !change.Exists:
		say("%s is removed:", path)
	case dry:
		say("%s would be changed:", path)
	case change.Existed:
		say("%s is changed:", path)
	default:
		say("%s is new:", path)
	}
	if !change.Same() {
		out, in := change.Diff()
		for _, line := range out {
			say("  - %s", draw(line).Text)
		}
		for _, line := range in {
			say("  + %s", draw(line).Text)
		}
	}
	if !undo {
		if !change.Same() && !dry {
			say("\nA copy of what was there: %s", oneLine(change.Backup(), 4*maxTarget))
			say("assent connect %s --undo gives it back.", c.Name)
		}
		if project && change.Exists {
			say("\nIt names the hook by its path on this machine, and whoever shares this project by version control gets that file too: %s.", c.Elsewhere)
			say("Keep it out of commits (.git/info/exclude), or connect without --project.")
		}
		say("\nTo know:")
		for _, note := range c.Notes {
			say("  - %s", note)
		}
		say("What the hook does not stop:")
		for _, hole := range c.Holes {
			say("  - %s", hole)
		}
	}
	_, err := cmd.OutOrStdout().Write([]byte(b.String()))
	return err
}
