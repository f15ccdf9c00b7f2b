package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"assent/front/api/client"
	"assent/front/api/wire"
	"assent/plexus"
)

// modes are the permission modes with what they do with what the policies
// leave open (law §1); always-approve is another name of the last.
var modes = []struct{ name, does string }{
	{"manual", "a person answers"},
	{"auto", "grants answer, then the classifier, then a person"},
	{"yolo", "nobody is asked: what no policy blocks is allowed"},
}

// modeNamed is a mode by its name or its alias. A name that is none is a slip
// here; in the document it would mean manual.
func modeNamed(name string) (string, error) {
	if name == "always-approve" {
		return "yolo", nil
	}
	var names []string
	for _, m := range modes {
		if m.name == name {
			return name, nil
		}
		names = append(names, m.name)
	}
	hint := meant(name, names)
	if name == "plan" || name == "act" {
		hint = " (that is a mode of an agent's own)"
	}
	return "", usagef("%q is no permission mode%s: they are %s", oneLine(name, maxTarget), hint, strings.Join(names, ", "))
}

// modeOrNone is a mode by its name, or none where there is no name.
func modeOrNone(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	return modeNamed(name)
}

// modeFlag is the flag --mode of what makes a session.
func modeFlag(cmd *cobra.Command, mode *string, usage string) {
	cmd.Flags().StringVar(mode, "mode", "", usage+": manual, auto or yolo (default: that of new sessions)")
	if err := cmd.RegisterFlagCompletionFunc("mode", completeModes); err != nil {
		panic(err) // the flag is there
	}
}

// completeModes are the modes, for completion.
func completeModes(_ *cobra.Command, args []string, begun string) (names []string, _ cobra.ShellCompDirective) {
	for _, m := range modes {
		if len(args) == 0 && strings.HasPrefix(m.name, begun) {
			names = append(names, m.name+"\t"+m.does)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func newMode() *cobra.Command {
	d, session, also := &dialer{}, "", false
	cmd := &cobra.Command{
		Use:   "mode [MODE]",
		Short: "Show or set who answers what the policies leave open",
		Long: `The permission mode says who answers what the policies leave open: in manual a
person, in auto grants, the classifier and then a person, in yolo nobody: it is
allowed. What a policy blocks is blocked in every mode; a call
that waits was judged when it came, and a rule that was written since does not reach it.

With --session the mode of that session is set, and of those below it that have no
mode of their own, and every call that waits there is answered anew; with --default besides, new sessions start in it too. Without
--session only the mode is set that new sessions start in, and those that are
there keep theirs. Without a mode it says which one holds. always-approve is
another name for yolo. (Without a connection for the classifier, judgeConnection
in config.json, a person is asked where it would answer.)`,
		Example: `  assent mode
  assent mode auto --session 7GKQ
  assent mode manual`,
		Args:              atMostOne("name one mode"),
		ValidArgsFunction: completeModes,
		RunE: d.asking(func(cmd *cobra.Command, c *client.Client, args []string) (err error) {
			if also && len(args) == 0 {
				return usagef("--default goes with a mode")
			}
			mode := ""
			if len(args) > 0 {
				if mode, err = modeNamed(args[0]); err != nil {
					return err
				}
			}
			if session, err = findSession(cmd.Context(), c, session); err != nil {
				return err
			}
			switch {
			case mode == "":
				return showMode(cmd, d, c, session)
			case session == "":
				return defaultMode(cmd, d, c, mode)
			}
			view, err := c.Assign(cmd.Context(), session, wire.Assign{Mode: mode, Remember: also})
			if err != nil {
				return err
			}
			if d.json {
				return writeJSON(cmd.OutOrStdout(), view)
			}
			text := fmt.Sprintf("session %s is in mode %s", oneLine(session, maxTarget), view.CurrentPolicy)
			if also {
				text += ", and new sessions start in it"
			}
			switch {
			case view.Followed == 1:
				text += "\nand so is the session below it"
			case view.Followed > 1:
				text += fmt.Sprintf("\nand so are %d sessions below it", view.Followed)
			}
			for _, own := range view.Own {
				text += fmt.Sprintf("\nnot %s, which has a mode of its own, or is another agent's: assent mode %s --session %s", oneLine(own, maxTarget), view.CurrentPolicy, oneLine(own, maxTarget))
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), text)
			return err
		}),
	}
	d.flags(cmd)
	sessionFlag(cmd, &session, "of this session")
	cmd.Flags().BoolVar(&also, "default", false, "with --session: new sessions start in it too")
	return cmd
}

func atMostOne(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 1 {
			return usagef("%s; %q is one too many", what, oneLine(args[1], maxTarget))
		}
		return nil
	}
}

// modeShown is what mode tells as JSON.
type modeShown struct {
	Session       string `json:"session,omitempty"`
	CurrentPolicy string `json:"currentPolicy,omitempty"`
	DefaultPolicy string `json:"defaultPolicy,omitempty"`
}

func showMode(cmd *cobra.Command, d *dialer, c *client.Client, session string) error {
	if session != "" {
		doc, err := c.SessionPage(cmd.Context(), session, 0, 1)
		if err != nil {
			return err
		}
		if d.json {
			return writeJSON(cmd.OutOrStdout(), modeShown{Session: session, CurrentPolicy: doc.View.CurrentPolicy})
		}
		return told(cmd, "", doc.View.CurrentPolicy)
	}
	status, err := c.Status(cmd.Context())
	if err != nil {
		return err
	}
	if status.Kernel == nil {
		return &wire.Problem{Code: wire.Role, Detail: "this is a person's to ask, and this connection is an agent's"}
	}
	mode := status.Kernel.DefaultPolicy
	if d.json {
		return writeJSON(cmd.OutOrStdout(), modeShown{DefaultPolicy: mode})
	}
	if mode == "" {
		return errors.New("the mode of new sessions cannot be read; see: assent status")
	}
	return told(cmd, "new sessions start in mode ", mode)
}

func told(cmd *cobra.Command, before, mode string) error {
	for _, m := range modes {
		if m.name == mode {
			mode += ": " + m.does
		}
	}
	_, err := fmt.Fprintln(cmd.OutOrStdout(), before+mode)
	return err
}

func defaultMode(cmd *cobra.Command, d *dialer, c *client.Client, mode string) error {
	wrote, err := c.SetRegister(cmd.Context(), "", plexus.DefaultPolicy, mode, 0)
	if err != nil {
		return err
	}
	if d.json {
		return writeJSON(cmd.OutOrStdout(), wrote)
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "new sessions start in mode %s\n", mode)
	return err
}

// latest is the value of a register that holds, nil for none.
func latest(all wire.Registers, name string) []byte {
	for _, r := range slices.Backward(all.Registers) {
		if r.Name == name {
			return r.Value
		}
	}
	return nil
}
