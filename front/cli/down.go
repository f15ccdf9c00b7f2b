package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"assent/front/daemon"
)

func newDown() *cobra.Command {
	limit := 30 * time.Second
	cmd := &cobra.Command{
		Use:   "down",
		Short: "End the kernel",
		Long: `End the kernel and wait until it has ended. Nothing is lost: what waits for an
answer goes on waiting when it runs again, and nothing is allowed meanwhile. As
an agent's call it is blocked in every mode.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			at, err := findKernel()
			if err != nil {
				return err
			}
			if at.Shared {
				return fmt.Errorf("the kernel runs as user %d: whoever set it up has to end it", at.User)
			}
			if limit <= 0 {
				return usagef("--wait %v: want a time longer than nothing, as 10s", limit)
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), limit)
			defer cancel()
			pid, err := daemon.Stop(ctx, at.Place)
			switch {
			case errors.Is(err, daemon.ErrNotRunning):
				_, err = fmt.Fprintln(cmd.OutOrStdout(), "The kernel is not running.")
				return err
			case errors.Is(err, syscall.EPERM), errors.Is(err, fs.ErrPermission):
				return fmt.Errorf("%w: it runs as another user", err)
			case isSilent(err):
				return fmt.Errorf("%w\nit was told to end, and does when it goes on: kill -CONT %d", err, pid)
			case errors.Is(err, context.DeadlineExceeded):
				return fmt.Errorf("%w, after %v\nits log may say why; nothing is lost by: kill -KILL %d", err, limit, pid)
			case err != nil:
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "The kernel has ended (process %d).\n", pid)
			return err
		},
	}
	cmd.Flags().DurationVar(&limit, "wait", limit, "how long to wait for it to end: a `time` as 10s")
	return cmd
}
