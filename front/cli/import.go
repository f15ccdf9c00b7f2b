package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"assent/front/connect"
	"assent/front/imports"
	"assent/senses"
)

func newImport() *cobra.Command {
	var project, asJSON bool
	var output string
	cmd := &cobra.Command{
		Use:   "import CLIENT",
		Short: "Make a policy of the permission rules that your agent has",
		Long: `Import reads the permission rules of claude, codex, gemini or opencode and
writes a policy that says the same, as far as it can. The policy goes to standard
output, or with --output to a file that is not there yet; nothing is in force
before you put it where a policy belongs ("assent policy --help").

What the policy allows is never more than what the client allowed for the same
call. What cannot be said as narrowly is left out or asked about. All of that,
rules that the client never comes to, and what the shipped floor does not let
through all the same, is listed: as comments in the policy and on standard
error, or as data with --json. A client's deny becomes a block.

The files: settings.json of claude and gemini and policies/*.toml, config.toml
and rules/*.rules of codex, opencode.json and opencode.jsonc, in the folders that
"assent connect --help" names. With --project those of the project that you are
in, .claude/settings.local.json too.`,
		Example: `  assent import claude
  assent import claude --project --output policy.yaml && assent policy check policy.yaml`,
		Args:              exactlyOne("a client: " + strings.Join(clientNames(), ", ")),
		ValidArgsFunction: completeClients,
		RunE: func(cmd *cobra.Command, args []string) error {
			return importClient(cmd, args[0], project, output, asJSON)
		},
	}
	cmd.Flags().BoolVar(&project, "project", false, "the rules of the project you are in, and not those of all your projects")
	cmd.Flags().StringVarP(&output, "output", "o", "", "write the policy to this `FILE`, which must not be there yet")
	cmd.Flags().BoolVar(&asJSON, "json", false, "answer as data: files, rules, notes and the policy")
	return cmd
}

func importClient(cmd *cobra.Command, client string, project bool, output string, asJSON bool) error {
	c, ok := connect.Find(client)
	if !ok {
		return usagef("%s is no client that is known; there are %s", oneLine(client, maxTarget), strings.Join(clientNames(), ", "))
	}
	folder, root, err := importFolder(c, project)
	if err != nil {
		return err
	}
	files, err := imports.Find(c.Name, folder, root, project)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return usagef("%s has no rules here: there is none of %s in %s", c.Title, strings.Join(imports.Looked(c.Name), ", "), oneLine(folder, 4*maxTarget))
	}
	got, err := imports.Read(c.Name, c.Title, files)
	if err != nil {
		return err
	}
	if output != "" {
		if err := imports.Write(output, got.Policy); err != nil {
			return err
		}
	}
	if asJSON {
		text, err := json.Marshal(got)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(cmd.OutOrStdout(), string(text))
		return err
	}
	var b strings.Builder
	for _, n := range got.Notes {
		fmt.Fprintf(&b, "%s: %s\n  %s\n", n.Kind, draw(n.Rule).Text, draw(n.Why).Text)
	}
	if output != "" {
		fmt.Fprintf(&b, "%s is new: %s of %s; %s did not come over as they were\n", oneLine(output, 4*maxTarget), count(len(got.Rules), "rule"), c.Title, count(len(got.Notes), "rule"))
	} else if _, err := fmt.Fprint(cmd.OutOrStdout(), got.Policy); err != nil {
		return err
	}
	fmt.Fprint(cmd.ErrOrStderr(), b.String())
	return nil
}

// importFolder is where the files of a client are, and where the project is.
func importFolder(c connect.Client, project bool) (folder, root string, err error) {
	if project {
		here, err := os.Getwd()
		if err != nil {
			return "", "", err
		}
		root = senses.Workspace(here)
	}
	file, err := configurationOf(c, project)
	if err != nil {
		return "", "", err
	}
	folder = filepath.Dir(file)
	if c.Name == "opencode" { // its plugins have a folder of their own
		folder = filepath.Dir(folder)
	}
	return folder, root, nil
}
