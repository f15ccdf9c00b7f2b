package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"assent/front/reach"
	"assent/internal/config"
	"assent/model"
	"assent/remainder"
)

func newModel() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "model",
		Short: "List the connections to language models, try one, keep its key",
		Long: `Model is about the connections to language models ("connections" in config.json),
of which the classifier asks one (judgeConnection). A key is never in that file:
it comes from the key ring of the system, when it is needed, or from a variable
that was set where you started the kernel ("assent up", also with --detach). A
kernel that a command or a hook started has no such variables.`,
		Example: `  assent model list
  assent model key claude
  assent model try claude`,
		Args: noArguments,
	}
	cmd.AddCommand(newModelList(), newModelTry(), newModelKey(), newModelForget())
	return cmd
}

// modelShown is a connection as model list tells it.
type modelShown struct {
	Name  string    `json:"name"`
	API   model.API `json:"api"`
	URL   string    `json:"url,omitzero"`
	Model string    `json:"model,omitzero"`
	// Judge says that the classifier asks it.
	Judge bool `json:"judge,omitzero"`
	// Key is what is wrong with its key as seen from here, "" for nothing.
	Key string `json:"keyError,omitzero"`
}

// connectionsHere are the connections of config.json, with keys as they are found
// from here: the kernel has an environment of its own.
func connectionsHere() (config.Config, *model.Connections, error) {
	at, err := reach.Find(homeOfUser)
	if err != nil {
		return config.Config{}, nil, err
	}
	s := config.Read(at.ConfigFile())
	if s.Err != nil {
		return config.Config{}, nil, s.Err
	}
	all := model.New(model.Keys{Env: os.LookupEnv, Ring: model.Ring})
	all.Set(s.Config.Connections)
	return s.Config, all, nil
}

func newModelList() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the connections, and whether each has a key",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, all, err := connectionsHere()
			if err != nil {
				return err
			}
			defer all.Close()
			shown := []modelShown{}
			for _, name := range slices.Sorted(maps.Keys(c.Connections)) {
				one := c.Connections[name]
				m := modelShown{Name: name, API: one.API, URL: one.URL, Model: one.Model, Judge: name == c.JudgeConnection}
				ctx, cancel := context.WithTimeout(cmd.Context(), 5*time.Second)
				// Any model will do: it is the key that is looked for.
				if _, err := all.Connect(ctx, name, "any"); err != nil {
					m.Key = keyTrouble(err)
				}
				cancel()
				shown = append(shown, m)
			}
			out := cmd.OutOrStdout()
			if asJSON {
				return writeJSON(out, shown)
			}
			if len(shown) == 0 {
				_, err := fmt.Fprintln(out, `no connection to a model is set up ("connections" in config.json)`)
				return err
			}
			g := grid{head: []string{"CONNECTION", "API", "MODEL", "KEY", "ADDRESS"}}
			for _, m := range shown {
				name, key := m.Name, "found"
				if m.Judge {
					name += " (classifier)"
				}
				switch one := c.Connections[m.Name]; {
				case m.Key != "":
					key = m.Key
				case one.URL != "" && one.KeyEnv == "" && one.KeyRing == "":
					key = "none is sent"
				}
				g.add(plainCell(name), plainCell(string(m.API)), plainCell(m.Model), plainCell(oneLine(key, 4*maxTarget)), plainCell(oneLine(m.URL, 4*maxTarget)))
			}
			return g.write(out, screenOf(out))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return cmd
}

// keyTrouble is what a failure says of a key.
func keyTrouble(err error) string {
	if f, ok := errors.AsType[*remainder.Failure](err); ok && f.Detail != "" {
		return f.Detail
	}
	return err.Error()
}

// completeConnections are the names of connections, for completion.
func completeConnections(_ *cobra.Command, args []string, begun string) (names []string, _ cobra.ShellCompDirective) {
	c, all, err := connectionsHere()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer all.Close()
	for _, name := range slices.Sorted(maps.Keys(c.Connections)) {
		if strings.HasPrefix(name, begun) {
			names = append(names, name)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func oneConnection(_ *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return usagef("name one connection")
}

func newModelTry() *cobra.Command {
	which := ""
	cmd := &cobra.Command{
		Use:   "try CONNECTION",
		Short: "Ask a connection one short question",
		Long: `Try sends one short question and shows the answer, which model gave it and how
long that took. The key is looked for from here, and so in the variables of
this shell; the kernel has those that were set where you started it.`,
		Args:              oneConnection,
		ValidArgsFunction: completeConnections,
		RunE: func(cmd *cobra.Command, args []string) error {
			_, all, err := connectionsHere()
			if err != nil {
				return err
			}
			defer all.Close()
			m, err := all.Connect(cmd.Context(), args[0], which)
			if err != nil {
				return err
			}
			began := time.Now()
			answer, err := m.Complete(cmd.Context(), remainder.Request{
				MaxTokens: 256,
				Messages:  []remainder.Message{{Parts: []remainder.Part{{Text: "Answer with the one word: ready"}}}},
			})
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n%s answered in %d ms (%d tokens in, %d out)\n", oneLine(answer.Text, 4*maxTarget),
				oneLine(answer.Model, maxTarget), time.Since(began).Milliseconds(), answer.InTokens, answer.OutTokens)
			return err
		},
	}
	cmd.Flags().StringVar(&which, "model", "", "ask this `model` (default: the connection's own)")
	return cmd
}

func newModelKey() *cobra.Command {
	return &cobra.Command{
		Use:   "key NAME",
		Short: "Keep a key in the key ring of the system",
		Long: `Key asks for a key, without showing it, or takes it from standard input, and keeps
it in the key ring of the system under the name of a connection, or the name that
its keyRing says.`,
		Example: `  assent model key claude
  pass show anthropic | assent model key claude`,
		Args:              oneConnection,
		ValidArgsFunction: completeConnections,
		RunE: func(cmd *cobra.Command, args []string) error {
			key, err := secretFrom(cmd.InOrStdin(), cmd.ErrOrStderr(), "the key of "+oneLine(args[0], maxTarget)+": ")
			if err != nil {
				return err
			}
			if key == "" {
				return usagef("there is no key")
			}
			if err := model.Keep(args[0], key); err != nil {
				return fmt.Errorf("the key ring does not take it: %w", err)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "the key ring has the key of %s\n", oneLine(args[0], maxTarget))
			return err
		},
	}
}

func newModelForget() *cobra.Command {
	return &cobra.Command{
		Use:               "forget NAME",
		Short:             "Take a key out of the key ring",
		Args:              oneConnection,
		ValidArgsFunction: completeConnections,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := model.Forget(args[0]); err != nil {
				return fmt.Errorf("%s: %w", oneLine(args[0], maxTarget), err)
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "the key ring has no key of %s any more\n", oneLine(args[0], maxTarget))
			return err
		},
	}
}

// maxSecret is how long a key may be.
const maxSecret = 16 << 10

// secretFrom reads one line that is not shown.
func secretFrom(in io.Reader, out io.Writer, ask string) (string, error) {
	if f, ok := in.(*os.File); ok && term.IsTerminal(f.Fd()) {
		if _, err := fmt.Fprint(out, ask); err != nil {
			return "", err
		}
		text, err := term.ReadPassword(f.Fd())
		fmt.Fprintln(out)
		return strings.TrimSpace(string(text)), err
	}
	line, err := bufio.NewReader(io.LimitReader(in, maxSecret)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	return strings.TrimSpace(line), nil
}
