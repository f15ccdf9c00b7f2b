package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"assent/front/api/client"
	"assent/front/api/wire"
	"assent/plexus"
)

// grantable are the clusters that may be granted (law §3), with what that lets
// happen in mode auto.
var grantable = []struct{ name, means string }{
	{"write", "changing files"},
	{"bash", "shell commands, but none that fetch what they run"},
	{"mcp", "tools of servers that only look something up"},
}

// flagOf is the flag of a cluster in grants.
func flagOf(g *wire.Grants, cluster string) *bool {
	switch cluster {
	case "write":
		return &g.Write
	case "bash":
		return &g.Bash
	case "mcp":
		return &g.MCP
	}
	return nil
}

func newGrant() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "grant",
		Short: "List, give and revoke grants",
		Long: `A grant answers, in mode auto, what the policies would ask about a kind of
call: write, bash or mcp. It lifts no denial and no block, and counts in one
session or, without --session, in all of them.`,
		Example: `  assent grant list
  assent grant give bash --session 7GKQ
  assent grant revoke bash write`,
		Args: subcommandOnly,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newGrantList(), newGrantChange("give", true), newGrantChange("revoke", false))
	return cmd
}

// grantsShown is what grant tells as JSON.
type grantsShown struct {
	Session           string       `json:"session,omitempty"`
	StandingAutoAllow wire.Grants  `json:"standingAutoAllow"`
	AutoAllow         *wire.Grants `json:"autoAllow,omitempty"`
	ReadAllowlist     []string     `json:"readAllowlist,omitempty"`
}

func newGrantList() *cobra.Command {
	d, session := &dialer{}, ""
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List what is granted",
		Long: `List says what is granted in all sessions and, with --session, in that one,
together with what may be read there outside the workspace because a person
allowed it.`,
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
	sessionFlag(cmd, &session, "in this session too")
	return cmd
}

// showGrants says what is granted now.
func showGrants(cmd *cobra.Command, d *dialer, c *client.Client, session string) error {
	shown, err := grants(cmd, c, session)
	if err != nil {
		return err
	}
	if d.json {
		return writeJSON(cmd.OutOrStdout(), shown)
	}
	return shown.write(cmd)
}

// grants are those that hold.
func grants(cmd *cobra.Command, c *client.Client, session string) (shown grantsShown, err error) {
	if session == "" {
		all, err := c.Registers(cmd.Context(), "")
		if err != nil {
			return shown, err
		}
		shown.StandingAutoAllow, _ = grantsIn(all, plexus.StandingAutoAllow)
		return shown, nil
	}
	doc, err := c.Session(cmd.Context(), session)
	if err != nil {
		return shown, err
	}
	return grantsShown{session, doc.View.StandingAutoAllow, &doc.View.AutoAllow, doc.View.ReadAllowlist}, nil
}

// grantsIn are the grants that a register holds, none when it is not one of
// grants.
func grantsIn(all wire.Registers, name string) (g wire.Grants, err error) {
	if text := latest(all, name); text != nil {
		if err := json.Unmarshal(text, &g, json.RejectUnknownMembers(true)); err != nil {
			return wire.Grants{}, fmt.Errorf("reading %s: %w", name, err)
		}
	}
	return g, nil
}

func (s grantsShown) write(cmd *cobra.Command) error {
	g := grid{head: []string{"GRANT", "WHERE", "WHAT"}}
	add := func(grants *wire.Grants, where string) {
		for _, c := range grantable {
			if *flagOf(grants, c.name) {
				g.add(plainCell(c.name), plainCell(where), plainCell(c.means))
			}
		}
	}
	add(&s.StandingAutoAllow, "all sessions")
	if s.AutoAllow != nil {
		add(s.AutoAllow, "this session")
	}
	for _, path := range s.ReadAllowlist {
		g.add(plainCell("read"), plainCell("this session"), plainCell(path))
	}
	if len(g.rows) == 0 {
		_, err := fmt.Fprintln(cmd.OutOrStdout(), "nothing is granted")
		return err
	}
	return g.write(cmd.OutOrStdout(), screenOf(cmd.OutOrStdout()))
}

func newGrantChange(verb string, to bool) *cobra.Command {
	d, session := &dialer{}, ""
	long := `Give grants kinds of calls: write, bash or mcp. In mode auto what the policies
would ask about them is then allowed.`
	short := "Grant kinds of calls"
	if !to {
		short = "Take grants back"
		long = `Revoke takes grants back: of kinds of calls, or with --session a path that may be read
outside the workspace. Calls that were allowed by them are not undone.`
	}
	cmd := &cobra.Command{
		Use:   verb + " KIND...",
		Short: short,
		Long:  long,
		Args:  atLeastOne("name what to " + verb + ": write, bash or mcp"),
		ValidArgsFunction: func(_ *cobra.Command, args []string, begun string) (names []string, _ cobra.ShellCompDirective) {
			for _, g := range grantable {
				if strings.HasPrefix(g.name, begun) && !slices.Contains(args, g.name) {
					names = append(names, g.name+"\t"+g.means)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: d.asking(func(cmd *cobra.Command, c *client.Client, args []string) error {
			for _, arg := range args {
				if path := strings.HasPrefix(arg, "/") && !to && session != ""; !path && flagOf(new(wire.Grants), arg) == nil {
					return usagef("%q cannot be granted%s: only write, bash and mcp can", oneLine(arg, maxTarget), meant(arg, []string{"write", "bash", "mcp"}))
				}
			}
			id, err := findSession(cmd.Context(), c, session)
			if err != nil {
				return err
			}
			if err := changeGrants(cmd, c, id, args, to); err != nil {
				return err
			}
			return showGrants(cmd, d, c, id)
		}),
	}
	d.flags(cmd)
	sessionFlag(cmd, &session, "in this session alone")
	return cmd
}

// changeGrants writes what changes, on the view it was read from.
func changeGrants(cmd *cobra.Command, c *client.Client, session string, args []string, to bool) error {
	ctx, name := cmd.Context(), plexus.StandingAutoAllow
	if session != "" {
		name = plexus.AutoAllow
	}
	all, err := c.Registers(ctx, session)
	if err != nil {
		return err
	}
	have, err := grantsIn(all, name)
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
		flag := flagOf(&want, arg)
		at := slices.Index(left, arg)
		switch {
		case flag != nil:
			*flag = to
		case at >= 0:
			left = slices.Delete(left, at, at+1)
		default:
			return usagef("%s may not be read here anyway; \"assent grant list --session %s\" says what may", oneLine(arg, 4*maxTarget), oneLine(session, maxTarget))
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
