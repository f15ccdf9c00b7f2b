package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"assent/approval"
	"assent/front/api/client"
	"assent/front/api/wire"
	"assent/plexus"
)

func exactlyOne(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return usagef("name %s", what)
		case len(args) > 1:
			return usagef("name %s; %q is one too many", what, oneLine(args[1], maxTarget))
		}
		return nil
	}
}

func newAnswer(yes bool) *cobra.Command {
	d, session, comment := &dialer{}, "", ""
	verb, done, short := "allow", "allowed", "Allow a call that waits for a person"
	named := `A call is named by its number, as "assent queue" says it, or by SESSION/ID, both
whole: an agent that chooses its ids could have another call begin like the one
that you saw.`
	long := `Allow answers yes to one call that waits. What a policy blocks cannot be allowed.
A path outside the workspace that is read so may be read again in that session
by file tools (Read, Grep), with what lies under it, unless there is a comment;
what is open from then on is said. A command that reads there (cat) asks each time.
A yes to names of files opens nothing, and neither does one to what a rule
denies: that is for the one call.`
	if !yes {
		named = `A call is named by its number, as "assent queue" says it, by its id, or by how
that begins.`
		verb, done, short = "deny", "denied", "Refuse a call that waits for a person"
		long = `Deny answers no to one call that waits. The agent is told that a person refused
it; a comment is told to it besides.`
	}
	cmd := &cobra.Command{
		Use:               verb + " CALL",
		Short:             short,
		Long:              long + "\n\n" + named,
		Example:           "  assent " + verb + " 4711\n  assent " + verb + " 4711 --comment 'only in the test folder'",
		Args:              exactlyOne("the call"),
		ValidArgsFunction: completeCalls,
		RunE: d.asking(func(cmd *cobra.Command, c *client.Client, args []string) error {
			ctx := cmd.Context()
			find := waitingCall
			if yes {
				find = meantCall
			}
			name, err := find(ctx, c, args[0], session)
			if err != nil {
				return err
			}
			job, err := c.Job(ctx, name.session, name.job)
			if err != nil {
				return err
			}
			wrote, err := c.Answer(ctx, name.session, name.job, yes, comment)
			if err != nil {
				return err
			}
			if d.json {
				return writeJSON(cmd.OutOrStdout(), wrote)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %s %s\n", done, oneLine(job.Name, maxTarget), oneLine(whatOf(job.Arguments), 4*maxFull))
			if err == nil && yes && comment == "" && job.Leaf != nil && job.Leaf.ApprovalComment == nil {
				_, err = fmt.Fprint(cmd.OutOrStdout(), opensText(job.Leaf.Opens))
			}
			return err
		}),
	}
	d.flags(cmd)
	sessionFlag(cmd, &session, "a call of this session")
	cmd.Flags().StringVarP(&comment, "comment", "m", "", "a `text` that the agent is told besides")
	return cmd
}

// opensText says what a yes opens for reading from then on, "" for nothing.
func opensText(opens []wire.Opened) string {
	var b strings.Builder
	for _, o := range opens {
		below := ""
		if o.Below {
			below = " and what is under it"
		}
		fmt.Fprintf(&b, "open for reading by file tools in this session from now on: %s%s\n", oneLine(o.Path, 4*maxTarget), below)
	}
	return b.String()
}

func newCancel() *cobra.Command {
	d, session := &dialer{}, ""
	cmd := &cobra.Command{
		Use:   "cancel [CALL]",
		Short: "Cancel a call, or what is under way in a session",
		Long: `Cancel ends a call: one that waits is not asked about any more, one that runs is
stopped. Without a call, --session names a session in which all that is under
way is cancelled. What is under way in sessions that such a call started goes
with it, also when the call itself, which only starts them, is settled.`,
		Example: `  assent cancel 4711
  assent cancel --session 9HXM`,
		Args:              atMostOne("name one call"),
		ValidArgsFunction: completeCalls,
		RunE: d.asking(func(cmd *cobra.Command, c *client.Client, args []string) (err error) {
			ctx := cmd.Context()
			name := callName{}
			switch {
			case len(args) > 0:
				name, err = findCall(ctx, c, args[0], session)
			case session == "":
				err = usagef("name a call, or a session with --session")
			default:
				name.session, err = findSession(ctx, c, session)
			}
			if err != nil {
				return err
			}
			if name.job != "" {
				which, err := c.Job(ctx, name.session, name.job)
				if err == nil && which.Completed != nil && which.Kind != approval.AgentCall.String() {
					err = usagef("%s is settled already; see: assent show %s", oneLine(name.job, maxTarget), oneLine(name.job, maxTarget))
				}
				if err != nil {
					return err
				}
			}
			if err := c.Cancel(ctx, name.session, name.job); err != nil {
				return err
			}
			if d.json {
				return writeJSON(cmd.OutOrStdout(), map[string]string{"session": name.session, "job": name.job})
			}
			text := "cancelled: " + oneLine(name.String(), 4*maxTarget)
			if name.job == "" {
				text = "cancelled what is under way in session " + oneLine(name.session, maxTarget)
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), text)
			return err
		}),
	}
	d.flags(cmd)
	sessionFlag(cmd, &session, "a call of this session, or all in it")
	return cmd
}

func newShow() *cobra.Command {
	d, session := &dialer{}, ""
	cmd := &cobra.Command{
		Use:   "show CALL",
		Short: "Show all there is about a call",
		Long: `Show says what a call is, what the policies said to each of its effects, who
answered, and what became of it.

A call is named by its number, as "assent queue" says it, or by its id, or how
that begins, as "assent log" does.`,
		Example:           "  assent show 4711",
		Args:              exactlyOne("the call"),
		ValidArgsFunction: completeCalls,
		RunE: d.asking(func(cmd *cobra.Command, c *client.Client, args []string) error {
			name, err := findCall(cmd.Context(), c, args[0], session)
			if err != nil {
				return err
			}
			job, err := c.Job(cmd.Context(), name.session, name.job)
			if err != nil {
				return err
			}
			if d.json {
				return writeJSON(cmd.OutOrStdout(), job)
			}
			out := cmd.OutOrStdout()
			_, err = fmt.Fprint(out, shown(job, time.Now(), screenOf(out)))
			return err
		}),
	}
	d.flags(cmd)
	sessionFlag(cmd, &session, "a call of this session")
	return cmd
}

// shown is a call for people.
func shown(job wire.Job, now time.Time, s screen) string {
	var b strings.Builder
	line := func(name, text string, i ink) {
		if text == "" {
			return
		}
		head := s.paint.faint(name) + strings.Repeat(" ", max(1, 12-len(name)))
		parts := []string{text}
		if s.width > 0 {
			parts = wrap(text, s.width-12)
		}
		for k, part := range parts {
			if k > 0 {
				head = strings.Repeat(" ", 12)
			}
			b.WriteString(head + i.of(s.paint, part) + "\n")
		}
	}
	by := func(stamp wire.Stamp) string {
		who := ""
		writer, _ := plexus.ParseWriter(stamp.Writer)
		if asked, ok := writer.Asked(); ok {
			writer = asked
		}
		switch writer.Role {
		case plexus.Agent:
			who = "agent " + oneLine(writer.Name, maxTarget) + ", "
		case plexus.Human:
			who = oneLine(writer.Name, maxTarget) + ", "
		case plexus.Host, plexus.Nobody: // what the kernel writes follows from the rest
		}
		return "  (" + who + showWhen(stamp.At, now) + ")"
	}
	line("number", strconv.FormatInt(job.Stamp.Rev, 10), inkNone)
	line("call", oneLine(job.ID, 4*maxTarget), inkNone)
	line("session", oneLine(job.Session, 4*maxTarget), inkNone)
	kind := job.Kind
	if kind != "" {
		kind = " (" + oneLine(kind, maxTarget) + ")"
	}
	line("tool", oneLine(job.Name, 4*maxTarget)+kind, inkBold)
	line("asked by", strings.Trim(by(job.Stamp), " ()"), inkNone)
	b.WriteString(argumentsOf(job.Arguments, s))
	l := job.Leaf
	if l == nil {
		return b.String()
	}
	b.WriteByte('\n')
	written := func(name, field, text string, i ink) {
		if stamp, ok := l.Written[field]; ok {
			line(name, text+by(stamp), i)
		}
	}
	if l.PolicyResult != nil {
		written("policies", "policyResult", *l.PolicyResult, resultInk(*l.PolicyResult))
	} else {
		line("policies", "not asked yet", inkNone)
	}
	for _, e := range effectsIn(l.Explanation) {
		line("", "  "+e.String(), resultInk(e.Result))
	}
	if l.PolicyMessage != nil {
		line("", oneLine(*l.PolicyMessage, 4*maxFull), inkNone)
	}
	if l.JudgeResult != nil {
		written("classifier", "judgeResult", *l.JudgeResult, resultInk(*l.JudgeResult))
	} else if l.JudgeFailMessage != nil {
		line("classifier", fmt.Sprintf("%d failed attempts: %s", l.JudgeFails, oneLine(*l.JudgeFailMessage, 4*maxFull)), inkNone)
	}
	if l.Approved != nil {
		text, i := "no", inkDeny
		if *l.Approved {
			text, i = "yes", inkAllow
		}
		written("answer", "approved", text, i)
	}
	if l.ApprovalComment != nil {
		written("comment", "approvalComment", oneLine(*l.ApprovalComment, 4*maxFull), inkNone)
	}
	switch {
	case l.OrchestrationResult != nil && *l.OrchestrationResult:
		written("decided", "orchestrationResult", "allowed"+reasonOf(l), inkAllow)
		if l.Grant != nil {
			line("", grantText(*l.Grant, now), inkNone)
		}
	case l.OrchestrationResult != nil:
		written("decided", "orchestrationResult", "refused"+reasonOf(l), inkDeny)
	case l.NeedsHuman:
		line("decided", "not yet: it waits for a person", inkAsk)
		for _, o := range strings.SplitAfter(opensText(l.Opens), "\n") {
			line("", strings.TrimSuffix(strings.Replace(o, "open for", "a yes opens for", 1), "\n"), inkNone)
		}
	case l.Cancelled == nil:
		line("decided", "not yet", inkNone)
	}
	written("begun", "bodyStarted", "yes", inkNone)
	written("cancelled", "cancelled", "yes", inkNone)
	if l.Completed != nil {
		written("outcome", "completed", oneLine(middle(outcomeText(l.OutcomeJSON), maxFull), 4*maxFull), inkNone)
	}
	return b.String()
}

func reasonOf(l *wire.Leaf) string {
	if l.LicenseReason == nil {
		return ""
	}
	for r := range approval.ClassifierDenied + 1 {
		if r.Name() == *l.LicenseReason && r != approval.NothingDecides {
			return ": " + r.String()
		}
	}
	return ": " + oneLine(*l.LicenseReason, maxTarget)
}

// outcomeText is what an outcome says, or all of it where it says more than
// that.
func outcomeText(outcome jsontext.Value) string {
	var said struct {
		OK   bool    `json:"ok"`
		Text *string `json:"text"`
		Code string  `json:"code"`
	}
	if json.Unmarshal(outcome, &said, json.RejectUnknownMembers(true)) != nil || said.Text == nil {
		return string(outcome)
	}
	return *said.Text
}

// argumentsOf are the arguments of a call, its command as text and the others
// as they are, nothing left out.
func argumentsOf(arguments jsontext.Value, s screen) string {
	var b strings.Builder
	var members map[string]jsontext.Value
	if json.Unmarshal(arguments, &members) != nil || len(members) == 0 {
		return ""
	}
	for _, name := range []string{"command", "cmd"} {
		var text string
		if json.Unmarshal(members[name], &text) != nil {
			continue
		}
		b.WriteByte('\n')
		for part := range strings.Lines(text) {
			hang(&b, "  ", draw(strings.TrimSuffix(part, "\n")).Text, "    ", s.width)
		}
		if len(members) == 1 {
			return b.String()
		}
	}
	v := arguments.Clone()
	if v.Indent() != nil {
		v = arguments
	}
	b.WriteByte('\n')
	for part := range strings.Lines(string(v)) {
		hang(&b, "  ", draw(strings.TrimSuffix(part, "\n")).Text, "    ", s.width)
	}
	return b.String()
}

// effectShown is what the floor's explanation says of one effect.
type effectShown struct {
	Kind   string `json:"kind"`
	Target string `json:"target"`
	Result string `json:"result"`
	Rule   string `json:"rule"`
}

func (e effectShown) String() string {
	text := fmt.Sprintf("%-5s  %-6s  %s", oneLine(e.Result, 8), oneLine(e.Kind, 8), oneLine(middle(e.Target, maxFull), 4*maxFull))
	if e.Rule != "" {
		text += "  " + oneLine(e.Rule, 4*maxTarget)
	}
	return text
}

// effectsIn are the effects in an explanation, none when it has another form.
func effectsIn(explanation jsontext.Value) []effectShown {
	var e struct {
		Effects []effectShown `json:"effects"`
	}
	if json.Unmarshal(explanation, &e) != nil {
		return nil
	}
	return e.Effects
}
