package cli

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"assent/front/api/client"
	"assent/front/api/wire"
	"assent/front/card"
	"assent/internal/oneline"
)

// writeJSON writes an answer of the daemon as it is, on one line.
func writeJSON(w io.Writer, v any) error {
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("writing the answer: %w", err)
	}
	_, err = w.Write(append(oneline.JSON(b), '\n'))
	return err
}

func newSessions() *cobra.Command {
	d, f := &dialer{}, client.SessionFilter{}
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "List the sessions",
		Long: `Sessions lists the sessions that the kernel knows, the newest first: the mode
each is in now, how many of its calls are not settled, and how many of those
wait for a person.`,
		Example: `  assent sessions --open
  assent sessions --json`,
		Args: noArguments,
		RunE: d.asking(func(cmd *cobra.Command, c *client.Client, _ []string) error {
			if f.Limit < 0 {
				return usagef("--limit %d: want a number from 0 on", f.Limit)
			}
			list, err := c.Sessions(cmd.Context(), f)
			if err != nil {
				return err
			}
			if d.json {
				return writeJSON(cmd.OutOrStdout(), list)
			}
			if len(list.Sessions) == 0 {
				_, err := fmt.Fprintln(cmd.OutOrStdout(), "no sessions")
				return err
			}
			g := grid{head: []string{"SESSION", "MODE", "ASKING", "OPEN", "STARTED", "CLIENT", "WORKSPACE"}}
			now := time.Now()
			var ids []string
			for _, s := range list.Sessions {
				ids = append(ids, s.ID)
			}
			short := shortIDs(ids)
			for _, s := range list.Sessions {
				asking := plainCell(strconv.Itoa(s.Asking))
				if s.Asking > 0 {
					asking.ink = inkAsk
				}
				workspace := shortFile(s.Workspace)
				if s.Seat == wire.Unattended {
					workspace += " (unattended)"
				}
				g.add(plainCell(short[s.ID]), modeCell(s.CurrentPolicy), asking, plainCell(strconv.Itoa(s.Unsettled)),
					plainCell(showWhen(s.At, now)), plainCell(dash(s.Client)), plainCell(workspace))
			}
			if err := g.write(cmd.OutOrStdout(), screenOf(cmd.OutOrStdout())); err != nil {
				return err
			}
			return more(cmd, list.More)
		}),
	}
	d.flags(cmd)
	cmd.Flags().IntVar(&f.Limit, "limit", 0, "list no more than this `number` (100)")
	cmd.Flags().BoolVar(&f.Open, "open", false, "only those with calls that are not settled")
	cmd.AddCommand(newSessionsShow(), newSessionsNew(), newSessionsGive())
	return cmd
}

// more says that there are more.
func more(cmd *cobra.Command, more bool) error {
	if !more {
		return nil
	}
	_, err := fmt.Fprintln(cmd.ErrOrStderr(), "assent: there are more; see --limit")
	return err
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// modeCell is a mode; the one that asks nobody stands out.
func modeCell(mode string) gridCell {
	if mode == "yolo" {
		return gridCell{mode, inkDeny}
	}
	return plainCell(mode)
}

// noArguments refuses words after a command that takes none.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%q takes no arguments, and got %q", cmd.CommandPath(), oneLine(args[0], maxTarget))
	}
	return nil
}

func newQueue() *cobra.Command {
	d, session, limit := &dialer{}, "", 100
	cmd := &cobra.Command{
		Use:   "queue",
		Short: "List the calls that wait for a person",
		Long: `Queue lists the calls that wait for a person's answer, each with its number and
with what the policies said to it. The agents take turns, and the sessions of
each; calls of one session are in the order in which they stand there. It says for which of them nobody waits just now: whoever asked has
ended, or was cut off when the kernel ended; "assent cancel" takes one out.`,
		Example: `  assent queue
  assent queue --session 7GKQ --json`,
		Args: noArguments,
		RunE: d.asking(func(cmd *cobra.Command, c *client.Client, _ []string) error {
			if limit < 0 {
				return usagef("--limit %d: want a number from 0 on", limit)
			}
			id, err := findSession(cmd.Context(), c, session)
			if err != nil {
				return err
			}
			queue, err := c.QueuePage(cmd.Context(), id, 0, limit)
			if err != nil {
				return err
			}
			if d.json {
				return writeJSON(cmd.OutOrStdout(), queue)
			}
			if len(queue.Queue) == 0 {
				_, err := fmt.Fprintln(cmd.OutOrStdout(), "nothing waits for a person")
				return err
			}
			g := grid{head: []string{"SESSION", "CALL", "SINCE", "POLICY", "TOOL", "WHAT"}}
			now := time.Now()
			var sessions []string
			for _, job := range queue.Queue {
				sessions = append(sessions, job.Session)
			}
			session := shortIDs(sessions)
			for _, job := range queue.Queue {
				g.add(plainCell(session[job.Session]), plainCell(strconv.FormatInt(job.Stamp.Rev, 10)), plainCell(showWhen(job.Stamp.At, now)), floorCell(job.Leaf.PolicyResult),
					plainCell(job.Name), plainCell(whatOf(job.Arguments)))
			}
			if err := g.write(cmd.OutOrStdout(), screenOf(cmd.OutOrStdout())); err != nil {
				return err
			}
			if len(queue.Unawaited) > 0 {
				if _, err := fmt.Fprint(cmd.ErrOrStderr(), paragraph("assent: "+unawaited(queue.Unawaited))); err != nil {
					return err
				}
			}
			if !queue.More {
				return nil
			}
			_, err = fmt.Fprintf(cmd.ErrOrStderr(), "assent: %d wait in all; see --limit\n", queue.Waiting)
			return err
		}),
	}
	d.flags(cmd)
	sessionFlag(cmd, &session, "only of this session")
	cmd.Flags().IntVar(&limit, "limit", limit, "list no more than this `number`")
	return cmd
}

// unawaited says for which calls nobody waits.
func unawaited(numbers []wire.Rev) string {
	const most = 8
	var named []string
	for _, n := range numbers[:min(len(numbers), most)] {
		named = append(named, strconv.FormatInt(n, 10))
	}
	if more := len(numbers) - most; more > 0 {
		named = append(named, fmt.Sprintf("%d more", more))
	}
	return fmt.Sprintf("nobody waits just now for %s: whoever asked may have ended, and not hear an answer; \"assent cancel CALL\" takes one out", strings.Join(named, ", "))
}

// sessionText is the value of --session. One that is empty, as of a variable that
// is not set, would be none, and what was meant for one session hold in all.
type sessionText string

func (s *sessionText) String() string { return string(*s) }
func (s *sessionText) Type() string   { return "string" }

func (s *sessionText) Set(text string) error {
	if text == "" {
		return errors.New("no session is named; leave the flag out to mean all")
	}
	*s = sessionText(text)
	return nil
}

func sessionFlag(cmd *cobra.Command, session *string, usage string) {
	cmd.Flags().Var((*sessionText)(session), "session", usage+" (`id`, or how it begins)")
	if err := cmd.RegisterFlagCompletionFunc("session", completeSessions); err != nil {
		panic(err) // the flag is there
	}
}

// floorCell is what the floor said.
func floorCell(result *string) gridCell {
	if result == nil {
		return plainCell("-")
	}
	return gridCell{*result, resultInk(*result)}
}

func resultInk(result string) ink {
	switch result {
	case "allow":
		return inkAllow
	case "deny":
		return inkDeny
	case "block":
		return inkBlock
	case "ask", "wait":
		return inkAsk
	}
	return inkFaint
}

// whatOf is what a call is about, in one line.
func whatOf(arguments jsontext.Value) string { return card.What(arguments) }
