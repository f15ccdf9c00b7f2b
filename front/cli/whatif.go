package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"assent/approval"
	"assent/floor"
	"assent/floor/effect"
	"assent/internal/misread"
	"assent/internal/oneline"
)

// newWhatif is `assent whatif`: the law asked about states instead of calls.
func newWhatif() *cobra.Command {
	return &cobra.Command{
		Use:   "whatif",
		Short: "Say what the law decides for votes and sessions you describe",
		Long: `Whatif reads one JSON object a line from standard input, each a tool call with
its votes and a view of its session, and writes one line for each: which side
the license takes, whether a person is asked, and the words that led there.
Nothing is run, stored or looked up. It is for trying out modes and grants
before they are given, and for whoever builds on the law.

The words:

  leaf        one tool call, as it stands while it is being decided
  vote        what one party said of it: the floor its policyResult, the
              classifier its judgeResult, a person approved
  license     what follows from the votes: allow (it may run), deny (it may
              not), wait (somebody has still to say something)
  session     the work the call belongs to, with its mode: manual (what the
              floor leaves open goes to a person), auto (a classifier is asked
              instead), yolo (whatever is no block runs)
  cluster     the kind of tool, which grants are about: bash, read, write, web,
              comm (assent's own messages between agents) or mcp (any other)
  grant       autoAllow for one session, standingAutoAllow for all: in mode auto,
              calls of that cluster on which the floor says ask need nobody;
              write, bash and the look-ups of mcp can be granted
  cover deny  autoCoverDeny: in mode auto a person who sits at the session, and
              not the classifier, answers what the floor denies
  hatch       a call that fetches a package to run it (npx, bunx): no grant
              covers it
  attended    whether a person sits at the session

In:

  {"leaf":    {"name": "Bash", "arguments": {"command": "make"},
               "policyResult": "ask", "judgeResult": null,
               "judgeFailMessage": null, "approved": null},
   "session": {"currentPolicy": "auto", "attended": true,
               "autoAllow": {"write": false, "bash": true, "mcp": false},
               "standingAutoAllow": {}, "autoCoverDeny": true,
               "workspace": "/home/user/project", "readAllowlist": ["/opt/sdk"]}}

Out:

  {"license": "allow", "needsHuman": false, "autoRemainder": null,
   "autoAllowSkip": true, "autoClassifierPending": false,
   "cluster": "bash", "hatch": false}

autoRemainder is what mode auto has still to get answered, the floor's ask or
deny that no grant answers, or null. autoAllowSkip says that a grant
answers the call, autoClassifierPending that the classifier is
to answer and has not.

leaf
  name              the tool, in the spelling of any common client, or one of
                    assent's own job kinds and side-channel tools; required
  arguments         an object, or text that holds one; default {}
  policyResult      allow, ask, deny, block or null (not evaluated)
  judgeResult       allow, deny or null
  judgeFailMessage  text or null; any text means that an attempt failed
  approved          true, false or null
  cancelled, completed, orchestrationResult, policyMessage, approvalComment,
  outcomeJson       the other fields of a leaf, default null

session
  currentPolicy     manual, auto, yolo, or always-approve for yolo; an unknown
                    name is manual, plan and act are errors; default manual
  autoAllow, standingAutoAllow
                    the granted clusters, default none
  autoCoverDeny     default true
  attended          false for a session that the eval client started;
                    default true
  workspace, home   absolute paths, default unknown
  readAllowlist     prepared paths that a person opened for reading

Members that are not listed and members that appear twice are errors. A line
that cannot be read is answered {"error":"line N: ..."} in its place and the
next one is read; blank lines are skipped. Paths are prepared by their text
alone: symlinks are not looked up.

The exit code is 0, 2 when any line was an error, 1 when reading or writing
failed.`,
		Example: `  echo '{"leaf":{"name":"Bash","policyResult":"ask"}}' | assent whatif`,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			failed, err := whatif(cmd.InOrStdin(), cmd.OutOrStdout())
			if err != nil {
				return err
			}
			if failed > 0 {
				// The rows have said what is wrong with them.
				cmd.SilenceErrors, cmd.SilenceUsage = true, true
				return rowErrors(failed)
			}
			return nil
		},
	}
}

// rowErrors is the error of a run in which rows could not be read.
type rowErrors int

func (n rowErrors) Error() string { return fmt.Sprintf("%d rows could not be read", int(n)) }

// ExitCode is the exit code of such a run.
func (rowErrors) ExitCode() int { return exitUsage }

// maxRow bounds a line. It leaves room for the largest texts the floor is
// asked about, many times over.
const maxRow = 16 << 20

// whatif answers every row of in, and tells how many were errors. Its own
// error is one of reading or writing.
func whatif(in io.Reader, out io.Writer) (failed int, err error) {
	r, w := bufio.NewReader(in), bufio.NewWriter(out)
	for n := 1; ; n++ {
		line, readErr := readRow(r)
		if readErr != nil && !errors.Is(readErr, errLongRow) {
			if readErr != io.EOF {
				return failed, fmt.Errorf("reading rows: %w", readErr)
			}
			return failed, w.Flush()
		}
		if n == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		if readErr == nil && len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		answer, rowErr := whatifAnswer{}, readErr
		if rowErr == nil {
			answer, rowErr = answerRow(line)
		}
		var encoded []byte
		if rowErr == nil {
			encoded, rowErr = json.Marshal(answer)
		}
		if rowErr != nil {
			failed++
			encoded, err = json.Marshal(rowError{fmt.Sprintf("line %d: %v", n, rowErr)}, jsontext.AllowInvalidUTF8(true))
			if err != nil {
				return failed, fmt.Errorf("writing rows: %w", err)
			}
		}
		w.Write(oneline.JSON(encoded))
		if err := w.WriteByte('\n'); err != nil {
			return failed, fmt.Errorf("writing rows: %w", err)
		}
		// Somebody who types rows, or pipes them one by one, gets each answer
		// before the next is read.
		if r.Buffered() == 0 {
			if err := w.Flush(); err != nil {
				return failed, fmt.Errorf("writing rows: %w", err)
			}
		}
	}
}

var errLongRow = fmt.Errorf("longer than %d bytes", maxRow)

// readRow reads one line without its end. A line that is too long is read to
// its end and thrown away.
func readRow(r *bufio.Reader) ([]byte, error) {
	var row []byte
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if !long {
			row = append(row, part...)
		}
		if len(row) > maxRow {
			row, long = nil, true
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && (len(row) > 0 || long), err == nil:
			if long {
				return nil, errLongRow
			}
			return bytes.TrimSuffix(row, []byte("\n")), nil
		}
		return nil, err
	}
}

type rowError struct {
	Error string `json:"error"`
}

type whatifRow struct {
	Leaf    *whatifLeaf   `json:"leaf"`
	Session whatifSession `json:"session"`
}

type whatifLeaf struct {
	Name                *string                `json:"name"`
	Arguments           jsontext.Value         `json:"arguments"`
	PolicyResult        approval.PolicyResult  `json:"policyResult"`
	PolicyMessage       *string                `json:"policyMessage"`
	JudgeResult         approval.JudgeResult   `json:"judgeResult"`
	JudgeFailMessage    *string                `json:"judgeFailMessage"`
	Approved            approval.Answer        `json:"approved"`
	ApprovalComment     *string                `json:"approvalComment"`
	OrchestrationResult approval.Orchestration `json:"orchestrationResult"`
	Cancelled           bool                   `json:"cancelled"`
	Completed           bool                   `json:"completed"`
	OutcomeJSON         jsontext.Value         `json:"outcomeJson"`
}

type whatifSession struct {
	CurrentPolicy     *string         `json:"currentPolicy"`
	AutoAllow         approval.Grants `json:"autoAllow"`
	StandingAutoAllow approval.Grants `json:"standingAutoAllow"`
	AutoCoverDeny     *bool           `json:"autoCoverDeny"`
	Attended          *bool           `json:"attended"`
	Workspace         string          `json:"workspace"`
	Home              string          `json:"home"`
	ReadAllowlist     []string        `json:"readAllowlist"`
}

type whatifAnswer struct {
	License               approval.License      `json:"license"`
	NeedsHuman            bool                  `json:"needsHuman"`
	AutoRemainder         approval.PolicyResult `json:"autoRemainder"`
	AutoAllowSkip         bool                  `json:"autoAllowSkip"`
	AutoClassifierPending bool                  `json:"autoClassifierPending"`
	Cluster               approval.Cluster      `json:"cluster"`
	Hatch                 bool                  `json:"hatch"`
}

// answerRow asks the law about one row.
func answerRow(line []byte) (whatifAnswer, error) {
	var row whatifRow
	if err := json.Unmarshal(line, &row, json.RejectUnknownMembers(true)); err != nil {
		return whatifAnswer{}, plainJSONError(line, err)
	}
	session, err := row.Session.session()
	if err != nil {
		return whatifAnswer{}, err
	}
	leaf, err := row.Leaf.leaf(session)
	if err != nil {
		return whatifAnswer{}, err
	}
	license, _ := approval.LicenseDecision(leaf, session)
	return whatifAnswer{
		License:               license,
		NeedsHuman:            approval.NeedsHuman(leaf, session),
		AutoRemainder:         approval.AutoRemainder(leaf, session),
		AutoAllowSkip:         approval.AutoAllowSkip(leaf, session),
		AutoClassifierPending: approval.AutoClassifierPending(leaf, session),
		Cluster:               leaf.Cluster(),
		Hatch:                 leaf.Hatch(),
	}, nil
}

func (s *whatifSession) session() (approval.Session, error) {
	session := approval.Session{
		AutoAllow:         s.AutoAllow,
		StandingAutoAllow: s.StandingAutoAllow,
		Workspace:         s.Workspace,
		Home:              s.Home,
		ReadAllowlist:     s.ReadAllowlist,
	}
	if s.CurrentPolicy != nil {
		mode, err := approval.ParseMode(*s.CurrentPolicy)
		if err != nil {
			return approval.Session{}, fmt.Errorf("session.currentPolicy: %w", err)
		}
		session.CurrentPolicy = mode
	}
	if s.AutoCoverDeny != nil {
		session.AutoCoverDeny = approval.CoverDenyOf(*s.AutoCoverDeny)
	}
	if s.Attended != nil {
		session.Seat = approval.SeatOf(*s.Attended)
	}
	for _, dir := range []struct{ member, path string }{{"workspace", s.Workspace}, {"home", s.Home}} {
		if dir.path != "" && !path.IsAbs(dir.path) {
			return approval.Session{}, fmt.Errorf("session.%s: %q is not an absolute path", dir.member, dir.path)
		}
	}
	return session, nil
}

// leaf is the described leaf as the host itself would have minted it: a name
// of the host's own tools gives the kind of its jobs (law §8).
func (l *whatifLeaf) leaf(session approval.Session) (approval.Leaf, error) {
	if l == nil {
		return approval.Leaf{}, errors.New("leaf: missing")
	}
	if l.Name == nil || *l.Name == "" {
		return approval.Leaf{}, errors.New("leaf.name: missing")
	}
	arguments, err := objectArguments(l.Arguments)
	if err != nil {
		return approval.Leaf{}, fmt.Errorf("leaf.arguments: %w", err)
	}
	leaf := approval.Leaf{
		Kind:                approval.KindOf(*l.Name),
		Name:                *l.Name,
		Arguments:           arguments,
		PolicyResult:        l.PolicyResult,
		PolicyMessage:       textOf(l.PolicyMessage),
		JudgeResult:         l.JudgeResult,
		JudgeFailMessage:    textOf(l.JudgeFailMessage),
		Approved:            l.Approved,
		ApprovalComment:     textOf(l.ApprovalComment),
		OrchestrationResult: l.OrchestrationResult,
		Cancelled:           l.Cancelled,
		Completed:           l.Completed,
	}
	if len(l.OutcomeJSON) > 0 && l.OutcomeJSON.Kind() != 'n' {
		leaf.OutcomeJSON = approval.Written(string(l.OutcomeJSON))
	}
	leaf.Paths = approval.LexicalPaths(leaf, session)
	leaf.RunsHatch = runsHatch(leaf, session)
	return leaf, nil
}

func textOf(s *string) approval.Text {
	if s == nil {
		return approval.Text{}
	}
	return approval.Written(*s)
}

// objectArguments reads the arguments of a call: an object, text that holds
// one, or nothing.
func objectArguments(v jsontext.Value) ([]byte, error) {
	switch {
	case len(v) == 0 || v.Kind() == 'n':
		return nil, nil
	case v.Kind() == '{':
		return v, nil
	case v.Kind() != '"':
		return nil, errors.New("want an object, text that holds one, or null")
	}
	var text string
	if err := json.Unmarshal(v, &text); err != nil {
		return nil, plainJSONError(v, err)
	}
	inner := jsontext.Value(text)
	if !inner.IsValid() || inner.Kind() != '{' {
		return nil, errors.New("the text holds no JSON object")
	}
	return inner, nil
}

// runsHatch is the half of hatch that only the floor can tell: whether a bash
// call runs npx or bunx however it is spelled (law ruling 11).
// A doubt takes the grant away, and so does a reader that breaks down.
func runsHatch(leaf approval.Leaf, session approval.Session) (runs bool) {
	if leaf.Cluster() != approval.Bash {
		return false
	}
	defer func() {
		if recover() != nil {
			runs = true
		}
	}()
	effects, _ := floor.Effects(floor.Call{
		Name: leaf.Name, Arguments: leaf.Arguments,
		Workspace: session.Workspace, Home: session.Home,
	})
	for _, e := range effects {
		if e.Kind != effect.Run || e.Command == nil {
			continue
		}
		switch path.Base(e.Command.Program) {
		case "npx", "bunx":
			return true
		}
	}
	return false
}

// plainJSONError is a JSON error in the words of the row: where, and what.
func plainJSONError(text []byte, err error) error {
	if e, ok := errors.AsType[*json.SemanticError](err); ok {
		where := strings.ReplaceAll(strings.TrimPrefix(string(e.JSONPointer), "/"), "/", ".")
		switch {
		case where == "":
			where = "row"
		case e.Err == json.ErrUnknownName:
			return fmt.Errorf("%s: unknown member", where)
		case e.Err != nil:
			return fmt.Errorf("%s: %w", where, e.Err)
		}
		return fmt.Errorf("%s: want %s", where, kindOfValue(e.GoType))
	}
	if f, ok := misread.JSON(text, err); ok {
		return errors.New(f.In(text))
	}
	return err
}

// kindOfValue says what a member holds, for people.
func kindOfValue(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	case reflect.Pointer:
		return kindOfValue(t.Elem())
	}
	return "an object"
}
