package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"assent/floor"
	"assent/front/api/client"
	"assent/front/api/wire"
)

// idOf says whether a text can be an id; the rule is the document's.
func idOf(text string) bool {
	return len(text) <= 200 && !strings.ContainsFunc(text, func(r rune) bool { return r < '!' || r > '~' })
}

func newSessionsNew() *cobra.Command {
	d, c, s, agent := &dialer{}, &checker{verb: "new"}, wire.NewSession{}, 0
	cmd := &cobra.Command{
		Use:   "new",
		Short: "Make a session",
		Long: `New makes a session in a folder that an agent may not choose for itself, or with
a mode that it does not set, and says its id. With --agent it belongs to the agent
that this process is or belongs to; without it, to the first agent that asks in
it. The terminal of that process is the agent's from then on: answer from
another one.`,
		Example: `  assent sessions new --workspace ~/src/site
  assent sessions new --mode auto --agent 4711`,
		Args: noArguments,
		RunE: d.asking(func(cmd *cobra.Command, k *client.Client, _ []string) (err error) {
			if s.Mode, err = modeOrNone(s.Mode); err != nil {
				return err
			}
			if cmd.Flags().Changed("agent") && agent <= 0 {
				return usagef("--agent %d: want the number of a process", agent)
			}
			var call floor.Call
			if err := c.places(&call, warnings(cmd)); err != nil {
				return err
			}
			if !idOf(s.ID) {
				return usagef("--id %s: an id has ASCII letters, digits and signs, no blanks, and 200 of them at most", oneLine(middle(s.ID, maxTarget), maxTarget))
			}
			s.Process = agent
			s.Workspace, s.Cwd, s.Home = call.Workspace, call.Cwd, call.Home
			made, err := k.CreateSession(cmd.Context(), s)
			if err != nil {
				return err
			}
			if d.json {
				return writeJSON(cmd.OutOrStdout(), made)
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), made.ID)
			return err
		}),
	}
	d.flags(cmd)
	f := cmd.Flags()
	c.placeFlags(cmd, "it works in", "its calls start in")
	modeFlag(cmd, &s.Mode, "its `mode`")
	f.StringVar(&s.ID, "id", "", "its `id` (default: one is made)")
	f.IntVar(&agent, "agent", 0, "the `process` of the agent that it is for")
	return cmd
}

func newSessionsGive() *cobra.Command {
	d := &dialer{}
	cmd := &cobra.Command{
		Use:   "give SESSION PROCESS",
		Short: "Give a session to an agent",
		Long: `Give lets the agent that a process is or belongs to have a session, with its mode
and its grants, and nobody else: also not the agent that had it before. The
terminal of that process is the agent's from then on.`,
		Example: `  assent sessions give 7GKQ 4711`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usagef("name a session and the number of a process of the agent")
			}
			return nil
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 { // a process
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return completeSessions(cmd, args, begun)
		},
		RunE: d.asking(func(cmd *cobra.Command, c *client.Client, args []string) error {
			process, err := strconv.Atoi(args[1])
			if err != nil || process <= 0 {
				return usagef("%q is no number of a process", oneLine(args[1], maxTarget))
			}
			session, err := findSession(cmd.Context(), c, args[0])
			if err != nil {
				return err
			}
			given, err := c.Give(cmd.Context(), session, process)
			if err != nil {
				return err
			}
			if d.json {
				return writeJSON(cmd.OutOrStdout(), given)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "session %s is %s's\n", oneLine(session, maxTarget), oneLine(given.Agent, maxTarget))
			return err
		}),
	}
	d.flags(cmd)
	return cmd
}
