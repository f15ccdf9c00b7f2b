package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// atLeastOne demands an argument and says which.
func atLeastOne(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usagef("%s", what)
		}
		return nil
	}
}

// subcommandOnly refuses words that are no subcommand, with the one that was
// probably meant.
func subcommandOnly(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return unknownCommand(cmd, args[0])
}

func unknownCommand(cmd *cobra.Command, word string) error {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	if len(names) == 0 {
		return usagef("%q has no commands, and got %q", cmd.CommandPath(), oneLine(word, maxTarget))
	}
	hint := "they are " + strings.Join(names, ", ")
	if near := nearest(word, names); near != "" {
		hint = "did you mean " + near + "?"
	}
	return usagef("unknown command %q for %q; %s", oneLine(word, maxTarget), cmd.CommandPath(), hint)
}

// completeTools are tools that clients call so.
var completeTools = cobra.FixedCompletions(
	[]string{"Bash", "Read", "Write", "Edit", "Glob", "Grep", "WebFetch", "apply_patch", "run_shell_command"}, cobra.ShellCompDirectiveNoFileComp)

// filesComplete are the flags and commands whose values are files; of all others
// that say nothing themselves, no files are proposed.
var filesComplete = []string{"socket", "file", "output", "policy", "workspace", "cwd", "home", "arguments", "assent policy check", "assent policy fmt"}

func completeNoFiles(cmd *cobra.Command) {
	if cmd.ValidArgsFunction == nil && !slices.Contains(filesComplete, cmd.CommandPath()) {
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(filesComplete, f.Name) && f.Value.Type() != "bool" {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, cobra.NoFileCompletions) // refused where there is one
		}
	})
	for _, c := range cmd.Commands() {
		completeNoFiles(c)
	}
}

// newHelp is `assent help`, which refuses what it has no help for.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help about any command",
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if found == nil || err != nil {
				found = cmd.Root()
				rest = args
			}
			if len(rest) > 0 {
				return unknownCommand(found, rest[0])
			}
			found.InitDefaultHelpFlag()
			return found.Help()
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			var names []string
			if found, rest, err := cmd.Root().Find(args); err == nil && len(rest) == 0 {
				for _, c := range found.Commands() {
					if c.IsAvailableCommand() && strings.HasPrefix(c.Name(), begun) {
						names = append(names, c.Name()+"\t"+c.Short)
					}
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}
