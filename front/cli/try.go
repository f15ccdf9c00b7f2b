package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"assent/approval"
	"assent/front/api/client"
	"assent/front/api/wire"
	"assent/front/card"
	"assent/front/stage"
	"assent/internal/drawn"
	"assent/plexus"
)

// scene is one thing that the scripted agent does.
type scene struct {
	says string // before it
	tool string
	args string
	// answer is what the script says where a person is asked, and why.
	answer reply
	// shows is what there is to see in it, said afterwards where it was decided as
	// the script has it.
	as    approval.Reason
	shows string
}

// reply is what a person says to a card.
type reply struct {
	side    side
	comment string
}

type side uint8

const (
	sayNo side = iota
	sayYes
	sayGrant // the kind of call, in this session, for an hour
	sayLeave // the whole play
)

// props are the files that the agent finds.
var props = []stage.Prop{
	{Name: "README.md", Text: "# Shop\n\nIt sells tea.\n", Mode: 0o600},
	{Name: "check.sh", Text: "#!/bin/sh\necho \"checked: ${*:-everything}\"\n", Mode: 0o700},
	{Name: ".env", Text: "TOKEN=not-a-real-one\n", Mode: 0o600},
}

// play is what the agent does, in order.
var play = []scene{
	{
		says: "looks around", tool: "bash", args: `{"command": "ls && tail -n 1 README.md"}`,
		as:    approval.FloorAllowed,
		shows: "The policies allow looking: nobody was asked.",
	},
	{
		says: "changes a file", tool: "edit",
		args:   `{"path": "README.md", "edits": [{"oldText": "It sells tea.", "newText": "It sells tea and coffee."}]}`,
		answer: reply{sayYes, "cocoa comes next"},
		as:     approval.PersonAllowed,
		shows:  "The file was changed after the answer, and the comment goes to the agent.",
	},
	{
		says: "tidies up too eagerly", tool: "bash", args: `{"command": "cd /tmp && rm -rf ~"}`,
		as:    approval.FloorBlocked,
		shows: "No answer, no mode and no grant lifts a block. (The agent's home is a scratch folder, too.)",
	},
	{
		says: "reads what it should not", tool: "read", args: `{"path": ".env"}`,
		answer: reply{sayNo, "that file is nobody's business"},
		as:     approval.PersonRefused,
		shows:  "The agent is told so, and never saw the file.",
	},
	{
		says: "runs a script of the project", tool: "bash", args: `{"command": "./check.sh"}`,
		answer: reply{side: sayGrant},
		as:     approval.GrantSkips,
		shows:  "The grant answers what waits, too.",
	},
	{
		says: "runs it again, otherwise", tool: "bash", args: `{"command": "./check.sh tea coffee"}`,
		as:    approval.GrantSkips,
		shows: "The grant let it through: nobody was asked.",
	},
}

// grantLasts is how long a grant of the play holds.
const grantLasts = time.Hour

func newTry() *cobra.Command {
	scripted := false
	cmd := &cobra.Command{
		Use:   "try",
		Short: "See what assent does, in a scratch folder",
		Long: `Try lets a scripted agent work in a scratch folder, through a kernel of its own:
the real one, with its floor, guards and bodies, and without a model or network.
You see what goes through in silence, what is asked about, what is blocked, what
the agent is told, a grant, and the log of all that.

On a terminal you answer. Elsewhere, and with --scripted, the script does. Your
own kernel, document and settings are not touched, and nothing stays behind.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
			defer stop()
			pipes := make(chan os.Signal, 1) // whoever reads may have seen enough; the folder goes all the same
			signal.Notify(pipes, syscall.SIGPIPE)
			defer signal.Stop(pipes)
			p := &performance{out: cmd.OutOrStdout(), screen: screenOf(cmd.OutOrStdout())}
			in, isFile := cmd.InOrStdin().(*os.File)
			if out, ok := fileOf(p.out); !scripted && ok && terminal(out) && isFile && terminal(in) {
				p.answers = lineReader(in)
			}
			err := p.run(ctx)
			if ctx.Err() != nil {
				return errors.New("ended; the scratch folder is gone")
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&scripted, "scripted", false, "let the script answer, on a terminal too")
	return cmd
}

// lineReader gives the lines of a file as somebody writes them; it is closed at its
// end.
func lineReader(in io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(in); s.Scan(); {
			lines <- s.Text()
		}
	}()
	return lines
}

// performance is one play for somebody.
type performance struct {
	*stage.Stage
	out     io.Writer
	screen  screen
	answers <-chan string // of whoever is there, nil for nobody
}

func (p *performance) say(format string, args ...any) { fmt.Fprintf(p.out, format, args...) }

// words says a paragraph.
func (p *performance) words(text string) {
	width := p.screen.width
	if width == 0 {
		width = 80
	}
	for _, line := range wrap(text, width) {
		p.say("%s\n", line)
	}
}

func (p *performance) run(ctx context.Context) (err error) {
	if p.Stage, err = stage.Set(ctx, version(), props); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Strike()) }()
	p.say("A scripted agent works in %s, through a kernel of its own.\n", oneLine(p.Project(), 4*maxFull))
	p.words("Its session is in mode auto: policies and grants answer what they can, and a person the rest.")
	for i, s := range play {
		p.say("\n%s\n", inkBold.of(p.screen.paint, fmt.Sprintf("%d. The agent %s.", i+1, s.says)))
		switch left, err := p.scene(ctx, s); {
		case err != nil:
			return err
		case left:
			return nil
		}
	}
	return p.ending(ctx)
}

// scene has the agent do one thing, and a person answer where one is asked.
func (p *performance) scene(ctx context.Context, s scene) (left bool, err error) {
	id, err := p.Call(ctx, s.tool, s.args)
	if err != nil {
		return false, err
	}
	settled := func(j wire.Job) bool { return j.Completed != nil }
	call, err := p.Until(ctx, id, func(j wire.Job) bool { return settled(j) || j.Leaf.NeedsHuman })
	if err != nil {
		return false, err
	}
	asked := !settled(call)
	if asked {
		if err := p.card(ctx, call); err != nil {
			return false, err
		}
		a, err := p.ask(ctx, call, s.answer)
		if err != nil || a.side == sayLeave {
			return true, err
		}
		if err := p.reply(ctx, call, a); err != nil {
			return false, err
		}
		if call, err = p.Until(ctx, id, settled); err != nil {
			return false, err
		}
	} else {
		p.say("   %s: %s\n", call.Name, oneLine(whatOf(call.Arguments), 4*maxFull))
	}
	p.outcome(call)
	if r := call.Leaf.LicenseReason; r != nil && *r == s.as.Name() {
		p.words(s.shows)
	}
	return false, nil
}

// card shows a call that a person is asked about.
func (p *performance) card(ctx context.Context, call wire.Job) error {
	about, err := aboutOf(ctx, p.Person, call)
	if err != nil {
		return err
	}
	p.say("\n")
	for _, line := range card.Of(call, about).Lines(card.Look{Width: p.screen.width}) {
		p.say("%s\n", strings.TrimRight("   "+line.Text(bool(p.screen.paint)), " "))
	}
	p.say("\n")
	return nil
}

// ask asks whoever is there, or the script.
func (p *performance) ask(ctx context.Context, call wire.Job, scripted reply) (reply, error) {
	may := grantedKind(call)
	if p.answers == nil {
		p.say("> %s\n", scripted.text(may))
		return scripted, nil
	}
	help := "y allow, n deny, either with a comment behind it"
	if may != "" {
		help += "; g allow all of " + may + " in this session for an hour"
	}
	help += "; q ends. Enter: " + scripted.text(may)
	for {
		p.words(help)
		p.say("> ")
		select {
		case line, more := <-p.answers:
			if !more {
				p.say("\n")
				return reply{side: sayLeave}, nil
			}
			if a, ok := readReply(line, scripted, may); ok {
				return a, nil
			}
			p.say("That is none of them.\n")
		case <-ctx.Done():
			p.say("\n")
			return reply{}, ctx.Err()
		}
	}
}

// grantedKind is the kind of call that a grant would answer, "" where none may be
// given at a prompt (law ruling 15).
func grantedKind(call wire.Job) string {
	var kinds approval.Terms
	if termOf(&kinds, call.Leaf.Cluster) == nil || card.Of(call, card.About{}).Hatch() {
		return ""
	}
	return call.Leaf.Cluster
}

// readReply reads what somebody wrote.
func readReply(line string, scripted reply, may string) (reply, bool) {
	word, comment, _ := strings.Cut(strings.TrimSpace(line), " ")
	comment = strings.TrimSpace(comment)
	switch strings.ToLower(word) {
	case "":
		return scripted, true
	case "y", "yes":
		return reply{sayYes, comment}, true
	case "n", "no":
		return reply{sayNo, comment}, true
	case "g", "grant":
		return reply{side: sayGrant}, may != "" && comment == ""
	case "q", "quit":
		return reply{side: sayLeave}, true
	}
	return reply{}, false
}

// text is an answer in words.
func (a reply) text(kind string) string {
	text := "deny"
	switch a.side {
	case sayYes:
		text = "allow"
	case sayGrant:
		return "grant " + kind + " in this session for an hour"
	}
	if a.comment != "" {
		text += fmt.Sprintf(", with the comment %q", a.comment)
	}
	return text
}

// reply writes what a person said: a vote, or a grant that answers in its place.
func (p *performance) reply(ctx context.Context, call wire.Job, a reply) error {
	if a.side != sayGrant {
		_, err := p.Person.Answer(ctx, call.Session, call.ID, a.side == sayYes, a.comment)
		return err
	}
	all, err := p.Person.Registers(ctx, call.Session)
	if err != nil {
		return err
	}
	terms, err := termsIn(all, plexus.AutoAllow)
	if err != nil {
		return err
	}
	*termOf(&terms, call.Leaf.Cluster) = approval.Until(time.Now().Add(grantLasts))
	if _, err = p.Person.SetRegister(ctx, call.Session, plexus.AutoAllow, terms, all.Rev); err != nil || call.Leaf.PolicyResult == nil || *call.Leaf.PolicyResult == "ask" {
		return err
	}
	// What a policy denies no grant answers: this call is answered beside it.
	_, err = p.Person.Answer(ctx, call.Session, call.ID, true, "")
	return err
}

// outcome says what became of a call, and what the agent was told.
func (p *performance) outcome(call wire.Job) {
	l := call.Leaf
	verb, ink := "refused", inkDeny
	if l.OrchestrationResult != nil && *l.OrchestrationResult {
		verb, ink = "allowed", inkAllow
	} else if l.PolicyResult != nil && *l.PolicyResult == approval.Block.String() {
		verb, ink = "blocked", inkBlock
	}
	p.say("   %s", ink.of(p.screen.paint, verb+decidedAs(l)))
	if l.Grant != nil {
		p.say(" (grant %d)", l.Grant.Number)
	}
	p.say("\n")
	if verb == "blocked" && l.PolicyMessage != nil {
		p.say("   %s\n", oneLine(*l.PolicyMessage, 4*maxFull))
	}
	for line := range strings.Lines(strings.TrimRight(toldAgent(l.OutcomeJSON), "\n")) {
		p.say("   │ %s\n", drawn.Draw(strings.TrimSuffix(line, "\n")).Text)
	}
	if l.ApprovalComment != nil && *l.ApprovalComment != "" { // the agent hears it beside the receipt (law §7)
		p.say("   │ a person's comment: %s\n", oneLine(*l.ApprovalComment, 4*maxFull))
	}
}

// decidedAs is the line of the law that decided, behind what was.
func decidedAs(l *wire.Leaf) string {
	if l.LicenseReason == nil {
		return ""
	}
	return ": " + card.Reason(*l.LicenseReason)
}

// toldAgent is what an outcome says to the agent, without what programs read in it.
func toldAgent(outcome jsontext.Value) string {
	var said struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(outcome, &said) != nil || said.Text == "" {
		return string(outcome)
	}
	return said.Text
}

// ending shows what is written down of it all.
func (p *performance) ending(ctx context.Context) error {
	p.say("\n%s\n", inkBold.of(p.screen.paint, "All of it is in the log:"))
	calls, err := p.Person.Calls(ctx, client.CallFilter{})
	if err != nil {
		return err
	}
	g := grid{head: []string{"CALL", "RESULT", "BY", "TOOL", "WHAT"}}
	for i := len(calls.Calls) - 1; i >= 0; i-- {
		call := calls.Calls[i]
		g.add(plainCell(fmt.Sprint(call.Stamp.Rev)), gridCell{call.Result, resultInk(call.Result)}, plainCell(byOf(call)), plainCell(call.Name), plainCell(whatOf(call.Arguments)))
	}
	if err := g.write(p.out, p.screen); err != nil {
		return err
	}
	verified, err := p.Person.Verify(ctx)
	if err != nil {
		return err
	}
	if !verified.OK {
		return errors.New("the document is damaged")
	}
	p.say("\n")
	p.words("Each row of it is tied to the one before; nothing in it can be changed. The scratch folder is taken away now. For your own agents: assent --help, and README.md.")
	return nil
}
