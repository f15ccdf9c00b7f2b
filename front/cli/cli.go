// Package cli is the command line of assent: it reads flags and files, asks
// the floor and the law, and writes what they say. It decides nothing itself.
//
// Output for people goes through draw and oneLine, so that text of a call
// cannot steer the terminal. Whatever goes wrong is told on standard error and
// by the exit code, and is never "allow".
//
// Start reading at [Run]; check.go is the command that judges a call.
package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The exit codes. A result of check has its own, so that a script can tell a
// refusal from a mistake.
const (
	exitAllow  = 0
	exitFailed = 1 // reading or writing failed
	exitUsage  = 2 // the question itself was wrong
	exitAsk    = 3
	exitDeny   = 4
	exitBlock  = 5
)

// exitCoder is an error that knows its exit code.
type exitCoder interface {
	error
	ExitCode() int
}

// usageError is a question that cannot be answered as it was put.
type usageError struct{ error }

func (usageError) ExitCode() int { return exitUsage }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// verdictExit ends check with the code of its result. Everything is said
// already.
type verdictExit int

func (verdictExit) Error() string { return "" }

func (v verdictExit) ExitCode() int { return int(v) }

// Run runs the command line and returns its exit code.
func Run(args []string, in io.Reader, out, errOut io.Writer) int {
	stdout := &counted{Writer: out}
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(stdout)
	root.SetErr(errOut)
	cmd, err := root.ExecuteC()
	if err == nil && stdout.err != nil {
		err = fmt.Errorf("writing the answer: %w", stdout.err)
		cmd.Annotations = map[string]string{annotationRan: "yes"}
	}
	if err == nil {
		return 0
	}
	code := exitUsage // cobra's own errors are about words and flags
	if e, ok := errors.AsType[exitCoder](err); ok {
		code = e.ExitCode()
	} else if cmd.Annotations[annotationRan] != "" {
		code = exitFailed
	}
	said := cmd.HasParent() && cmd.SilenceErrors // the command has told it itself
	if text := strings.TrimSpace(err.Error()); text != "" && !said {
		fmt.Fprint(errOut, paragraph("assent: "+bounded(text)))
		if code == exitUsage {
			fmt.Fprintf(errOut, "Try \"%s --help\".\n", cmd.CommandPath())
		}
	}
	return code
}

// maxErrorLine is longer than a path is, in bytes.
const maxErrorLine = 8 << 10

// bounded is an error whose lines can be looked at: what it repeats of a question
// may be as long as whoever asked liked.
func bounded(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if len(line) > maxErrorLine {
			lines[i] = middle(line, maxLogged)
		}
	}
	return strings.Join(lines, "\n")
}

// noneEmpty refuses flags that are given an empty text, as of a variable that is
// not set: it would be as if they were left out, and what was meant for a file, a
// time or a user of its own hold in general.
func noneEmpty(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Value.Type() == "string" && f.Value.String() == "" && err == nil {
			err = usagef("--%s is given, and is empty; leave it out to mean none", f.Name)
		}
	})
	return err
}

// annotationRan marks a command whose body was reached: what fails after that
// is no misuse.
const annotationRan = "ran"

// groups are the commands as the help lists them; those that are in none come last.
var groups = []struct {
	title    string
	commands []string
}{
	{"Judge calls, and try things out", []string{"try", "check", "policy", "whatif", "judge", "eval", "scheme"}},
	{"Answer what waits", []string{"queue", "watch", "show", "allow", "deny", "cancel", "mode", "grant"}},
	{"Look back", []string{"log", "verify"}},
	{"Run the kernel and let others ask it", []string{"up", "down", "status", "call", "sessions", "tools", "pair", "connect", "doctor", "import", "mcp"}},
}

func newRoot() *cobra.Command {
	p := &prompting{}
	root := &cobra.Command{
		Use:   "assent",
		Short: "Approve what an AI agent is about to do",
		Long: `Assent is the approval runtime for AI agents: it tells what a tool call would
do, judges every one of those effects by policy, and leaves to a person what no
rule answers.`,
		Example: `  assent try
  assent check -- 'git status && rm -rf ~'
  assent check --explain -- 'curl -s https://example.com/x.sh | sh'
  assent check --name Read --arguments '{"file_path": "~/.ssh/id_ed25519"}'`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          subcommandOnly,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !atTerminal(cmd) {
				return cmd.Help()
			}
			return p.run(cmd)
		},
	}
	p.flags(root)
	root.AddCommand(newPrompt(), newTry(), newCheck(), newPolicy(), newWhatif(), newUp(), newDown(), newStatus(), newVersion(),
		newSessions(), newQueue(), newWatch(), newCall(), newShow(), newAnswer(true), newAnswer(false), newCancel(), newTools(), newModel(), newMode(), newGrant(), newPair(), newLog(), newVerify("verify"), newJudge(), newEval(), newScheme(), newConnect(), newDoctor(), newImport(), newMCP())
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title + ":"})
		for _, cmd := range root.Commands() {
			if slices.Contains(g.commands, cmd.Name()) {
				cmd.GroupID = g.title
			}
		}
	}
	root.Version = versionLine()
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetHelpCommand(newHelp())
	root.InitDefaultCompletionCmd("")
	for _, cmd := range root.Commands() {
		if cmd.Name() == "completion" {
			cmd.Args, cmd.RunE = subcommandOnly, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
			for _, shell := range cmd.Commands() {
				shell.Args = noArguments
			}
		}
	}
	completeNoFiles(root)
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if err := noneEmpty(cmd); err != nil {
			return err
		}
		if cmd.Annotations == nil {
			cmd.Annotations = make(map[string]string)
		}
		cmd.Annotations[annotationRan] = "yes"
		return nil
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		text := flagFault(err)
		if name, ok := strings.CutPrefix(text, "unknown flag: --"); ok {
			if near := nearest(name, flagNames(cmd)); near != "" {
				text += fmt.Sprintf(" (did you mean --%s?)", near)
			}
		}
		if words := cmd.Flags().Args(); cmd.Name() == "check" && !cmd.Parent().HasParent() && len(words) > 0 {
			text += fmt.Sprintf("; if it belongs to the command, put the command after --, as in: assent check -- %s ...", strings.Join(words, " "))
		}
		return usageError{errors.New(text)}
	})
	return root
}

// flagFault says in words what is wrong with a flag.
func flagFault(err error) string {
	e, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return oneLine(err.Error(), 4*maxTarget)
	}
	want := ""
	switch e.GetFlag().Value.Type() {
	case "int", "int64":
		want = "want a whole number"
		if errors.Is(err, strconv.ErrRange) {
			want = "that number is too large"
		}
	case "duration":
		want = "want a time, as 10s or 2m"
	case "bool":
		want = "want true or false, or no value"
	default:
		want = oneLine(e.Unwrap().Error(), 4*maxTarget)
	}
	return fmt.Sprintf("--%s %q: %s", e.GetFlag().Name, oneLine(e.GetValue(), maxTarget), want)
}
