package plexus

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"assent/approval"
)

// twin is the document in memory, by the law's own functions for writing and
// the engine's rules beside them, as plainly as they can be said. It knows one
// attended session "s" with leaves, a communication and a sequence.
type twin struct {
	rev  Rev
	jobs map[string]*twinJob
	// spoke is when a register of the session, and of the kernel, was last
	// written.
	spoke map[string]Rev
}

type twinJob struct {
	leaf     approval.Leaf
	sequence bool
	fails    int
	spoke    Rev // when a person wrote here last, or it was cancelled
	others   map[string]string
	at       map[string]Rev // the Tx each field came with
}

func (d *twin) clone() *twin {
	c := &twin{rev: d.rev, spoke: maps.Clone(d.spoke), jobs: make(map[string]*twinJob)}
	for id, j := range d.jobs {
		k := *j
		k.others, k.at = maps.Clone(j.others), maps.Clone(j.at)
		c.jobs[id] = &k
	}
	return c
}

var errTwin = errors.New("refused by the twin")

// apply is the document after the Tx, or that it is refused.
func (d *twin) apply(tx Tx) (*twin, error) {
	after := d.clone()
	first := d.rev + 1
	for _, row := range tx.Writes {
		var err error
		switch r := row.(type) {
		case Register:
			if tx.Writer.Role == Agent || tx.Seen > 0 && max(d.spoke[r.Session], d.spoke[""]) > tx.Seen {
				err = errTwin
			}
			after.spoke[r.Session] = after.rev + 1
		case Job:
			_, exists := after.jobs[r.ID]
			if exists || tx.Writer.Role == Agent && r.Kind != "" {
				err = errTwin
			} else {
				kind, leaf := approval.KindNamed(r.Kind)
				after.jobs[r.ID] = &twinJob{leaf: approval.Leaf{ID: r.ID, Kind: kind, Name: r.Name}, sequence: !leaf,
					others: make(map[string]string), at: make(map[string]Rev)}
			}
		case Field:
			err = after.field(d, tx, first, r)
		}
		if err != nil {
			return d, err
		}
		after.rev++
	}
	return after, nil
}

// field writes on d; before is the document before the Tx.
func (d *twin) field(before *twin, tx Tx, first Rev, f Field) error {
	human := f.Name == Approved || f.Name == ApprovalComment
	j := d.jobs[f.Job]
	switch {
	case human && tx.Writer.Role != Human, !human && tx.Writer.Role != Host, j == nil:
		return errTwin
	case j.sequence && f.Name != Cancelled && f.Name != OutcomeJSON && f.Name != Completed:
		return errTwin
	}
	if f.Name == OutcomeJSON && !slices.ContainsFunc(tx.Writes, func(r Row) bool {
		g, ok := r.(Field)
		return ok && g.Job == f.Job && g.Name == Completed
	}) {
		return errTwin
	}
	if was := before.jobs[f.Job]; tx.Seen > 0 && (max(before.spoke["s"], before.spoke[""]) > tx.Seen || was != nil && was.spoke > tx.Seen) {
		return errTwin
	}
	// Between outcomeJson and completed nothing of the host may stand.
	if j.leaf.OutcomeJSON.Written && !human && f.Name != Completed {
		return errTwin
	}
	l, err := j.leaf, error(nil)
	comm := l.Cluster() == approval.Comm
	switch f.Name {
	case PolicyResult:
		result, _ := approval.ParsePolicyResult(strings.Trim(f.Value, `"`))
		l, err = l.WritePolicy(result, approval.Text{})
	case PolicyMessage:
		if j.at[PolicyResult] != first || l.PolicyMessage.Written {
			return errTwin
		}
		l.PolicyMessage = approval.Written(strings.Trim(f.Value, `"`))
	case JudgeResult:
		vote := map[string]approval.JudgeResult{`"allow"`: approval.JudgeAllow, `"deny"`: approval.JudgeDeny}[f.Value]
		l, err = l.WriteJudge(vote)
	case JudgeFail(j.fails + 1):
		l, err = l.WriteJudgeFail(strings.Trim(f.Value, `"`))
		j.fails++
	case Approved:
		l, err = l.WriteApproved(f.Value == True)
	case ApprovalComment:
		l, err = l.WriteComment(strings.Trim(f.Value, `"`))
	case OrchestrationResult:
		yes := f.Value == True
		judged := l.PolicyResult != approval.None && l.PolicyResult != approval.Block
		refusal := l.Approved == approval.No || l.PolicyResult == approval.Block || l.JudgeResult == approval.JudgeDeny
		switch {
		case tx.Seen == 0, comm && !yes, !comm && yes && (l.Approved == approval.No || !judged), !comm && !yes && !refusal:
			return errTwin
		}
		l, err = l.WriteOrchestration(yes)
	case BodyStarted:
		if l.OrchestrationResult != approval.Licensed || l.Cancelled || l.Completed || j.others[f.Name] != "" {
			return errTwin
		}
		j.others[f.Name] = f.Value
	case Cancelled:
		l, err = l.WriteCancelled()
	case OutcomeJSON:
		if !j.sequence && l.Open() || l.Completed {
			return errTwin
		}
		l.OutcomeJSON = approval.Written(f.Value)
	case Completed:
		if !l.OutcomeJSON.Written {
			return errTwin
		}
		l, err = l.WriteCompleted(l.OutcomeJSON.Value)
	default:
		return fmt.Errorf("%w: %s", errTwin, f.Name)
	}
	if err != nil {
		return err
	}
	j.leaf = l
	j.at[f.Name] = first
	if human || f.Name == Cancelled {
		j.spoke = d.rev + 1
	}
	return nil
}

// Whatever is written in whatever order, the document takes what the twin
// takes, holds what it holds, and its chain is whole.
func TestTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir := filepath.Join(tempDir(t), "document")
		s, err := Open(dir, Options{Now: at})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}()
		d := &twin{jobs: make(map[string]*twinJob), spoke: make(map[string]Rev)}
		rev, err := s.Apply(t.Context(), Tx{Writer: host, Writes: []Row{Session{ID: "s"}}})
		if err != nil {
			t.Fatal(err)
		}
		d.rev = rev
		for range rapid.IntRange(10, 60).Draw(t, "steps") {
			tx := drawTx(t, d)
			after, want := d.apply(tx)
			rev, got := s.Apply(t.Context(), tx)
			if (got == nil) != (want == nil) {
				t.Fatalf("%+v: the document says %v, the twin %v", tx, got, want)
			}
			if got == nil && rev != after.rev {
				t.Fatalf("rev %d, the twin's is %d", rev, after.rev)
			}
			d = after
		}
		snap, err := s.Session(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		got := make(map[string]approval.Leaf)
		for _, job := range snap.Jobs {
			if job.Sequence() {
				continue
			}
			if got[job.ID], err = snap.Leaf(job); err != nil {
				t.Fatal(err)
			}
		}
		want := make(map[string]approval.Leaf)
		for id, j := range d.jobs {
			if !j.sequence {
				want[id] = j.leaf
			}
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("the document differs from the twin (-twin +document):\n%s", diff)
		}
		if _, err := s.Verify(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

func drawTx(t *rapid.T, d *twin) Tx {
	tx := Tx{Writer: rapid.SampledFrom([]Writer{host, host, host, human, human, agent}).Draw(t, "writer")}
	tx.Seen = rapid.SampledFrom([]Rev{0, d.rev, d.rev, max(0, d.rev-1), d.rev / 2}).Draw(t, "seen")
	ids := []string{"a", "b", "comm", "turn"}
	id := rapid.SampledFrom(ids).Draw(t, "job")
	field := func(job string) Row {
		bools := []string{True, False}
		text := []string{`"x"`, `""`}
		f := rapid.SampledFrom([]struct {
			name   string
			values []string
		}{
			{PolicyResult, []string{`"allow"`, `"ask"`, `"ask"`, `"deny"`, `"block"`}}, {PolicyMessage, text}, {JudgeResult, []string{`"allow"`, `"deny"`}},
			{JudgeFail(1), text}, {JudgeFail(2), text}, {Approved, bools}, {ApprovalComment, text}, {OrchestrationResult, bools}, {OrchestrationResult, bools},
			{BodyStarted, []string{True}}, {Cancelled, []string{True}}, {OutcomeJSON, []string{`{}`}}, {Completed, []string{True}},
		}).Draw(t, "field")
		return Field{Session: "s", Job: job, Name: f.name, Value: rapid.SampledFrom(f.values).Draw(t, "value")}
	}
	// What kernels write, so that the states behind it are reached.
	f := func(name, value string) Row { return Field{Session: "s", Job: id, Name: name, Value: value} }
	switch rapid.IntRange(0, 9).Draw(t, "shape") {
	case 0:
		kinds := map[string]string{"comm": "AgentMessageJob", "turn": SessionTurn}
		tx.Writes = []Row{Job{Session: "s", ID: id, Kind: kinds[id], Name: "Bash"}}
	case 1:
		tx.Writes = []Row{Register{Session: rapid.SampledFrom([]string{"s", ""}).Draw(t, "of"), Name: AutoCoverDeny, Value: True}}
	case 2:
		tx.Writes = []Row{f(PolicyResult, `"ask"`), f(PolicyMessage, `"x"`)}
	case 3:
		tx.Writes = []Row{f(OutcomeJSON, `{}`), f(Completed, True)}
	case 4:
		tx.Writes = []Row{f(OrchestrationResult, False), f(OutcomeJSON, `{}`), f(Completed, True)}
	case 5:
		tx.Writes = []Row{f(Cancelled, True), f(OutcomeJSON, `{}`), f(Completed, True)}
	default:
		for range rapid.IntRange(1, 3).Draw(t, "writes") {
			tx.Writes = append(tx.Writes, field(rapid.SampledFrom([]string{id, id, id, "a"}).Draw(t, "on")))
		}
	}
	return tx
}
