package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"assent/approval"
	"assent/front/api/client"
	"assent/front/api/wire"
	"assent/front/card"
)

// revoking is what a person takes back.
type revoking struct {
	session string   // "" for what counts in all of them
	names   []string // kinds, and paths for reading; none for all there are
	all     bool     // wherever it is granted
}

func newGrantRevoke() *cobra.Command {
	d, session, all := &dialer{}, "", false
	cmd := &cobra.Command{
		Use:   "revoke KIND...",
		Short: "Take grants back",
		Long: `Revoke takes grants back: those that count in all sessions, with --session those
of one, where a path that may be read outside the workspace is one of them, and
with --all those of that kind wherever they are given. --all without a kind takes
all of them back. Calls that were allowed by them are not undone.

It says what it took back, and what is granted still where it did not look. The
exit code is 0 when something was taken back, and 1 when nothing was.`,
		Example: `  assent grant revoke bash
  assent grant revoke bash write --session 7GKQ
  assent grant revoke bash --all
  assent grant revoke --all`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 && !all {
				return usagef("name what to revoke: write, bash or mcp, or --all")
			}
			return nil
		},
		ValidArgsFunction: completeKinds,
		RunE: d.asking(func(cmd *cobra.Command, c *client.Client, args []string) error {
			for _, arg := range args {
				if path := strings.HasPrefix(arg, "/") && (session != "" || all); path {
					continue
				}
				if err := grantedByKind(arg); err != nil {
					return err
				}
			}
			id, err := findSession(cmd.Context(), c, session)
			if err != nil {
				return err
			}
			return revokeGrants(cmd, d, c, revoking{id, args, all})
		}),
	}
	d.flags(cmd)
	sessionFlag(cmd, &session, "in this session alone")
	cmd.Flags().BoolVar(&all, "all", false, "wherever it is granted; without a kind, all that is")
	return cmd
}

// named reports whether a grant is one of those that were named, wherever it counts.
func (r revoking) named(g wire.Grant) bool {
	return len(r.names) == 0 || slices.Contains(r.names, nameOfGrant(g))
}

// meant reports whether a grant is to be taken back.
func (r revoking) meant(g wire.Grant) bool {
	return r.named(g) && (g.Session == r.session || r.all && r.session == "")
}

// remains reports whether a grant lets calls through where whoever revoked may
// believe that none does.
func (r revoking) remains(g wire.Grant) bool {
	return r.named(g) && (r.session == "" || g.Session == "" || g.Session == r.session)
}

// nameOfGrant is how a grant is named to take it back.
func nameOfGrant(g wire.Grant) string {
	if g.Path != "" {
		return g.Path
	}
	return g.Kind
}

func revokeGrants(cmd *cobra.Command, d *dialer, c *client.Client, r revoking) error {
	ctx := cmd.Context()
	before, err := c.Grants(ctx, "")
	if err != nil {
		return err
	}
	var taken []wire.Grant
	names := make(map[string][]string) // by session
	var sessions []string
	for _, line := range before.Grants {
		if g := line.Grant; r.meant(g) {
			if names[g.Session] == nil {
				sessions = append(sessions, g.Session)
			}
			taken = append(taken, g)
			names[g.Session] = append(names[g.Session], nameOfGrant(g))
		}
	}
	for _, session := range sessions {
		if err := changeGrants(ctx, c, session, names[session], approval.Never); err != nil {
			return err
		}
	}
	if len(taken) > 0 && d.json {
		after, err := c.Grants(ctx, r.session)
		if err != nil {
			return err
		}
		return writeJSON(cmd.OutOrStdout(), after)
	}
	after, err := c.Grants(ctx, "")
	if err != nil {
		return err
	}
	still := strings.Join(r.still(after.Grants), "\n")
	if len(taken) == 0 {
		text := "nothing was taken back: " + r.none()
		if still != "" {
			text += "\n" + still
		}
		return errors.New(text)
	}
	out := cmd.OutOrStdout()
	for _, g := range taken {
		fmt.Fprintf(out, "taken back: %s\n", grantByNumber(g))
	}
	for _, name := range r.names {
		if !slices.ContainsFunc(taken, func(g wire.Grant) bool { return nameOfGrant(g) == name }) {
			fmt.Fprintf(out, "%s was not granted %s\n", oneLine(name, 4*maxTarget), r.where())
		}
	}
	_, err = io.WriteString(out, paragraph(still))
	return err
}

// where is where a person looked.
func (r revoking) where() string {
	switch {
	case r.session != "":
		return "in session " + oneLine(r.session, maxTarget)
	case r.all:
		return "in any session, or in all"
	}
	return "in all sessions"
}

// none says that nothing of what was named is granted there.
func (r revoking) none() string {
	if len(r.names) == 0 {
		if r.session != "" {
			return "nothing is granted " + r.where() + " alone"
		}
		return "nothing is granted"
	}
	var kinds, parts []string
	for _, name := range r.names {
		if strings.HasPrefix(name, "/") {
			parts = append(parts, oneLine(name, 4*maxTarget)+" may not be read "+r.where()+" anyway")
		} else {
			kinds = append(kinds, name)
		}
	}
	verb := " is not granted "
	if len(kinds) > 1 {
		verb = " are not granted "
	}
	if len(kinds) > 0 {
		parts = append([]string{strings.Join(kinds, ", ") + verb + r.where()}, parts...)
	}
	return strings.Join(parts, "; ")
}

// mostStill is how many grants are told besides those that were meant.
const mostStill = 5

// still says which grants remain, and how each is taken back.
func (r revoking) still(lines []wire.GrantLine) (told []string) {
	n := 0
	for _, line := range lines {
		if g := line.Grant; r.remains(g) {
			if n++; n <= mostStill {
				told = append(told, "still granted: "+grantByNumber(g)+"; take it back with: "+card.Revoke(g.Kind, g.Path, g.Session))
			}
		}
	}
	if n > mostStill {
		told = append(told, fmt.Sprintf("and %d more; see: assent grant list", n-mostStill))
	}
	if n > 1 {
		told = append(told, "all of it: assent grant revoke "+strings.Join(append(slices.Clone(r.names), "--all"), " "))
	}
	return told
}

// grantInWords says what is granted, where, and until when.
func grantInWords(g wire.Grant) string {
	text := g.Kind
	if g.Path != "" {
		text = "reading " + oneLine(g.Path, 4*maxTarget)
	}
	if g.Session == "" {
		text += " in all sessions"
	} else {
		text += " in session " + oneLine(g.Session, maxTarget)
	}
	if g.Until != nil {
		text += " until " + showWhen(*g.Until, time.Now())
	}
	return text
}

// grantByNumber is the same, with the number that lists and the log have.
func grantByNumber(g wire.Grant) string {
	return grantInWords(g) + fmt.Sprintf(" (grant %d)", g.Number)
}
