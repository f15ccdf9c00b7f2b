package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"assent/approval"
	"assent/front/api/client"
	"assent/front/api/wire"
	"assent/front/card"
	"assent/front/prompt"
	"assent/internal/drawn"
	"assent/plexus"
)

func exactlyOne(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return usagef("name %s", what)
		case len(args) > 1:
			return usagef("name %s; %q is one too many", what, oneLine(args[1], maxTarget))
		}
		return nil
	}
}

func newAnswer(yes bool) *cobra.Command {
	d, session, comment, folder, whole := &dialer{}, "", "", false, false
	verb, done, short := "allow", "allowed", "Allow a call that waits for a person"
	named := `A call is named by its number, as "assent queue" says it, or by SESSION/ID, both
whole: an agent that chooses its ids could have another call begin like the one
that you saw.`
	long := `Allow answers yes to one call that waits. What a policy blocked when the
call came cannot be allowed; a rule that was written since does not reach a call that waits: refuse or cancel it.
A path outside the workspace that is read so may be read again in that session
by file tools (Read, Grep), with what lies under it, unless there is a comment;
what is open from then on is said. A command that reads there (cat) asks each time.
A yes to names of files opens nothing, and neither does one to what a rule
denies: that is for the one call. --folder opens the folder besides that is
offered, where "assent show" says so.

Of a call that "assent queue" shows a part of, all is shown first, and you are
asked; without a terminal --whole says that you have seen it ("assent show"). So
it is with one that starts in another folder than its session, whose client says
more of it, that is longer than two lines, or in which something is not what it
looks like. What was typed before the question is no answer to it.`
	if !yes {
		named = `A call is named by its number, as "assent queue" says it, by its id, or by how
that begins.`
		verb, done, short = "deny", "denied", "Refuse a call that waits for a person"
		long = `Deny answers no to one call that waits. The agent is told that a person refused
it; a comment is told to it besides.`
	}
	codes := `One answer counts, and it is the first: who comes later is told whose it was.
The exit code is 0 when yours counts, 1 when it does not (somebody answered
before, or the call waits for nobody any more), 2 when the question is wrong.`
	cmd := &cobra.Command{
		Use:               verb + " CALL",
		Short:             short,
		Long:              long + "\n\n" + named + "\n\n" + codes,
		Example:           "  assent " + verb + " 4711\n  assent " + verb + " 4711 --comment 'only in the test folder'",
		Args:              exactlyOne("the call"),
		ValidArgsFunction: completeCalls,
		RunE: d.asking(func(cmd *cobra.Command, c *client.Client, args []string) error {
			ctx := cmd.Context()
			if folder && comment != "" {
				return usagef("--folder opens a folder for the session, and a comment makes a yes one for this call alone: give one of them")
			}
			find := deniedCall
			if yes {
				find = meantCall
			}
			name, err := find(ctx, c, args[0], session)
			if err != nil {
				return err
			}
			job, err := c.Job(ctx, name.session, name.job)
			if err != nil {
				return err
			}
			if folder && (job.Leaf == nil || job.Leaf.Offer == "") {
				return usagef("no folder is offered for call %d; see: assent show %[1]d", job.Stamp.Rev)
			}
			if yes && !whole {
				if err := seeWhole(cmd, c, job); err != nil {
					return err
				}
			}
			var wrote wire.Wrote
			if folder {
				wrote, err = allowFolder(ctx, c, job)
			} else {
				wrote, err = c.Answer(ctx, name.session, name.job, yes, comment)
			}
			if errors.Is(err, wire.Written) || errors.Is(err, wire.Completed) {
				if now, e := c.Job(ctx, name.session, name.job); e == nil {
					return notWaiting(now)
				}
			}
			if err != nil {
				return err
			}
			if d.json {
				return writeJSON(cmd.OutOrStdout(), wrote)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %s %s\n", done, oneLine(job.Name, maxTarget), oneLine(whatOf(job.Arguments), 4*maxFull))
			if err == nil && yes && comment == "" && job.Leaf != nil && job.Leaf.ApprovalComment == nil {
				opens := job.Leaf.Opens
				if folder {
					opens = []wire.Opened{{Path: job.Leaf.Offer, Below: true}}
				}
				_, err = fmt.Fprint(cmd.OutOrStdout(), opensText(opens))
			}
			return err
		}),
	}
	d.flags(cmd)
	sessionFlag(cmd, &session, "a call of this session")
	cmd.Flags().StringVarP(&comment, "comment", "m", "", "a `text` that the agent is told besides")
	if yes {
		cmd.Flags().BoolVar(&folder, "folder", false, "open the folder for reading that is offered besides")
		cmd.Flags().BoolVar(&whole, "whole", false, "you have seen all of the call")
	}
	return cmd
}

// allowFolder opens the folder that is offered, and allows the call (law ruling 8):
// on the list that was seen, so that nothing that came since is lost.
func allowFolder(ctx context.Context, c *client.Client, job wire.Job) (wire.Wrote, error) {
	all, err := c.Registers(ctx, job.Session)
	if err != nil {
		return wire.Wrote{}, err
	}
	var paths []string
	if text := latest(all, plexus.ReadAllowlist); text != nil {
		if err := json.Unmarshal(text, &paths); err != nil {
			return wire.Wrote{}, fmt.Errorf("reading %s: %w", plexus.ReadAllowlist, err)
		}
	}
	list, err := json.Marshal(append(paths, job.Leaf.Offer))
	if err != nil {
		return wire.Wrote{}, fmt.Errorf("writing %s: %w", plexus.ReadAllowlist, err)
	}
	return c.Write(ctx, job.Session, wire.Writes{Seen: all.Rev, Writes: []wire.Write{
		{Name: plexus.ReadAllowlist, Value: list},
		{Job: job.ID, Name: plexus.Approved, Value: jsontext.Value("true")},
	}})
}

// seeWhole sees to it that nobody allows what they were shown a part of.
func seeWhole(cmd *cobra.Command, c *client.Client, job wire.Job) error {
	if len(job.Cut) > 0 {
		return fmt.Errorf("call %d is not here whole", job.Stamp.Rev)
	}
	about, err := aboutOf(cmd.Context(), c, job)
	if err != nil {
		return err
	}
	if queueShowsAll(job, about.Session) {
		return nil
	}
	out := cmd.OutOrStdout()
	in, isFile := cmd.InOrStdin().(*os.File)
	if to, ok := fileOf(out); !ok || !terminal(to) || !isFile || !terminal(in) {
		return usagef("a list shows a part of call %d: look at all of it with \"assent show %[1]d\", then: assent allow %[1]d --whole", job.Stamp.Rev)
	}
	s := screenOf(out)
	fmt.Fprint(out, card.Text(card.Of(job, about).Lines(card.Look{Width: s.width}), bool(s.paint))+"\n")
	asked := time.Now()
	for typed := bufio.NewReader(in); ; {
		flush(in)
		fmt.Fprint(out, "Allow it? y for yes: ")
		line, err := typed.ReadString('\n')
		answer := strings.ToLower(strings.TrimSpace(line))
		switch {
		case err != nil, answer != "y" && answer != "yes":
			return errors.New("nothing was answered")
		case time.Since(asked) >= prompt.Quiet:
			return nil
		}
		fmt.Fprintln(out, "That came sooner than anybody reads: it does not count.")
	}
}

// listed is how many columns of a call's text a list shows where nobody overlooks
// any of it: two lines of a terminal.
const listed = 160

// queueShowsAll reports whether a list shows all of a call, and for what it is. No list
// shows the folder in which a call starts: it must be the one of its session.
func queueShowsAll(job wire.Job, in *wire.Summary) bool {
	if in == nil || !factsShown(job.Facts, in) || !card.Plainly(job.Name) || drawn.Columns(job.Name) > maxTarget {
		return false
	}
	var members map[string]jsontext.Value
	if json.Unmarshal(job.Arguments, &members) != nil || len(members) > 1 {
		return len(job.Arguments) == 0
	}
	for name, value := range members {
		var text string
		return slices.Contains(card.Telling, name) && json.Unmarshal(value, &text) == nil && strings.TrimSpace(text) != "" && drawn.Columns(text) <= listed && card.Plainly(text)
	}
	return true
}

// factsShown reports whether what its client says besides of a call is nothing that a
// person must see: the folder of its session, and the client's own number of it.
func factsShown(facts jsontext.Value, in *wire.Summary) bool {
	cwd := in.Cwd
	if len(facts) > 0 && string(facts) != "null" {
		var members map[string]jsontext.Value
		if json.Unmarshal(facts, &members) != nil {
			return false
		}
		for name, value := range members {
			switch name {
			case "call":
			case "cwd":
				var text string
				if json.Unmarshal(value, &text) != nil {
					return false
				}
				if text != "" {
					cwd = text
				}
			default:
				return false
			}
		}
	}
	return cwd == "" || cwd == in.Workspace
}

// notWaiting says of a call that waits for nobody why that is.
func notWaiting(job wire.Job) error {
	how := "it is no call"
	if l := job.Leaf; l != nil {
		at := func(field string) string { return " (" + showWhen(l.Written[field].At, time.Now()) + ")" }
		switch {
		case l.Approved != nil:
			answer := "no"
			if *l.Approved {
				answer = "yes"
			}
			_, who, _ := strings.Cut(l.Written["approved"].Writer, ":")
			how = fmt.Sprintf("already answered: %s, by %s%s", answer, oneLine(who, maxTarget), at("approved"))
		case l.Cancelled != nil:
			how = "it was cancelled" + at("cancelled")
		case l.LicenseReason != nil:
			how = "already decided: " + card.Reason(*l.LicenseReason) + at("orchestrationResult")
		case l.PolicyResult == nil:
			how = "it is not judged yet"
		default:
			how = "it does not wait for a person"
		}
	}
	return fmt.Errorf("call %d: %s", job.Stamp.Rev, how)
}

// opensText says what a yes opens for reading from then on, "" for nothing.
func opensText(opens []wire.Opened) string {
	var b strings.Builder
	for _, o := range opens {
		below := ""
		if o.Below {
			below = " and what is under it"
		}
		fmt.Fprintf(&b, "open for reading by file tools in this session from now on: %s%s\n", oneLine(o.Path, 4*maxTarget), below)
	}
	return b.String()
}

func newCancel() *cobra.Command {
	d, session := &dialer{}, ""
	cmd := &cobra.Command{
		Use:   "cancel [CALL]",
		Short: "Cancel a call, or what is under way in a session",
		Long: `Cancel ends a call: one that waits is not asked about any more, one that runs is
stopped. Without a call, --session names a session in which all that is under
way is cancelled. What is under way in sessions that such a call started goes
with it, also when the call itself, which only starts them, is settled.`,
		Example: `  assent cancel 4711
  assent cancel --session 9HXM`,
		Args:              atMostOne("name one call"),
		ValidArgsFunction: completeCalls,
		RunE: d.asking(func(cmd *cobra.Command, c *client.Client, args []string) (err error) {
			ctx := cmd.Context()
			name := callName{}
			switch {
			case len(args) > 0:
				name, err = findCall(ctx, c, args[0], session)
			case session == "":
				err = usagef("name a call, or a session with --session")
			default:
				name.session, err = findSession(ctx, c, session)
			}
			if err != nil {
				return err
			}
			if name.job != "" {
				which, err := c.Job(ctx, name.session, name.job)
				if err == nil && which.Completed != nil && which.Kind != approval.AgentCall.String() {
					err = usagef("%s is settled already; see: assent show %s", oneLine(name.job, maxTarget), oneLine(name.job, maxTarget))
				}
				if err != nil {
					return err
				}
			}
			if err := c.Cancel(ctx, name.session, name.job); err != nil {
				return err
			}
			if d.json {
				return writeJSON(cmd.OutOrStdout(), map[string]string{"session": name.session, "job": name.job})
			}
			text := "cancelled: " + oneLine(name.String(), 4*maxTarget)
			if name.job == "" {
				text = "cancelled what is under way in session " + oneLine(name.session, maxTarget)
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), text)
			return err
		}),
	}
	d.flags(cmd)
	sessionFlag(cmd, &session, "a call of this session, or all in it")
	return cmd
}
