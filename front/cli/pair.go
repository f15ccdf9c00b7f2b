package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"assent/front/api/client"
	"assent/front/api/wire"
	"assent/internal/place"
)

func newPair() *cobra.Command {
	d, file := &dialer{}, ""
	cmd := &cobra.Command{
		Use:   "pair NAME",
		Short: "Pair a client that has no terminal with the kernel",
		Long: `Pair makes a token for a client of yours that no terminal speaks for: an editor,
a script, a bridge to another device. Whoever presents it is you, unless an
agent started them. It is told once; with --file it is written to a new file that
only you can read, and not shown. A program finds it by the variable
` + tokenVariable + `, which names that file.

Only a person in a terminal of their own pairs and revokes.`,
		Example: `  assent pair editor --file ~/.config/assent/editor.token
  ` + tokenVariable + `=~/.config/assent/editor.token assent queue
  assent pair list
  assent pair revoke editor`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return nil
			}
			return usagef("name the client that is paired, and nothing else")
		},
		RunE: d.asking(func(cmd *cobra.Command, c *client.Client, args []string) error {
			return pair(cmd, d, c, args[0], file)
		}),
	}
	d.flags(cmd)
	cmd.Flags().StringVar(&file, "file", "", "write the token to this new `file` instead of showing it")
	cmd.AddCommand(newPairList(), newPairRevoke())
	return cmd
}

func pair(cmd *cobra.Command, d *dialer, c *client.Client, name, file string) (err error) {
	out := cmd.OutOrStdout()
	var kept *os.File
	if file != "" { // first, so that no token is made that goes nowhere
		if kept, err = os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
			return fmt.Errorf("a file for the token: %w", err)
		}
		defer func() {
			if kept != nil {
				err = errors.Join(err, kept.Close(), os.Remove(file))
			}
		}()
	}
	made, err := c.Pair(cmd.Context(), name)
	if err != nil {
		return err
	}
	if kept != nil {
		_, err = kept.WriteString(made.Secret + "\n")
		if err = errors.Join(err, kept.Sync()); err == nil {
			err = kept.Close()
			kept = nil
		}
		if err != nil {
			_, undo := c.Revoke(cmd.Context(), name)
			return errors.Join(err, undo)
		}
		made.Secret = ""
	}
	switch {
	case d.json:
		return writeJSON(out, made)
	case made.Secret == "":
		if abs, err := filepath.Abs(file); err == nil {
			file = abs
		}
		_, err = fmt.Fprintf(out, "Paired %s. Its token is in %s: %s names that file.\n", name, tilde(file), tokenVariable)
	default:
		_, err = fmt.Fprintf(out, "%s\n", made.Secret)
		if err == nil {
			_, err = fmt.Fprintf(cmd.ErrOrStderr(), "This is the token of %s, and is not shown again. Keep it in a file that only you can read; %s names it.\n", name, tokenVariable)
		}
	}
	return err
}

func newPairList() *cobra.Command {
	d := &dialer{}
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the paired clients",
		Long:  `List says which clients are paired, who paired them and when. Tokens are not shown.`,
		Args:  noArguments,
		RunE: d.asking(func(cmd *cobra.Command, c *client.Client, _ []string) error {
			list, err := c.Tokens(cmd.Context())
			if err != nil {
				return err
			}
			if d.json {
				return writeJSON(cmd.OutOrStdout(), list)
			}
			return writeTokens(cmd, list)
		}),
	}
	d.flags(cmd)
	return cmd
}

func writeTokens(cmd *cobra.Command, list wire.Tokens) error {
	if len(list.Tokens) == 0 {
		_, err := fmt.Fprintln(cmd.OutOrStdout(), "nothing is paired")
		return err
	}
	g, now := grid{head: []string{"CLIENT", "SINCE", "BY"}}, time.Now()
	for _, t := range list.Tokens {
		g.add(plainCell(t.Name), plainCell(showWhen(t.At, now)), plainCell(t.By))
	}
	return g.write(cmd.OutOrStdout(), screenOf(cmd.OutOrStdout()))
}

func newPairRevoke() *cobra.Command {
	d := &dialer{}
	cmd := &cobra.Command{
		Use:   "revoke NAME",
		Short: "Take a token back",
		Long:  `Revoke takes a token back. The next request that presents it is refused.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				return nil
			}
			return usagef("name the client whose token is taken back; \"assent pair list\" lists them")
		},
		RunE: d.asking(func(cmd *cobra.Command, c *client.Client, args []string) error {
			list, err := c.Tokens(cmd.Context())
			if err != nil {
				return err
			}
			var names []string
			for _, t := range list.Tokens {
				names = append(names, t.Name)
			}
			name, err := find("paired client", args[0], names)
			if err != nil {
				return err
			}
			if _, err := c.Revoke(cmd.Context(), name); err != nil {
				return err
			}
			if list, err = c.Tokens(cmd.Context()); err != nil {
				return err
			}
			if d.json {
				return writeJSON(cmd.OutOrStdout(), list)
			}
			return writeTokens(cmd, list)
		}),
	}
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, begun string) (names []string, _ cobra.ShellCompDirective) {
		c, ctx, end, ok := dialForCompletion(cmd)
		if !ok || len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer end()
		list, err := c.Tokens(ctx)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		for _, t := range list.Tokens {
			if strings.HasPrefix(t.Name, begun) {
				names = append(names, t.Name)
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
	d.flags(cmd)
	return cmd
}

// tokenVariable names the file of a paired token.
const tokenVariable = "ASSENT_TOKEN_FILE"

// maxToken is more than any token has.
const maxToken = 4096

// token is the paired token that the environment leads to, "" for none. A file
// that others can read is refused: it says nothing about who asks.
func token() (string, error) {
	path := os.Getenv(tokenVariable)
	if path == "" {
		return "", nil
	}
	text, info, err := place.Read(path, maxToken, "token")
	if err != nil {
		return "", fmt.Errorf("%s: %w", tokenVariable, err)
	}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok && int(sys.Uid) != os.Getuid() {
		return "", fmt.Errorf("%s: %s is another user's", tokenVariable, path)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("%s: others can use %s; make it yours alone with: chmod 600 %s", tokenVariable, path, path)
	}
	word := strings.TrimSpace(string(text))
	if word == "" || strings.ContainsFunc(word, func(r rune) bool { return r <= ' ' || r > '~' || r == ',' }) {
		return "", fmt.Errorf("%s: %s holds no token", tokenVariable, path)
	}
	return word, nil
}
