package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"assent/front/connect"
	"assent/front/doctor"
	"assent/senses"
)

func newDoctor() *cobra.Command {
	var asJSON, still bool
	cmd := &cobra.Command{
		Use:   "doctor [CLIENT]",
		Short: "See whether your agent is really held back",
		Long: `Doctor looks at the configuration of claude, codex, gemini or opencode, or of all
of them: whether the hook is there, at the right event, with the right limit of
time and the strictest setting for its failure; whether its program is there and
of this build; and whether the client's own switches leave hooks out.

Then it drives the hook as the client would, and says for each case what the
client would do: a call that must be refused, one that must go through, nobody
who answers, a hook that crashes or is killed, no kernel, a message that cannot
be read. No such call is ever run. The cases have a kernel of their own in a
scratch folder, which the hook starts and which is gone afterwards: nothing waits
in your queue, and your own policy is not asked.

"ok" is as it should be, "limit" is one of the client that no configuration
lifts, "unknown" could not be found out, and "HOLE" lets calls run that assent
did not see or refused: what to do stands below it. The exit code is 0 where
there is no hole, 1 where there is one or nothing is connected, 2 for a wrong
question. "claude --version" and the like are run to tell versions.`,
		Example: `  assent doctor
  assent doctor codex --json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("name one client, or none for all")
			}
			return nil
		},
		ValidArgsFunction: completeClients,
		RunE: func(cmd *cobra.Command, args []string) error {
			return examine(cmd, args, asJSON, still)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "answer as data")
	cmd.Flags().BoolVar(&still, "still", false, "look at configurations alone, and drive no hook")
	return cmd
}

func examine(cmd *cobra.Command, names []string, asJSON, still bool) error {
	clients := connect.Clients
	if len(names) > 0 {
		c, ok := connect.Find(names[0])
		if !ok {
			return usagef("%s is no client that is known; there are %s", oneLine(names[0], maxTarget), strings.Join(clientNames(), ", "))
		}
		clients = []connect.Client{c}
	}
	o, err := doctorOptions(still)
	if err != nil {
		return err
	}
	reports := []*doctor.Report{}
	code, connected := exitAllow, false
	for _, c := range clients {
		r, err := doctor.Examine(cmd.Context(), c, o)
		if err != nil {
			return err
		}
		reports = append(reports, r)
		// Who names no client asks about those that are connected.
		if r.Holes() > 0 && (r.Connected || len(names) > 0) {
			code = exitFailed
		}
		connected = connected || r.Connected
	}
	if !connected {
		code = exitFailed
	}
	text := ""
	if asJSON {
		out, err := json.Marshal(struct {
			Clients []*doctor.Report `json:"clients"`
		}{reports})
		if err != nil {
			return err
		}
		text = string(out) + "\n"
	} else {
		text = tellReports(reports, len(names) > 0)
	}
	if _, err := fmt.Fprint(cmd.OutOrStdout(), text); err != nil {
		return err
	}
	return ended(code)
}

func doctorOptions(still bool) (doctor.Options, error) {
	at, err := findKernel()
	if err != nil {
		return doctor.Options{}, err
	}
	self, err := os.Executable()
	if err != nil {
		return doctor.Options{}, err
	}
	workspace := ""
	if here, err := os.Getwd(); err == nil {
		workspace = senses.Workspace(here)
	}
	return doctor.Options{
		Getenv: os.Getenv, Environ: os.Environ(), UID: os.Getuid(), Workspace: workspace, Self: self,
		LookPath: func(name string) string {
			path, err := exec.LookPath(name)
			if err != nil || !filepath.IsAbs(path) { // one of the folder one is in is nobody's client
				return ""
			}
			return path
		},
		System: "/", Shared: at.Shared, Still: still,
	}, nil
}

func tellReports(reports []*doctor.Report, named bool) string {
	var b strings.Builder
	for i, r := range reports {
		if i > 0 {
			b.WriteByte('\n')
		}
		title := r.Title
		switch {
		case r.Version != "":
			title += " " + r.Version
		case r.Program == "":
			title += " (not on your path)"
		}
		if !r.Connected && !named && len(r.Checks) == 1 {
			fmt.Fprintf(&b, "%s: not connected\n", oneLine(title, maxTarget))
			continue
		}
		fmt.Fprintf(&b, "%s\n", oneLine(title, maxTarget))
		width := 0
		for _, c := range r.Checks {
			width = max(width, len(c.Name))
		}
		for _, c := range r.Checks {
			result := c.Result.String()
			if c.Result == doctor.Hole {
				result = "HOLE"
			}
			fmt.Fprintf(&b, "  %-7s  %-*s  %s\n", result, width, c.Name, oneLine(c.What, 8*maxTarget))
			if c.Do != "" && c.Result != doctor.Fine {
				fmt.Fprintf(&b, "  %-7s  %-*s  to do: %s\n", "", width, "", oneLine(c.Do, 8*maxTarget))
			}
		}
		if r.Scratch != "" {
			fmt.Fprintf(&b, "  The hook was asked with a kernel of its own in %s, which is gone: your queue has nothing of it.\n", oneLine(r.Scratch, 4*maxTarget))
		}
	}
	return b.String()
}
