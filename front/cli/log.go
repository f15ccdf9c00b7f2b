package cli

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"assent/front/api/client"
	"assent/front/api/wire"
)

func newLog() *cobra.Command {
	d := &dialer{}
	f := client.CallFilter{}
	since, until := "", ""
	cmd := &cobra.Command{
		Use:   "log",
		Short: "Say who or what decided every call",
		Long: `Log lists calls, the newest first: when each came, what became of it, and who or
what decided that, or cancelled it: a person by name, a policy, the classifier, a mode, or a grant by
its number, as "assent grant list" says it. RAN stands behind the result of a call that its
client says it ran, and that was not licensed so: it was refused or still waited, it ran
with other arguments, or nobody was asked. --result ran lists these, "assent show" says
how it ran, and --json has it as "ran".

--since and --until take how long ago (15m, 2h, 7d), a day or a time.`,
		Example: `  assent log --since 2h --result deny
  assent log --session 7GKQ --tool Bash --json
  assent log export > document.jsonl
  assent log verify`,
		Args: subcommandOnly,
		RunE: d.asking(func(cmd *cobra.Command, c *client.Client, _ []string) error {
			if f.Limit < 0 {
				return usagef("--limit %d: want a number from 0 on", f.Limit)
			}
			now := time.Now()
			var err error
			for _, t := range []struct {
				text string
				at   *time.Time
			}{{since, &f.Since}, {until, &f.Until}} {
				if t.text != "" {
					if *t.at, err = parseWhen(t.text, now); err != nil {
						return err
					}
				}
			}
			switch f.Result {
			case "", "allow", "deny", "block", "cancelled", "wait", "ran":
			default:
				return usagef("--result %q: want allow, deny, block, cancelled, wait or ran", oneLine(f.Result, maxTarget))
			}
			if f.Session, err = findSession(cmd.Context(), c, f.Session); err != nil {
				return err
			}
			calls, err := c.Calls(cmd.Context(), f)
			if err != nil {
				return err
			}
			if d.json {
				return writeJSON(cmd.OutOrStdout(), calls)
			}
			if len(calls.Calls) == 0 {
				_, err := fmt.Fprintln(cmd.OutOrStdout(), "no calls")
				return err
			}
			g := grid{head: []string{"WHEN", "SESSION", "CALL", "RESULT", "BY", "TOOL", "WHAT"}}
			var sessions []string
			for _, call := range calls.Calls {
				sessions = append(sessions, call.Session)
			}
			session, ran := shortIDs(sessions), 0
			for _, call := range calls.Calls {
				g.add(plainCell(showWhen(call.Stamp.At, now)), plainCell(session[call.Session]), plainCell(strconv.FormatInt(call.Number, 10)), resultCell(call),
					plainCell(byOf(call)), plainCell(call.Name), plainCell(whatOf(call.Arguments)))
				if call.Ran != nil {
					ran++
				}
			}
			s := screenOf(cmd.OutOrStdout())
			if err := g.write(cmd.OutOrStdout(), s); err != nil {
				return err
			}
			if ran > 0 {
				text := fmt.Sprintf("%s ran and %s not licensed so; \"assent show CALL\" says how.", count(ran, "call"), wereOrWas(ran))
				if _, err := fmt.Fprintln(cmd.OutOrStdout(), inkBlock.of(s.paint, text)); err != nil {
					return err
				}
			}
			return more(cmd, calls.More)
		}),
	}
	d.flags(cmd)
	sessionFlag(cmd, &f.Session, "only of this session")
	cmd.Flags().StringVar(&since, "since", "", "only calls that came at this `time` or later")
	cmd.Flags().StringVar(&until, "until", "", "only calls that came before this `time`")
	cmd.Flags().StringVar(&f.Result, "result", "", "only what has this `result`: allow, deny (blocked, too), block, cancelled or wait; ran: what ran unlicensed")
	cmd.Flags().StringVar(&f.Tool, "tool", "", "only calls of this `tool`")
	cmd.Flags().IntVar(&f.Limit, "limit", 0, "list no more than this `number` (100)")
	if err := cmd.RegisterFlagCompletionFunc("result", cobra.FixedCompletions([]string{"allow", "deny", "block", "cancelled", "wait", "ran"}, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the flag is there
	}
	_ = cmd.RegisterFlagCompletionFunc("tool", completeTools)
	cmd.AddCommand(newLogExport(), newVerify("verify"))
	return cmd
}

// resultCell is what became of a call, and whether it ran in spite of that.
func resultCell(call wire.Call) gridCell {
	switch {
	case call.Ran == nil:
		return gridCell{call.Result, resultInk(call.Result)}
	case call.Ran.How == "otherwise":
		return gridCell{call.Result + ", RAN OTHERWISE", inkBlock}
	case call.Ran.How == "waiting":
		return gridCell{"RAN UNANSWERED", inkBlock}
	case call.Ran.How == "unasked":
		return gridCell{"RAN UNASKED", inkBlock}
	}
	return gridCell{call.Result + ", RAN", inkBlock}
}

func wereOrWas(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// byOf is who decided, with what they said to it.
func byOf(call wire.Call) string {
	by := strings.TrimPrefix(call.By, "human:")
	if name, ok := strings.CutPrefix(by, "agent:"); ok {
		by = "agent " + name
	}
	switch {
	case call.Grant != nil:
		return "grant " + strconv.FormatInt(call.Grant.Number, 10)
	case by == "":
		return "-"
	}
	return by
}

func newLogExport() *cobra.Command {
	d, session, after, name := &dialer{}, "", int64(0), ""
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write the rows of the document as lines of JSON",
		Long: `Export writes every row of the document in the order of its commits, one JSON
object a line: sessions, jobs, fields and registers, each with who wrote it,
when, and the hash that ties it to the row before. What was exported once is
gone on from with --after and the last rev.`,
		Example: "  assent log export --after 12345 >> document.jsonl",
		Args:    noArguments,
		RunE: d.asking(func(cmd *cobra.Command, c *client.Client, _ []string) (err error) {
			if after < 0 {
				return usagef("--after %d: want a rev", after)
			}
			if session, err = findSession(cmd.Context(), c, session); err != nil {
				return err
			}
			var out io.Writer = cmd.OutOrStdout()
			if name != "" {
				f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
				if err != nil {
					return usageError{err}
				}
				defer func() {
					if e := f.Close(); err == nil {
						err = e
					}
				}()
				out = f
			}
			b := bufio.NewWriter(out)
			for {
				page, err := c.Rows(cmd.Context(), after, session)
				if err != nil {
					return err
				}
				for _, row := range page.Rows {
					if err := writeJSON(b, row); err != nil {
						return err
					}
				}
				if !page.More {
					return b.Flush()
				}
				after = page.Next
			}
		}),
	}
	cmd.Flags().StringVar(&d.socket, "socket", "", "the kernel's socket, for one that runs elsewhere: its `path`")
	sessionFlag(cmd, &session, "only rows of this session")
	cmd.Flags().Int64Var(&after, "after", 0, "begin after this `rev`")
	cmd.Flags().StringVarP(&name, "output", "o", "", "write to this `file`, which must not be there yet")
	return cmd
}

// newVerify is `assent verify` and `assent log verify`.
func newVerify(name string) *cobra.Command {
	d := &dialer{}
	var heads []string
	cmd := &cobra.Command{
		Use:   name,
		Short: "Check that the document was not tampered with",
		Long: `Verify reads the whole document and checks that the hash of every row follows
from the row before and its own content. It ends with 1 and names the first row
that does not.

Whoever can write the document's file can make all hashes anew. Keep what
verify says somewhere else and give it with --head next time: a document that was
cut or written anew does not have that row.`,
		Example: `  assent verify
  assent verify --head 812:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08`,
		Args: noArguments,
		RunE: d.asking(func(cmd *cobra.Command, c *client.Client, _ []string) error {
			kept := make([]wire.Head, len(heads))
			for i, text := range heads {
				rev, hash, ok := strings.Cut(text, ":")
				n, err := strconv.ParseInt(rev, 10, 64)
				if !ok || err != nil || n < 1 || len(hash) != 64 || strings.Trim(hash, "0123456789abcdef") != "" {
					return usagef("--head %q: want REV:HASH, as verify says it", oneLine(text, maxTarget))
				}
				kept[i] = wire.Head{Rev: n, Hash: hash}
			}
			v, err := c.Verify(cmd.Context(), kept...)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			switch {
			case d.json:
				err = writeJSON(out, v)
			case v.OK:
				_, err = fmt.Fprintf(out, "the document is whole: %d rows\nhead %d:%s\n", v.Head.Rev, v.Head.Rev, v.Head.Hash)
			default:
				row := ""
				if v.Damage.Row != "" {
					row = " (" + oneLine(v.Damage.Row, 4*maxTarget) + ")"
				}
				_, err = fmt.Fprintf(out, "%s\nrev %d%s: %s\n", inkBlock.of(screenOf(out).paint, "the document was tampered with or damaged"),
					v.Damage.Rev, row, oneLine(v.Damage.What, 4*maxTarget))
			}
			if err == nil && !v.OK {
				err = ended(exitFailed)
			}
			return err
		}),
	}
	d.flags(cmd)
	cmd.Flags().StringArrayVar(&heads, "head", nil, "a row that must be there: `REV:HASH`")
	return cmd
}
