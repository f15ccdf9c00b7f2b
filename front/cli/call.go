package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"assent/approval"
	"assent/front/api/client"
	"assent/front/api/wire"
)

func newCall() *cobra.Command {
	d, c, session, mode := &dialer{}, &checker{verb: "call"}, "", ""
	cmd := &cobra.Command{
		Use:   "call [flags] -- COMMAND",
		Short: "Ask for a call by hand, and wait for the answer",
		Long: `Call admits a tool call to the kernel as an agent's client does, and waits until
it is decided: by the policies, the mode and the grants of its session, or by a
person. Nothing is run. It lets a script of yours ask before it does something,
and shows what an agent is told: who or what decided, what the policy says to
it, and the comment of the person who answered. While it waits it says for what
and why.

Without --session the call stands in a session of its own, which stays in the
document as every session does; "assent sessions --open" leaves it out. A person
may choose its mode with --mode; an agent is refused that, as what it starts has
the mode of new sessions.

A command stands after "--", and any other tool is named by --name, as for
"assent check". Ctrl-C cancels the call. The exit code tells the answer:

  0  allowed    4  refused    5  blocked by a policy
  2  the question is wrong    1  cancelled, or asking failed`,
		Example: `  assent call -- make deploy && make deploy
  assent call --session 7GKQ --name Write --arguments '{"file_path": "notes.md", "content": ""}'`,
		RunE: d.asking(func(cmd *cobra.Command, k *client.Client, args []string) error {
			call, err := c.call(cmd.InOrStdin(), args)
			if err != nil {
				return err
			}
			if !utf8.Valid(call.Arguments) {
				return usagef("the arguments hold bytes that are no UTF-8, and the kernel keeps only text; \"assent check\" judges them")
			}
			if mode, err = modeOrNone(mode); err != nil {
				return err
			}
			job := wire.NewJob{Name: call.Name, Arguments: call.Arguments}
			if session != "" {
				if mode != "" || c.workspace != "" || c.cwd != "" {
					return usagef("--session has its mode and its folders already")
				}
				session, err = namedSession(cmd.Context(), k, session)
			} else if err = c.places(&call, warnings(cmd)); err == nil {
				var made wire.Session
				made, err = k.CreateSession(cmd.Context(), wire.NewSession{
					Mode: mode, Client: "assent call", Workspace: call.Workspace, Cwd: call.Cwd, Home: call.Home,
				})
				session = made.ID
			}
			if err != nil {
				return err
			}
			return ask(cmd, d, k, session, job)
		}),
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	d.flags(cmd)
	sessionFlag(cmd, &session, "in this session")
	f := cmd.Flags()
	f.StringVarP(&c.name, "name", "n", "", "the `tool`, in the spelling of its client")
	f.StringVarP(&c.arguments, "arguments", "a", "", "the tool's arguments: `JSON`, @FILE or -")
	c.placeFlags(cmd, "the session works in", "the call starts in")
	_ = cmd.RegisterFlagCompletionFunc("name", completeTools)
	modeFlag(cmd, &mode, "for persons: the `mode` of the session")
	return cmd
}

// namedSession is the session that a text means. An agent has no list of
// sessions: what it names is the whole id.
func namedSession(ctx context.Context, c *client.Client, text string) (string, error) {
	id, err := findSession(ctx, c, text)
	if errors.Is(err, wire.Role) {
		return text, nil
	}
	return id, err
}

// unheard is how long a call may be undecided before whoever waits is told what
// it waits for, and how long between two looks at that.
const unheard = 300 * time.Millisecond

// byHand is the outcome of a call that was asked for by hand.
const byHand = `{"ok":true,"text":"asked for by hand; nothing was run"}`

// ask admits a call and tells what was decided.
func ask(cmd *cobra.Command, d *dialer, c *client.Client, session string, job wire.NewJob) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	admitted, err := c.Admit(ctx, session, job)
	if err != nil {
		return err
	}
	d.heard.Store(true)
	var receipt wire.Receipt
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		receipt, err = c.Receipt(ctx, session, admitted.ID, client.Decided)
	}()
	last := tellWaiting(ctx, cmd.ErrOrStderr(), c, admitted, heard)
	if err != nil {
		if ctx.Err() == nil {
			return cutOff(err, nameOf(last))
		}
		later, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		if err := c.Cancel(later, session, admitted.ID); err != nil {
			return err
		}
		return errors.New("cancelled")
	}
	if receipt.OrchestrationResult != nil && *receipt.OrchestrationResult && receipt.Completed == nil {
		if err := c.Report(ctx, session, admitted.ID, jsontext.Value(byHand)); err != nil && !errors.Is(err, wire.NotYours) {
			return err
		}
	}
	return decided(cmd.OutOrStdout(), d, receipt)
}

// cutOff says what became of a call when whoever waited for it was cut off.
func cutOff(err error, call string) error {
	what := "the connection to the kernel was lost"
	switch {
	case errors.Is(err, wire.Closed), errors.Is(err, client.ErrNoDaemon):
		what = "the kernel has ended"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
	default:
		return err
	}
	return fmt.Errorf("%s while the call waited: it is not decided, so do not go on\nit still waits for an answer that nobody hears; \"assent cancel %s\" takes it out, and \"assent call\" asks anew (both start the kernel)",
		what, call)
}

// tellWaiting says, until the call is heard of, what it waits for and why: each
// thing once. It gives what it knew last.
func tellWaiting(ctx context.Context, out io.Writer, c *client.Client, call wire.JobRow, heard <-chan struct{}) (last wire.Receipt) {
	told := ""
	last.Session, last.Job = call.Session, call.ID
	for wait := unheard; ; wait = max(wait, time.Second) {
		select {
		case <-heard:
			return last
		case <-time.After(wait):
		}
		now, err := c.Receipt(ctx, call.Session, call.ID, client.Now)
		if err != nil || now.OrchestrationResult != nil || now.Cancelled != nil {
			continue // what it came to is told by the other
		}
		last = now
		if text := waitsFor(now); text != told {
			fmt.Fprint(out, paragraph("assent: "+text))
			told = text
		}
	}
}

// nameOf is how a call is named to a person.
func nameOf(r wire.Receipt) string {
	if r.Number == 0 { // of an earlier kernel
		return oneLine(callName{r.Session, r.Job}.String(), 4*maxTarget)
	}
	return strconv.FormatInt(r.Number, 10)
}

// waitsFor says what an undecided call waits for, and why.
func waitsFor(r wire.Receipt) string {
	why := ""
	if r.PolicyMessage != nil {
		why = oneLine(*r.PolicyMessage, maxLogged) + "\n"
	}
	name := nameOf(r)
	switch {
	case r.PolicyResult == nil:
		return "it waits until it is judged"
	case r.NeedsHuman:
		return why + fmt.Sprintf("it waits for a person, who answers in another terminal: assent allow %s, or deny", name)
	}
	return why + "it waits for the classifier"
}

// decided tells what became of a call, by the exit code too.
func decided(out io.Writer, d *dialer, r wire.Receipt) (err error) {
	verb, code := "refused", exitDeny
	switch {
	case r.OrchestrationResult == nil:
		verb, code = "cancelled", exitFailed
		if r.CancelledBy != nil {
			verb += cancelledBy[*r.CancelledBy]
		}
	case *r.OrchestrationResult:
		verb, code = "allowed", exitAllow
	case r.PolicyResult != nil && *r.PolicyResult == "block":
		verb, code = "blocked", exitBlock
	}
	if d.json {
		err = writeJSON(out, r)
	} else {
		_, err = fmt.Fprintln(out, verb+decidedBy(r)+saidTo(r, code))
	}
	if err == nil && code != exitAllow {
		err = verdictExit(code)
	}
	return err
}

// cancelledBy says who cancelled a call, by their role.
var cancelledBy = map[string]string{"human": " by a person", "agent": " by an agent", "host": " by the kernel"}

// decidedBy names who or what decided a call.
func decidedBy(r wire.Receipt) string {
	if r.LicenseReason == nil || r.OrchestrationResult == nil {
		return ""
	}
	switch *r.LicenseReason {
	case approval.PersonAllowed.Name(), approval.PersonRefused.Name():
		return " by a person"
	case approval.FloorAllowed.Name(), approval.FloorBlocked.Name():
		return " by a policy"
	case approval.ClassifierAllowed.Name(), approval.ClassifierDenied.Name():
		return " by the classifier"
	case approval.YoloMode.Name():
		return " by mode yolo"
	case approval.GrantSkips.Name():
		return " by a grant"
	case approval.ReadAllowlisted.Name():
		return ": a person let this session read there"
	}
	return ""
}

// saidTo is what was said to the decision: the comment of a person, what the
// policies say to a call that may not run, and else what an agent is told.
func saidTo(r wire.Receipt, code int) string {
	var outcome struct {
		Text string `json:"text"`
	}
	comment, message := "", ""
	if r.ApprovalComment != nil {
		comment = *r.ApprovalComment
	}
	if r.PolicyMessage != nil {
		message = *r.PolicyMessage
	}
	switch {
	case comment != "":
		return ": " + oneLine(comment, maxLogged)
	case code == exitAllow:
		return ""
	case code == exitBlock && message != "":
		return ": " + oneLine(message, maxLogged)
	case json.Unmarshal(r.OutcomeJSON, &outcome) == nil && outcome.Text != "" && outcome.Text != "cancelled":
		return ": " + oneLine(outcome.Text, maxLogged)
	}
	return ""
}
