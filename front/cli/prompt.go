package cli

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"assent/front/api/client"
	"assent/front/api/wire"
	"assent/front/prompt"
	"assent/front/tui"
	"assent/internal/config"
)

// prompting is the prompt of a person, which "assent" alone opens too.
type prompting struct {
	dialer
	plain bool
}

func (p *prompting) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.socket, "socket", "", "the kernel's socket, for one that runs elsewhere: its `path`")
	cmd.Flags().BoolVar(&p.plain, "plain", false, "say what is new line by line, as for a screen reader, and draw nothing")
}

func newPrompt() *cobra.Command {
	p := &prompting{}
	cmd := &cobra.Command{
		Use:   "prompt",
		Short: "Answer what waits for a person, one card after the other",
		Long: `Prompt shows the calls that wait for a person, one card after the other: the
whole call, what it would do and which rule speaks about that, who asks, and what
the scanner and the classifier say. What is not seen for what it is (invisible,
look-alike and control characters) is marked. a allows, d denies, ? says the other
keys. "assent" alone on a terminal is the same.

A key counts only after nothing was typed for a moment since its card came, and
once the end of the card was seen. What is pasted answers nothing. Three settings
of config.json are about it: approvalAskThrottleMs, the time between two cards,
superKey, which confirms what reaches beyond one call ("alt" for Alt held with a
letter, or a key of its own such as "f9"), and bell, which rings for a new card.

--plain, and TERM=dumb, say what is new line by line and draw nothing. NO_COLOR
leaves colours out.`,
		Example: "  assent\n  assent prompt --plain",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !atTerminal(cmd) {
				return usagef("the prompt needs a terminal; without one: assent queue, assent allow, assent deny")
			}
			return p.run(cmd)
		},
	}
	p.flags(cmd)
	return cmd
}

// atTerminal reports whether a person can see and type.
func atTerminal(cmd *cobra.Command) bool {
	in, ok := cmd.InOrStdin().(*os.File)
	out, also := fileOf(cmd.OutOrStdout())
	return ok && also && terminal(in) && terminal(out)
}

func (p *prompting) run(cmd *cobra.Command) error {
	ctx := cmd.Context()
	first, err := p.dial() // a kernel is started where there is none, this once
	if err != nil {
		return err
	}
	status, err := first.Status(ctx)
	first.Close()
	if err == nil && status.Kernel == nil {
		err = &wire.Problem{Code: wire.Role, Detail: "this is a person's to ask, and this connection is an agent's"}
	}
	if err != nil && (p.socket == "" || !errors.Is(err, client.ErrNoDaemon)) {
		return hinted(err)
	}
	p.idle = true
	c, err := p.dial()
	if err != nil {
		return err
	}
	defer c.Close()

	changes := make(chan prompt.Settings, 1)
	settings := func(state config.State) prompt.Settings {
		throttle := state.Config.AskThrottle
		if state.Err != nil && throttle == 0 {
			throttle = config.DefaultAskThrottle
		}
		return prompt.Settings{Throttle: throttle, SuperKey: state.Config.SuperKey, Bell: state.Config.Bell, Plain: p.plain || os.Getenv("TERM") == "dumb"}
	}
	opts := tui.Options{Client: c, Changes: changes, Coloured: bool(paintFor(cmd.OutOrStdout())), In: cmd.InOrStdin().(*os.File)}
	opts.Out, _ = fileOf(cmd.OutOrStdout())
	opts.Settings = settings(config.State{Config: config.Config{AskThrottle: config.DefaultAskThrottle}})
	if at, err := findKernel(); err == nil {
		file, err := config.Open(at.ConfigFile(), func(state config.State) {
			select { // the latest counts
			case <-changes:
			default:
			}
			changes <- settings(state)
		})
		if err == nil {
			defer file.Close()
			opts.Settings = settings(file.State())
		}
	}
	return tui.Run(ctx, opts)
}
