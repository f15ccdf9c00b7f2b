package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"assent/approval"
	"assent/front/reach"
	"assent/internal/config"
	"assent/model"
	"assent/remainder"
	"assent/senses"
)

// asking is who is asked by hand: the program and the connection of config.json, or
// those that flags name.
type asking struct {
	connection, model, program string
}

func (a *asking) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&a.connection, "connection", "", "ask this `connection` (default: judgeConnection in config.json)")
	f.StringVar(&a.model, "model", "", "ask this `model` (default: judgeModel in config.json, then the connection's own)")
	f.StringVar(&a.program, "program", "", "run the program in this `file` (default: autoModeJudge in config.json, then the one that ships)")
	_ = cmd.RegisterFlagCompletionFunc("connection", func(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		return completeConnections(cmd, nil, begun)
	})
	_ = cmd.MarkFlagFilename("program", "scm")
}

// asked is a program, and what makes a model for it.
type asked struct {
	program *remainder.Program
	choice  remainder.Choice
	connect remainder.Connect
	close   func() error
}

// open reads the program and finds the connection. What is wrong with the connection
// is told when a model is needed: a program may need none.
func (a *asking) open(ctx context.Context) (*asked, error) {
	c, all, err := connectionsHere()
	if err != nil {
		return nil, err
	}
	name, text := remainder.ShippedName, remainder.Shipped
	file := a.program
	if file == "" && c.AutoModeJudge != "" {
		at, err := reach.Find(homeOfUser)
		if err != nil {
			return nil, err
		}
		home, _ := os.UserHomeDir() // without one, "~/" is a folder here
		file = config.ProgramPath(c.AutoModeJudge, home, filepath.Dir(at.ConfigFile()))
	}
	if file != "" {
		name = file
		if text, err = config.ReadProgram(file); err != nil {
			return nil, usageError{err}
		}
	}
	p, err := remainder.Load(ctx, name, text)
	if err != nil {
		return nil, usageError{err}
	}
	choices := remainder.Choices{
		Session: remainder.Choice{Connection: a.connection, Model: a.model},
		Kernel:  remainder.Choice{Connection: c.JudgeConnection, Model: c.JudgeModel},
	}
	out := &asked{program: p, close: all.Close}
	choice, unchosen := choices.Choose(all)
	if unchosen == nil {
		out.choice = choice
	}
	out.connect = func(ctx context.Context) (remainder.Model, error) {
		if unchosen != nil {
			return nil, unchosen
		}
		return all.Connect(ctx, choice.Connection, choice.Model)
	}
	return out, nil
}

var _ remainder.Connections = (*model.Connections)(nil)

func newJudge() *cobra.Command {
	c, who, e := &checker{verb: "judge"}, &asking{}, remainder.Evidence{}
	floorSays, expression, unattended, asJSON := "", "", false, false
	var results []string
	cmd := &cobra.Command{
		Use:   "judge [flags] -- COMMAND",
		Short: "Have the classifier decide about one call, and show what it was told",
		Long: `Judge asks the classifier about one call as mode auto would, and shows all of it:
the instruction and the evidence that were sent, part by part and marked as they
were, what the model answered, and what follows. Nothing is run or kept, and the
kernel is not needed.

The call is written as for "assent check". What the policies allow or block the
classifier is never asked about; --floor has it asked as if they said ask or deny.
The evidence is what the flags say: a session's own is in the kernel alone.

The exit code is 0 for allow, 4 for deny, 3 where the attempt failed and a person
would be asked, 5 for what a policy blocks, 2 for a question that is wrong.`,
		Example: `  assent judge -- make deploy
  assent judge --user 'get the release out' -- make deploy
  assent judge --connection local --floor deny --name Read --arguments '{"file_path": "/etc/hosts"}'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			warn := warnings(cmd)
			call, err := c.call(cmd.InOrStdin(), args)
			if err == nil {
				err = c.places(&call, warn)
			}
			if err == nil {
				err = c.layers.machine(c.policy, call, warn)
			}
			if err != nil {
				return err
			}
			call = senses.CompleteFor(&c.layers.floor, call)
			if !c.unscanned {
				call = scanner().Add(cmd.Context(), &c.layers.floor, call)
			}
			v := c.layers.judge(call)
			result := v.Result
			switch floorSays {
			case "":
			case "ask":
				result = approval.Ask
			case "deny":
				result = approval.Deny
			default:
				return usagef("--floor %q: want ask or deny", floorSays)
			}
			out := cmd.OutOrStdout()
			if !result.Remainder() {
				if asJSON {
					err = writeJSON(out, judged{Floor: result.String()})
				} else {
					_, err = fmt.Fprintf(out, "the policies say %s: the classifier is not asked (--floor ask has it asked all the same)\n", result)
				}
				if code := exitOf(result); err == nil && code != exitAllow {
					err = verdictExit(code)
				}
				return err
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			a, err := who.open(ctx)
			if err != nil {
				return err
			}
			defer a.close()
			e.Expression = expression
			for _, r := range results {
				e.Results = append(e.Results, remainder.Result{Tool: "tool", Text: r})
			}
			q := remainder.Question{
				Call: remainder.Call{
					Cluster: v.Cluster, Name: call.Name, Arguments: call.Arguments, Floor: result, Message: v.Message,
					Workspace: call.Workspace, Cwd: call.Cwd, Unattended: unattended,
					Effects: remainder.EffectsIn(string(v.Explained().JSON())),
				},
				Gather: func(_ context.Context, cut remainder.Scope) (remainder.Evidence, error) { return e.Within(cut), nil },
				Salt:   salt(),
			}
			if v.Incomplete {
				q.Kind = "incomplete"
			}
			vote, record, failed := remainder.Ask(ctx, a.program, q, a.connect)
			if failed != nil && ctx.Err() != nil {
				return errors.New("cancelled")
			}
			if asJSON {
				err = writeJSON(out, judgedOf(result, a, vote, record, failed))
			} else {
				err = tellJudged(out, a, v.Message, result, vote, record, failed)
			}
			switch {
			case err != nil:
				return err
			case failed != nil:
				return verdictExit(exitAsk)
			case vote == approval.JudgeDeny:
				return verdictExit(exitDeny)
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	f := cmd.Flags()
	f.StringVarP(&c.name, "name", "n", "", "the `tool`, in the spelling of its client")
	f.StringVarP(&c.arguments, "arguments", "a", "", "the tool's arguments: `JSON`, @FILE or -")
	c.placeFlags(cmd, "the agent works in", "the call starts in")
	f.StringVarP(&c.policy, "policy", "p", "", "judge by this policy `file` instead of your own")
	f.BoolVar(&c.unscanned, "no-scanner", false, "do not ask the scanner of commands")
	f.StringVar(&floorSays, "floor", "", "as if the policies said `ask` or deny")
	f.StringArrayVar(&e.User, "user", nil, "what the user said: a `text`; again for more, the oldest first")
	f.StringVar(&e.Response, "response", "", "what the agent answered last: a `text`")
	f.StringArrayVar(&results, "result", nil, "what an earlier tool gave: a `text`; again for more")
	f.StringVar(&expression, "expression", "", "the `program` that makes the call, where no user spoke")
	f.BoolVar(&unattended, "unattended", false, "nobody sits at the session")
	f.BoolVar(&asJSON, "json", false, "answer as one JSON object")
	who.flags(cmd)
	_ = cmd.MarkFlagFilename("policy", "yaml", "yml", "json")
	_ = cmd.RegisterFlagCompletionFunc("name", completeTools)
	return cmd
}

// judged is a classification as data.
type judged struct {
	Floor       string        `json:"floor"`
	Program     string        `json:"program,omitzero"`
	Connection  string        `json:"connection,omitzero"`
	Model       string        `json:"model,omitzero"`
	Vote        *string       `json:"vote"` // null for a failed attempt
	Uncertainty *float64      `json:"uncertainty"`
	Severity    *float64      `json:"severity"`
	Reason      string        `json:"reason,omitzero"`
	Failed      string        `json:"failed,omitzero"`
	Rounds      []judgedRound `json:"rounds"`
}

type judgedRound struct {
	Cut    string       `json:"cut"`
	System string       `json:"system"`
	Parts  []judgedPart `json:"parts"`
	Answer string       `json:"answer"`
}

type judgedPart struct {
	Quarantined bool   `json:"quarantined"`
	Text        string `json:"text"`
}

func judgedOf(floor approval.PolicyResult, a *asked, vote approval.JudgeResult, r remainder.Record, failed error) judged {
	j := judged{Floor: floor.String(), Program: a.program.Name, Connection: a.choice.Connection, Model: a.choice.Model, Rounds: []judgedRound{}}
	if vote != approval.NoVote {
		name := vote.String()
		j.Vote = &name
	}
	if failed != nil {
		j.Failed = failed.Error()
	}
	if said := r.Judgement; said != nil {
		j.Reason = said.Reason
		for _, n := range []struct {
			from float64
			to   **float64
		}{{said.Uncertainty, &j.Uncertainty}, {said.Severity, &j.Severity}} {
			if !math.IsNaN(n.from) {
				*n.to = &n.from
			}
		}
	}
	for _, round := range r.Rounds {
		out := judgedRound{Cut: round.Cut.String(), System: round.Request.System, Answer: round.Answer.Text}
		for _, m := range round.Request.Messages {
			for _, p := range m.Parts {
				out.Parts = append(out.Parts, judgedPart{p.Quarantined, p.Text})
			}
		}
		j.Rounds = append(j.Rounds, out)
	}
	return j
}

// tellJudged shows a classification to a person.
func tellJudged(out io.Writer, a *asked, message string, floor approval.PolicyResult, vote approval.JudgeResult, r remainder.Record, failed error) error {
	var b strings.Builder
	quote := func(mark, text string) {
		for line := range strings.Lines(text) {
			b.WriteString(mark + oneLine(strings.TrimSuffix(line, "\n"), maxEvidence) + "\n")
		}
	}
	fmt.Fprintf(&b, "policies   %s%s\n", floor, of(": ", oneLine(message, maxLogged)))
	fmt.Fprintf(&b, "program    %s\n", oneLine(a.program.Name, 4*maxTarget))
	if a.choice.Connection != "" {
		fmt.Fprintf(&b, "asks       %s on %s\n", oneLine(a.choice.Model, maxTarget), oneLine(a.choice.Connection, maxTarget))
	}
	for i, round := range r.Rounds {
		fmt.Fprintf(&b, "\nQuestion %d, with the evidence %s\n", i+1, round.Cut)
		if i == 0 {
			b.WriteString("The instruction:\n")
			quote("  │ ", round.Request.System)
		}
		b.WriteString("What was sent (what comes from outside is marked !):\n")
		for _, m := range round.Request.Messages {
			for _, p := range m.Parts {
				mark := "  │ "
				if p.Quarantined {
					mark = "  ! "
				}
				quote(mark, p.Text)
			}
		}
		if round.Answer.Text != "" {
			b.WriteString("The answer:\n")
			quote("  │ ", round.Answer.Text)
		}
	}
	b.WriteString("\n")
	switch {
	case failed != nil:
		fmt.Fprintf(&b, "no vote: a person is asked, and the model again\nbecause    %s\n", oneLine(failed.Error(), 4*maxLogged))
	case r.Judgement == nil:
		fmt.Fprintf(&b, "%s, by the program itself\n", vote)
	default:
		fmt.Fprintf(&b, "%s%s%s\n", vote, numbers(*r.Judgement), of(": ", oneLine(r.Judgement.Reason, maxLogged)))
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// maxEvidence is how much of one line of evidence is shown, in characters.
const maxEvidence = 20_000

// of is a text with something before it, "" for none.
func of(before, text string) string {
	if text == "" {
		return ""
	}
	return before + text
}

// numbers are the judgements of an answer, as far as it has them.
func numbers(j remainder.Judgement) string {
	if math.IsNaN(j.Uncertainty) || math.IsNaN(j.Severity) {
		return ""
	}
	return fmt.Sprintf(" (uncertainty %v, severity %v)", j.Uncertainty, j.Severity)
}
