package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"assent/front/api/client"
	"assent/front/api/wire"
)

func newTools() *cobra.Command {
	d, known := &dialer{}, false
	cmd := &cobra.Command{
		Use:   "tools",
		Short: "List the servers of MCP tools, and the tools of each",
		Long: `Tools asks every server of MCP tools that is set up ("mcpServers" in
config.json) which tools it has, and starts it for that. A tool is a look-up, or
not, by its name alone; in mode auto the grant mcp counts for look-ups. What a
server says of its tools (its hints and descriptions) nobody has verified, and
nothing is decided by it.`,
		Example: `  assent tools
  assent tools --known --json`,
		Args: noArguments,
		RunE: d.asking(func(cmd *cobra.Command, c *client.Client, _ []string) error {
			all, err := c.Tools(cmd.Context(), !known)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			switch {
			case d.json:
				return writeJSON(out, all)
			case len(all.Servers) == 0:
				_, err := fmt.Fprintln(out, "no servers of MCP tools are set up")
				return err
			}
			for _, at := range all.Servers {
				state := wire.Server{Name: at.Name, Over: at.Over, State: at.State, Why: at.Why, Tools: len(at.Tools)}
				if _, err := fmt.Fprint(out, paragraph(serverLine(state))); err != nil {
					return err
				}
			}
			g := grid{head: []string{"TOOL", "CLUSTER", "LOOK-UP", "ITS SERVER SAYS (UNVERIFIED)"}}
			var left strings.Builder
			for _, at := range all.Servers {
				for _, t := range at.Tools {
					look := plainCell("no")
					if t.LookUp {
						look = plainCell("yes")
					}
					g.add(plainCell(t.Name), plainCell(t.Cluster), look, plainCell(hintsText(t)))
				}
				for _, why := range at.LeftOut {
					left.WriteString(paragraph(fmt.Sprintf("left out of %s: %s", oneLine(at.Name, maxTarget), oneLine(why, 4*maxTarget))))
				}
			}
			if len(g.rows) > 0 {
				if _, err := fmt.Fprintln(out); err != nil {
					return err
				}
				if err := g.write(out, screenOf(out)); err != nil {
					return err
				}
			}
			_, err = fmt.Fprint(out, left.String())
			return err
		}),
	}
	d.flags(cmd)
	cmd.Flags().BoolVar(&known, "known", false, "tell what is known, and ask and start no server")
	return cmd
}

// serverLine is how a server is, in a line.
func serverLine(s wire.Server) string {
	line := fmt.Sprintf("%s (%s): ", oneLine(s.Name, maxTarget), oneLine(s.Over, maxTarget))
	switch s.State {
	case "ready":
		return line + "ready, " + count(s.Tools, "tool")
	case "unasked":
		return line + "not asked yet"
	}
	return line + "failed: " + oneLine(s.Why, maxLogged)
}

// hintsText is what a server says of a tool.
func hintsText(t wire.ServerTool) string {
	var said []string
	for _, hint := range t.Hints {
		switch hint {
		case "readOnly":
			hint = "read-only"
		}
		said = append(said, hint)
	}
	if t.Description != "" {
		said = append(said, t.Description)
	}
	if len(said) == 0 {
		return "-"
	}
	return strings.Join(said, "; ")
}
