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

func newMode() *cobra.Command {
	d, session, once := &dialer{}, "", false
	cmd := &cobra.Command{
		Use:   "mode [MODE]",
		Short: "Show or set who answers what the policies leave open",
		Long: `The permission mode says who answers what the policies leave open: in manual a
person, in auto grants, the classifier and then a person, in yolo nobody: it is
allowed. What a policy blocks is blocked in every mode.

With --session the mode of that session is set, every call that waits in it is
answered anew, and new sessions start in it too, unless --once is given.
Without --session only new sessions are concerned. always-approve is another
name for yolo.`,
		Example: `  assent mode
  assent mode auto --session 7GKQ
  assent mode manual`,
		Args: atMostOne("name one mode"),
		ValidArgsFunction: func(_ *cobra.Command, args []string, begun string) (names []string, _ cobra.ShellCompDirective) {
			for _, m := range modes {
				if len(args) == 0 && strings.HasPrefix(m.name, begun) {
					names = append(names, m.name+"\t"+m.does)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: d.asking(func(cmd *cobra.Command, c *client.Client, args []string) (err error) {
			if once && (session == "" || len(args) == 0) {
				return usagef("--once goes with a mode and --session")
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
			view, err := c.Assign(cmd.Context(), session, wire.Assign{Mode: mode, Remember: !once})
			if err != nil {
				return err
			}
			if d.json {
				return writeJSON(cmd.OutOrStdout(), view)
			}
			text := fmt.Sprintf("session %s is in mode %s", oneLine(session, maxTarget), view.CurrentPolicy)
			if !once {
				text += ", and new sessions start in it"
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), text)
			return err
		}),
	}
	d.flags(cmd)
	sessionFlag(cmd, &session, "of this session")
	cmd.Flags().BoolVar(&once, "once", false, "leave the mode that new sessions start in as it is")
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
		doc, err := c.Session(cmd.Context(), session)
		if err != nil {
			return err
		}
		if d.json {
			return writeJSON(cmd.OutOrStdout(), modeShown{Session: session, CurrentPolicy: doc.View.CurrentPolicy})
		}
		return told(cmd, doc.View.CurrentPolicy)
	}
	kernel, err := c.Registers(cmd.Context(), "")
	if err != nil {
		return err
	}
	mode := latestText(kernel, plexus.DefaultPolicy)
	if d.json {
		return writeJSON(cmd.OutOrStdout(), modeShown{DefaultPolicy: mode})
	}
	if mode == "" {
		_, err := fmt.Fprintln(cmd.OutOrStdout(), "new sessions start in the mode that the configuration names, or in manual")
		return err
	}
	return told(cmd, mode)
}

func told(cmd *cobra.Command, mode string) error {
	for _, m := range modes {
		if m.name == mode {
			mode += ": " + m.does
		}
	}
	_, err := fmt.Fprintln(cmd.OutOrStdout(), mode)
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

func latestText(all wire.Registers, name string) (text string) {
	if json.Unmarshal(latest(all, name), &text) != nil {
		return ""
	}
	return text
}
