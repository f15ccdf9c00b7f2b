package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"assent/approval"
	"assent/front/api/client"
	"assent/front/api/wire"
	"assent/plexus"
)

// grantable are the clusters that may be granted (law §3), with what that lets
// happen in mode auto.
var grantable = []struct{ name, means string }{
	{"write", "changing files"},
	{"bash", "shell commands but npx and bunx; others that run what they fetch are allowed"},
	{"mcp", "tools of servers that only look something up"},
}

// termOf is the term of a cluster in grants.
func termOf(t *approval.Terms, cluster string) *approval.Term {
	switch cluster {
	case "write":
		return &t.Write
	case "bash":
		return &t.Bash
	case "mcp":
		return &t.MCP
	}
	return nil
}

func newGrant() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "grant",
		Short: "List, give and revoke grants",
		Long: `A grant answers, in mode auto, what the policies would ask about a kind of
call: write, bash or mcp. It lifts no denial and no block, and counts in one
session or, without --session, in all of them: until it is taken back, or for so
long. "assent log" and "assent show" name the grant that let a call through.`,
		Example: `  assent grant list
  assent grant give bash --session 7GKQ --for 1h
  assent grant revoke bash write`,
		Args: subcommandOnly,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newGrantList(), newGrantGive(), newGrantRevoke())
	return cmd
}

func newGrantList() *cobra.Command {
	d, session := &dialer{}, ""
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List what is granted",
		Long: `List says what is granted, in all sessions and in single ones: who gave it and
when, until when it holds, how many calls it let through, and when the last.
Paths outside the workspace that may be read in a session, because a person
allowed that, are among them.`,
		Args: noArguments,
		RunE: d.asking(func(cmd *cobra.Command, c *client.Client, _ []string) error {
			id, err := findSession(cmd.Context(), c, session)
			if err != nil {
				return err
			}
			return showGrants(cmd, d, c, id)
		}),
	}
	d.flags(cmd)
	sessionFlag(cmd, &session, "only of this session, and what counts in all")
	return cmd
}

// showGrants says what is granted now.
func showGrants(cmd *cobra.Command, d *dialer, c *client.Client, session string) error {
	list, err := c.Grants(cmd.Context(), session)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	switch {
	case d.json:
		return writeJSON(out, list)
	case len(list.Grants) == 0:
		_, err := fmt.Fprintln(out, "nothing is granted")
		return err
	}
	g := grid{head: []string{"GRANT", "KIND", "WHERE", "BY", "SINCE", "UNTIL", "USED", "LAST", "WHAT"}}
	now := time.Now()
	var sessions []string
	for _, line := range list.Grants {
		sessions = append(sessions, line.Session)
	}
	short := shortIDs(sessions)
	for _, line := range list.Grants {
		where, until, used, last, what := short[line.Session], "no end", "-", "-", line.Path
		if line.Session == "" {
			where = "all sessions"
		}
		if line.Until != nil {
			until = showWhen(*line.Until, now)
		}
		if line.Used != nil {
			used = strconv.Itoa(*line.Used)
		}
		if line.Last != nil {
			last = showWhen(*line.Last, now)
		}
		for _, k := range grantable {
			if k.name == line.Kind {
				what = k.means
			}
		}
		g.add(plainCell(strconv.FormatInt(line.Number, 10)), plainCell(line.Kind), plainCell(where), plainCell(giverOf(line.Grant)),
			plainCell(showWhen(line.At, now)), plainCell(until), plainCell(used), plainCell(last), plainCell(what))
	}
	s := screenOf(out)
	if g.fits(s) {
		return g.write(out, s)
	}
	var b strings.Builder
	for _, line := range list.Grants { // a line or two of words for each
		number := strconv.FormatInt(line.Number, 10)
		hang(&b, number+"  ", grantLine(line, now), strings.Repeat(" ", len(number)+gridGap), s.width)
	}
	_, err = io.WriteString(out, b.String())
	return err
}

// grantLine is a grant in words: what is granted, by whom, and how it was used.
func grantLine(line wire.GrantLine, now time.Time) string {
	text := grantInWords(line.Grant) + ", by " + oneLine(giverOf(line.Grant), maxTarget) + " " + showWhen(line.At, now)
	switch {
	case line.Used == nil:
	case *line.Used == 0:
		text += "; not used"
	case *line.Used == 1:
		text += "; used once"
	default:
		text += fmt.Sprintf("; used %d times", *line.Used)
	}
	if line.Last != nil {
		text += ", last " + showWhen(*line.Last, now)
	}
	return text
}

// giverOf is who gave a grant.
func giverOf(g wire.Grant) string {
	role, name, _ := strings.Cut(g.By, ":")
	switch {
	case role == "human":
		return name
	case g.Path != "":
		return "an answer"
	case g.By == "host:config":
		return "config.json"
	}
	return g.By
}

// termsIn are the grants that a register holds, none when it is not one of
// grants.
func termsIn(all wire.Registers, name string) (t approval.Terms, err error) {
	if text := latest(all, name); text != nil {
		if err := json.Unmarshal(text, &t, json.RejectUnknownMembers(true)); err != nil {
			return approval.Terms{}, fmt.Errorf("reading %s: %w", name, err)
		}
	}
	return t, nil
}

func newGrantGive() *cobra.Command {
	d, session, lasts := &dialer{}, "", ""
	cmd := &cobra.Command{
		Use:   "give KIND...",
		Short: "Grant kinds of calls",
		Long: `Give grants kinds of calls: write, bash or mcp. In mode auto what the policies
would ask about them is then allowed, until that is revoked or, with --for, for so
long: 90s, 15m, 1h, 7d. Giving it again changes how long it holds.`,
		Example: `  assent grant give bash --session 7GKQ --for 1h
  assent grant give write bash`,
		Args:              atLeastOne("name what to give: write, bash or mcp"),
		ValidArgsFunction: completeKinds,
		RunE: d.asking(func(cmd *cobra.Command, c *client.Client, args []string) error {
			for _, arg := range args {
				if err := grantedByKind(arg); err != nil {
					return err
				}
			}
			term, err := lasting(lasts, time.Now())
			if err != nil {
				return err
			}
			id, err := findSession(cmd.Context(), c, session)
			if err != nil {
				return err
			}
			if err := changeGrants(cmd.Context(), c, id, args, term); err != nil {
				return err
			}
			return showGrants(cmd, d, c, id)
		}),
	}
	d.flags(cmd)
	sessionFlag(cmd, &session, "in this session alone")
	cmd.Flags().StringVar(&lasts, "for", "", "for so `long`: 90s, 15m, 1h, 7d (default: until it is revoked)")
	return cmd
}

// grantedByKind refuses what is no kind of calls that can be granted.
func grantedByKind(arg string) error {
	if termOf(new(approval.Terms), arg) != nil {
		return nil
	}
	return usagef("%q cannot be granted%s: only write, bash and mcp can", oneLine(arg, maxTarget), meant(arg, []string{"write", "bash", "mcp"}))
}

// completeKinds are the kinds that can be granted, for completion.
func completeKinds(_ *cobra.Command, args []string, begun string) (names []string, _ cobra.ShellCompDirective) {
	for _, g := range grantable {
		if strings.HasPrefix(g.name, begun) && !slices.Contains(args, g.name) {
			names = append(names, g.name+"\t"+g.means)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// lasting is how long a grant holds that is given now for so long.
func lasting(text string, now time.Time) (approval.Term, error) {
	if text == "" {
		return approval.Endless, nil
	}
	d, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, e := strconv.ParseUint(days, 10, 16)
		d, err = time.Duration(n)*24*time.Hour, e
	}
	if err != nil || d < time.Second || d > longest {
		return approval.Never, usagef("--for %q: want how long, as in 90s, 15m, 1h or 7d", oneLine(text, maxTarget))
	}
	return approval.Until(now.Add(d + time.Second - 1)), nil // a whole second, and none too early
}

// longest is how long a grant may last that ends at all.
const longest = 10 * 366 * 24 * time.Hour

// changeGrants writes what changes, on the view it was read from: kinds of calls to
// a term, and paths for reading out of their list.
func changeGrants(ctx context.Context, c *client.Client, session string, args []string, term approval.Term) error {
	name := plexus.StandingAutoAllow
	if session != "" {
		name = plexus.AutoAllow
	}
	all, err := c.Registers(ctx, session)
	if err != nil {
		return err
	}
	have, err := termsIn(all, name)
	if err != nil {
		return err
	}
	var paths []string
	if text := latest(all, plexus.ReadAllowlist); text != nil {
		if err := json.Unmarshal(text, &paths); err != nil {
			return fmt.Errorf("reading %s: %w", plexus.ReadAllowlist, err)
		}
	}
	want, left := have, slices.Clone(paths)
	for _, arg := range args {
		if kind := termOf(&want, arg); kind != nil {
			*kind = term
		} else if at := slices.Index(left, arg); at >= 0 {
			left = slices.Delete(left, at, at+1)
		}
	}
	// One write after the other: the second is refused if anybody came between.
	seen := all.Rev
	if want != have {
		wrote, err := c.SetRegister(ctx, session, name, want, seen)
		if err != nil {
			return err
		}
		seen = wrote.Rev
	}
	if len(left) != len(paths) {
		_, err := c.SetRegister(ctx, session, plexus.ReadAllowlist, left, seen)
		return err
	}
	return nil
}
