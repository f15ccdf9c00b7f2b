package session

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"assent/approval"

	"pgregory.net/rapid"
)

// Whatever happens in whatever order, crashes and a full disk included: what a
// host must never see is not seen (life_test.go says what that is), and when
// all that was asked for is answered, every leaf is settled or waits for a
// person. When people have answered too, nothing is left.
func TestAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLife(t)
		actions := l.actions()
		actions[""] = func(*rapid.T) { l.compare() }
		t.Repeat(actions)
		l.drain(t)
		for _, id := range l.unsettled() {
			if !l.m.jobs[id].leaf.asked {
				t.Errorf("%s is not settled, and nobody is asked: %s", id, l.story(id))
			}
		}
		for len(l.m.queue) > 0 {
			head, _ := l.m.Head("")
			if err := l.doc.person(nil, Field{head, Approved, rapid.SampledFrom([]string{"true", "false"}).Draw(t, "answer")}); err != nil {
				t.Fatalf("%s is asked about and takes no answer: %v", head, err)
			}
			l.drain(t)
		}
		if !l.m.Idle() {
			t.Errorf("%d leaves, %d saves, %d waiting are left", l.m.Unsettled(), len(l.m.saves), len(l.m.retries))
		}
		for _, j := range l.doc.jobs {
			if !j.Kind.Sequence() {
				l.settledWell(j.ID)
			}
		}
	})
}

// randomLife is a life with a hand that draws what happens.
type randomLife struct {
	*life
	minted int
}

func drawLife(t *rapid.T) *randomLife {
	facts := Facts{Workspace: "/w", Home: "/home/u", Seat: approval.SeatOf(rapid.IntRange(0, 3).Draw(t, "seat") > 0)}
	l := &randomLife{life: &life{facts: facts, doc: newDocument(facts)}}
	l.lenient = func() bool { return rapid.Bool().Draw(t, "lenient") }
	l.wrong = func(format string, args ...any) { t.Helper(); t.Fatalf(format, args...) }
	mode := rapid.SampledFrom([]string{`"auto"`, `"yolo"`}).Draw(t, "mode")
	if facts.Seat == approval.Attended {
		mode = rapid.SampledFrom([]string{`"manual"`, `"auto"`, `"yolo"`}).Draw(t, "mode")
	}
	if err := l.doc.host([]Register{{Name: StandingPolicy, Value: mode}}); err != nil {
		t.Fatal(err)
	}
	l.open()
	return l
}

// somebody is a job, now and then one that is settled or that nobody knows.
func (l *randomLife) somebody(t *rapid.T) JobID {
	if l.minted == 0 {
		t.Skip("no jobs")
	}
	return JobID(fmt.Sprintf("j%d", rapid.IntRange(max(1, l.minted-6), l.minted).Draw(t, "job")))
}

// whatRuns is an action that was started and has not ended.
func (l *randomLife) whatRuns(t *rapid.T, do Do) Action {
	var all []string
	for key, a := range l.running {
		if a.Do == do {
			all = append(all, key)
		}
	}
	if len(all) == 0 {
		t.Skip("none runs")
	}
	slices.Sort(all)
	return l.running[rapid.SampledFrom(all).Draw(t, "running")]
}

var (
	grantsOf = []string{`{"write":true,"bash":true,"mcp":true}`, `{"write":false,"bash":true,"mcp":false}`, `{}`}
	places   = []approval.Path{"", "src/a", "/srv/data/a", "/srv/data/b", "/srv/data/a/c", "/home/u", "/tmp/x"}
	toolsOf  = []string{"Bash", "Read", "Read", "Write", "mcp__a__get_x", "mcp__a__drop_x", "WebFetch", "agent_call"}
)

func (l *randomLife) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"mint":      l.mint,
		"mint more": l.mint,
		"person":    l.person,
		"answer":    l.person,
		"register":  l.register,
		"end": func(t *rapid.T) {
			id := l.somebody(t)
			if j, _ := l.doc.job(id); !j.Kind.Sequence() {
				t.Skip("no sequence")
			}
			_ = l.doc.host(nil, Field{id, OutcomeJSON, `{}`}, Field{id, Completed, "true"})
		},
		"floor": func(t *rapid.T) { l.floor(t) },
		"floor fails": func(t *rapid.T) {
			a := l.whatRuns(t, Floor)
			l.done(Floor, a.Job)
			l.step(FloorFailed{Job: a.Job, Policy: a.Policy, Message: "no"})
		},
		"classifier": func(t *rapid.T) { l.classifier(t, 2) },
		"body":       l.body,
		"late": func(t *rapid.T) {
			id := l.somebody(t)
			n := rapid.IntRange(0, 3).Draw(t, "number")
			l.step(rapid.SampledFrom([]Event{
				FloorDone{Job: id, Policy: -1, Result: approval.Allow},
				FloorFailed{Job: id, Policy: -1},
				ClassifierFailed{Job: id, Attempt: -n},
				ClassifierDone{Job: id},
				Saved{Save: SaveID(1000 + n), Rev: l.doc.rev},
				Refused{Save: SaveID(1000 + n)},
				Committed{Rows{Upto: l.delivered}},
				Committed{l.doc.between(0, l.delivered)},
			}).Draw(t, "event"))
		},
		"cancel": func(t *rapid.T) {
			if rapid.IntRange(0, 9).Draw(t, "all") == 0 {
				l.step(CancelAsked{})
				return
			}
			l.step(CancelAsked{Job: l.somebody(t)})
		},
		"reload": func(*rapid.T) { l.step(PolicyReloaded{}) },
		"save":   l.saveOne,
		"save 2": l.saveOne,
		"heard": func(t *rapid.T) {
			if len(l.acks) == 0 {
				t.Skip("nothing to hear")
			}
			l.ack()
		},
		"deliver": func(t *rapid.T) {
			var ends []Rev
			for _, rev := range l.doc.ends {
				if rev > l.delivered {
					ends = append(ends, rev)
				}
			}
			if len(ends) == 0 {
				t.Skip("all is delivered")
			}
			l.deliver(rapid.SampledFrom(ends).Draw(t, "upto"))
		},
		"disk":  func(*rapid.T) { l.doc.full = !l.doc.full },
		"retry": func(*rapid.T) { l.step(Retry{}) },
		"crash": func(t *rapid.T) {
			if rapid.IntRange(0, 3).Draw(t, "really") == 0 {
				l.open()
			}
		},
	}
}

func (l *randomLife) mint(t *rapid.T) {
	j := Job{ID: JobID(fmt.Sprintf("j%d", l.minted+1)), Ord: int64(rapid.IntRange(0, 3).Draw(t, "ord"))}
	j.Kind = rapid.SampledFrom([]Kind{"", "", "", "", SessionTurn, ProgrammaticJob, "AgentCallJob", "MCPToolJob"}).Draw(t, "kind")
	j.Name = rapid.SampledFrom(toolsOf).Draw(t, "tool")
	if l.minted > 0 && rapid.Bool().Draw(t, "nested") {
		j.Parent = l.somebody(t)
	}
	if l.doc.mint(j) == nil {
		l.minted++
	}
}

func (l *randomLife) person(t *rapid.T) {
	id := l.somebody(t)
	_ = l.doc.person(nil, rapid.SampledFrom([]Field{
		{id, Approved, "true"}, {id, Approved, "true"}, {id, Approved, "false"}, {id, ApprovalComment, `"why"`}, {id, ApprovalComment, `""`},
	}).Draw(t, "field"))
}

func (l *randomLife) register(t *rapid.T) {
	turn := JobID("none")
	if l.minted > 0 {
		turn = l.somebody(t)
	}
	r := rapid.SampledFrom([]Register{
		{Name: StandingPolicy}, {Name: StandingPolicy}, {Name: Overlay + string(turn)},
		{Name: AutoAllow}, {Name: StandingAutoAllow, Kernel: true},
		{Name: AutoCoverDeny}, {Name: AutoCoverDeny, Kernel: true}, {Name: ReadAllowlist},
	}).Draw(t, "register")
	switch r.Name {
	case AutoAllow, StandingAutoAllow:
		r.Value = rapid.SampledFrom(grantsOf).Draw(t, "grants")
	case AutoCoverDeny:
		r.Value = rapid.SampledFrom([]string{"true", "false"}).Draw(t, "cover")
	case ReadAllowlist:
		r.Value = rapid.SampledFrom([]string{`[]`, `["/srv/data"]`, `["/srv/data/a","/home/u"]`}).Draw(t, "keys")
	default:
		r.Value = rapid.SampledFrom([]string{`"manual"`, `"auto"`, `"yolo"`}).Draw(t, "mode")
	}
	_ = l.doc.person([]Register{r})
}

func (l *randomLife) floor(t *rapid.T) {
	a := l.whatRuns(t, Floor)
	l.done(Floor, a.Job)
	ev := FloorDone{Job: a.Job, Policy: a.Policy}
	ev.Result = rapid.SampledFrom([]approval.PolicyResult{approval.Ask, approval.Ask, approval.Deny, approval.Deny, approval.Allow, approval.Block, approval.None}).Draw(t, "result")
	ev.Paths = rapid.SliceOfN(rapid.SampledFrom(places), 0, 2).Draw(t, "paths")
	ev.Explanation = rapid.SampledFrom([]string{"", `{"hatch":false}`, `{"hatch":true}`, `{"hatch":true,"ruled":false}`, `{"hatch":false,"ruled":false}`}).Draw(t, "explanation")
	l.step(ev)
}

// classifier answers an attempt; one in fails is a failed one, none when 0.
func (l *randomLife) classifier(t *rapid.T, fails int) {
	a := l.whatRuns(t, Classify)
	l.done(Classify, a.Job)
	if fails > 0 && rapid.IntRange(1, fails).Draw(t, "fails") == 1 {
		l.step(ClassifierFailed{Job: a.Job, Attempt: a.Attempt, Message: "no connection"})
		return
	}
	l.step(ClassifierDone{Job: a.Job, Vote: rapid.SampledFrom([]approval.JudgeResult{approval.JudgeAllow, approval.JudgeDeny}).Draw(t, "vote")})
}

func (l *randomLife) body(t *rapid.T) {
	a := l.whatRuns(t, Body)
	l.done(Body, a.Job)
	if rapid.IntRange(0, 4).Draw(t, "too long") == 0 {
		l.step(BodyTimeout{Job: a.Job, Limit: time.Second})
		return
	}
	l.step(BodyDone{Job: a.Job, Outcome: `{"ok":true}`})
}

func (l *randomLife) saveOne(t *rapid.T) {
	if len(l.saves) == 0 {
		t.Skip("nothing to save")
	}
	s := rapid.SampledFrom(l.saves).Draw(t, "save")
	keys := l.keys()
	_, err := l.apply(s.ID, rapid.SampledFrom([]word{atOnce, atOnce, atOnce, late, late, late, wrong}).Draw(t, "word"))
	if err != nil {
		return
	}
	for key := range keys {
		if !l.keys()[key] {
			t.Fatalf("save %d lost the key %s", s.ID, key)
		}
	}
	for _, f := range s.Fields {
		if f.Name == OrchestrationResult {
			l.licensedWell(f)
		}
	}
}

func (l *randomLife) keys() map[string]bool {
	keys := make(map[string]bool)
	for _, k := range l.doc.view(l.facts).ReadAllowlist {
		keys[k] = true
	}
	return keys
}

// licensedWell: what was just stored is what the law says of what the document
// holds at this moment, whatever the machine had seen.
func (l *randomLife) licensedWell(f Field) {
	license, reason := approval.LicenseDecision(l.doc.leaf(f.Job), l.doc.view(l.facts))
	want := map[string]approval.License{"true": approval.AllowSide, "false": approval.DenySide}[f.Value]
	name, _ := l.doc.value(f.Job, LicenseReason)
	if license != want || name != quote(reason.Name()) {
		l.wrong("%s: %s by %s is stored, the law says %v by %s", f.Job, f.Value, name, license, reason.Name())
	}
}

// settledWell: what the document says of a leaf at the end can be told from its
// votes.
func (l *randomLife) settledWell(id JobID) {
	outcome, done := l.doc.value(id, OutcomeJSON)
	want := ""
	reason, _ := l.doc.value(id, LicenseReason)
	switch {
	case !done || !l.doc.has(id, Completed):
		l.wrong("%s is not settled: %s", id, l.story(id))
	case l.doc.has(id, Cancelled):
		want = approval.ReceiptCancelled.String()
	case l.doc.is(id, OrchestrationResult, "false"):
		want = map[string]approval.Receipt{
			`"person-refused"`:    approval.ReceiptPersonRefused,
			`"classifier-denied"`: approval.ReceiptClassifier,
			`"floor-blocked"`:     approval.ReceiptPolicy,
		}[reason].String()
	case l.everRan[id] == 0:
		l.wrong("%s is settled, and its body never ran: %s", id, l.story(id))
	}
	if want != "" && outcome != want {
		l.wrong("%s: outcome %s, want %s", id, outcome, want)
	}
	if l.doc.is(id, OrchestrationResult, "false") && l.everRan[id] > 0 {
		l.wrong("%s was refused and ran", id)
	}
}

// drain answers everything until nothing is asked any more but of people.
func (l *randomLife) drain(t *rapid.T) {
	l.doc.full = false
	for range 10_000 {
		switch {
		case len(l.acks) > 0:
			l.ack()
		case l.delivered < l.doc.rev:
			l.deliver(l.doc.rev)
		case len(l.saves) > 0:
			l.saveOne(t)
		case len(l.m.retries) > 0:
			l.step(Retry{})
		default:
			keys := slices.Sorted(maps.Keys(l.running))
			if len(keys) == 0 {
				return
			}
			switch l.running[keys[0]].Do {
			case Floor:
				l.floor(t)
			case Classify:
				l.classifier(t, 0)
			case Body:
				l.body(t)
			}
		}
		l.compare()
	}
	t.Fatal("it does not come to an end")
}

// unsettled are the leaves of the document that are not settled.
func (l *randomLife) unsettled() (open []JobID) {
	for _, j := range l.doc.jobs {
		if !j.Kind.Sequence() && !l.doc.has(j.ID, Completed) {
			open = append(open, j.ID)
		}
	}
	return open
}

// story is what the document holds of a job.
func (l *life) story(id JobID) (text string) {
	for _, f := range l.doc.fields {
		if f.Job == id {
			text += fmt.Sprintf("\n\t%d %s=%s", f.rev, f.Name, f.Value)
		}
	}
	return text
}
