package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"assent/scheme"
)

// largestProgram bounds the text of a program, in bytes.
const largestProgram = 4 << 20

// newScheme is `assent scheme`: a program in the sandbox of classifiers and
// agents, with none of their tools.
func newScheme() *cobra.Command {
	var (
		steps  int64
		depth  int
		memory int64
		limit  time.Duration
	)
	cmd := &cobra.Command{
		Use:   "scheme FILE",
		Short: "Run a Scheme program in the sandbox, without tools",
		Long: `Scheme runs a program in the language of the classifier's programs, and prints
what it displays and then the value of its last expression. It is R7RS-small
without complex numbers and libraries of one's own. The program has no files,
no network, no clock and no tools; what it takes is bounded, and passing a bound
ends it, whatever handlers it has. A file - is standard input.

(import (chibi test)) or (srfi 64) gives it test, test-error, test-assert and
their like: such a file counts what passed and failed, and goes on behind an
error.

Exit codes: 0 the program ended well; 1 it did not, and the error says where;
2 the question was wrong.`,
		Example: `  assent scheme program.scm
  echo '(display (expt 2 100))' | assent scheme -`,
		Args: exactlyOne("the file of a program"),
		RunE: func(cmd *cobra.Command, args []string) error {
			for name, bad := range map[string]bool{"steps": steps < 1, "depth": depth < 1, "memory": memory < 1, "timeout": limit <= 0} {
				if bad {
					return usagef("--%s must be more than 0", name)
				}
			}
			text, err := readProgram(cmd.InOrStdin(), args[0])
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("the program ran for more than %s (--timeout)", limit))
			defer cancel()
			m := scheme.New(scheme.Limits{Steps: steps, Depth: depth, Memory: memory << 20, Output: 64 << 20})
			out := &screened{to: cmd.OutOrStdout()}
			m.Output = out
			v, err := m.Run(ctx, filepath.Base(args[0]), text)
			var exit *scheme.Exit
			switch {
			case errors.As(err, &exit) && exit.Value == nil:
				return nil
			case err != nil:
				if out.midLine {
					fmt.Fprintln(cmd.OutOrStdout())
				}
				return schemeError(err)
			case v == scheme.Unspecified:
				return nil
			}
			if out.midLine {
				fmt.Fprintln(cmd.OutOrStdout())
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), draw(scheme.Write(v)).Text)
			return err
		},
	}
	cmd.Flags().Int64Var(&steps, "steps", 1_000_000_000, "how many steps it may take: a `number`")
	cmd.Flags().IntVar(&depth, "depth", 100_000, "how deeply calls may be nested: a `number`")
	cmd.Flags().Int64Var(&memory, "memory", 256, "how much it may hold: a `number` of MiB")
	cmd.Flags().DurationVar(&limit, "timeout", time.Minute, "how long it may run: a `time` as 10s")
	return cmd
}

// schemeError says which flag raises a limit that was reached.
func schemeError(err error) error {
	for limit, flag := range map[error]string{scheme.ErrSteps: "--steps", scheme.ErrDepth: "--depth", scheme.ErrMemory: "--memory"} {
		if errors.Is(err, limit) {
			return fmt.Errorf("%w (%s sets the limit)", err, flag)
		}
	}
	return err
}

func readProgram(in io.Reader, file string) (string, error) {
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return "", usageError{err}
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, largestProgram+1))
	if err != nil {
		return "", fmt.Errorf("reading the program: %w", err)
	}
	if len(text) > largestProgram {
		return "", usagef("the program is longer than %d bytes", largestProgram)
	}
	return string(text), nil
}

// screened passes on what a program displays, a line's controls made visible
// as everywhere, its line ends kept.
type screened struct {
	to      io.Writer
	midLine bool
}

func (s *screened) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	s.midLine = p[len(p)-1] != '\n'
	for line := range strings.Lines(string(p)) {
		text, ended := strings.CutSuffix(line, "\n")
		if text = draw(text).Text; ended {
			text += "\n"
		}
		if _, err := io.WriteString(s.to, text); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}
