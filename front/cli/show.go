package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"assent/front/api/client"
	"assent/front/api/wire"
	"assent/front/card"
)

func newShow() *cobra.Command {
	d, session, plain := &dialer{}, "", false
	cmd := &cobra.Command{
		Use:   "show CALL",
		Short: "Show all there is about a call",
		Long: `Show says what a call is, nothing left out: who asks and from where, the whole
call, what it would change, what the policies said to each of its effects, who
answered, and what became of it. Characters that are not seen, or look like
others, are named. --plain says it line by line, for a screen reader.

A call is named by its number, as "assent queue" and "assent log" say it, by its
id, or by how that begins.`,
		Example:           "  assent show 4711\n  assent show 4711 --json",
		Args:              exactlyOne("the call"),
		ValidArgsFunction: completeCalls,
		RunE: d.asking(func(cmd *cobra.Command, c *client.Client, args []string) error {
			name, err := findCall(cmd.Context(), c, args[0], session)
			if err != nil {
				return err
			}
			job, err := c.Job(cmd.Context(), name.session, name.job)
			if err != nil {
				return err
			}
			if d.json {
				return writeJSON(cmd.OutOrStdout(), job)
			}
			about, err := aboutOf(cmd.Context(), c, job)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			s := screenOf(out)
			_, err = fmt.Fprintf(out, "%s\nIts id in its session: %s\n",
				card.Text(card.Of(job, about).Lines(card.Look{Width: s.width, Plain: plain}), bool(s.paint)), oneLine(job.ID, 4*maxTarget))
			return err
		}),
	}
	d.flags(cmd)
	sessionFlag(cmd, &session, "a call of this session")
	cmd.Flags().BoolVar(&plain, "plain", false, "one thing a line, in words: for a screen reader")
	return cmd
}

// mostAround is how many sessions or sequences around a call are told.
const mostAround = 8

// aboutOf is what belongs to a call beside itself.
func aboutOf(ctx context.Context, c *client.Client, job wire.Job) (card.About, error) {
	about := card.About{Now: time.Now()}
	for id := job.Session; id != "" && len(about.Parents) < mostAround; {
		s, err := c.Summary(ctx, id) // by all of its id: agents choose ids that begin so
		if err != nil {
			return about, err
		}
		if about.Session == nil {
			about.Session = &s
		} else {
			about.Parents = append(about.Parents, s)
		}
		id = s.Parent
	}
	if s := about.Session; s != nil && s.Parent != "" {
		registers, err := c.Registers(ctx, job.Session)
		if err != nil {
			return about, err
		}
		about.Task = card.Task(registers)
	}
	for id := job.Parent; id != "" && len(about.Under) < mostAround; {
		under, err := c.Job(ctx, job.Session, id)
		if err != nil {
			return about, err
		}
		about.Under = append(about.Under, under)
		id = under.Parent
	}
	return about, nil
}
