package session

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"assent/approval"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the scripts' answers anew")

// TestScripts plays the races under testdata. A script tells a story: lines
// beginning with # are its comments, an indented line is what was answered to
// the line above, and any other line is what happens:
//
//	session KEY=VALUE...   the session's facts: seat, workspace, home
//	mint JOB KEY=VALUE...  a call: under, ord, kind, tool, args
//	set NAME VALUE         a register; kernel/NAME is the kernel's
//	mode MODE              a person changes the mode
//	admitted MODE          what an unattended session is admitted with
//	approve|refuse JOB, comment JOB TEXT
//	                       a person writes
//	open JOB FOLDER        a person allows the folder, and the call
//	end SEQUENCE           whoever runs the sequence settles it
//	begun JOB              the host notes that the body begins
//	licensed JOB           another life of the host stored the license
//	torn JOB               half of a refusal, that no save of ours writes
//	torn-outcome JOB JSON  half of settling, the same
//	floor JOB RESULT [PATH...] [message=M] [hatch] [ruled] [names=PATH]
//	floor-failed|late-floor JOB
//	vote JOB allow|deny, fail JOB MESSAGE, late-fail JOB ATTEMPT MESSAGE
//	late-vote JOB allow|deny of an attempt that was stopped
//	body JOB OUTCOME [NOTE], timeout JOB DURATION [NOTE]
//	cancel [JOB], reload, retry
//	save [N...]            outstanding saves are written, all by default
//	save-unheard N         written, and nobody says so yet
//	save-misheard N        written, and the word is that it failed
//	heard                  the word of the oldest such save comes
//	full, empty            the disk is full; it is not any more
//	clock TIME             what the time is, told to the machine
//	crash                  the machine is gone, a new one is opened
//	queue [SEQUENCE], doc JOB, seen
//
// "unseen" before a line lets it into the document, or the time pass, and not yet to the machine;
// "deliver" hands over all such rows. -update writes the answers anew; the
// diff is the review. After every line the machine is compared with a fresh
// one and with the twin.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, string(text))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(text), got); diff != "" {
				t.Errorf("answers changed (-want +got); if they are right, run with -update:\n%s", diff)
			}
		})
	}
}

type script struct {
	*life
	out strings.Builder
}

func play(t *testing.T, text string) string {
	facts := Facts{Workspace: "/w", Home: "/home/u"}
	for command := range strings.Lines(text) {
		if w := words(strings.TrimSuffix(command, "\n")); len(w) > 0 && w[0] == "session" {
			facts = parseFacts(facts, w[1:])
		}
	}
	doc := newDocument(facts)
	doc.real = openReal(t, facts)
	s := &script{life: &life{facts: facts, doc: doc, lenient: func() bool { return true }}}
	line := 0
	s.wrong = func(format string, args ...any) {
		t.Helper()
		t.Errorf("line %d: %s", line, fmt.Sprintf(format, args...))
	}
	s.open()
	for _, command := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		line++
		if strings.HasPrefix(command, "\t") {
			continue
		}
		s.out.WriteString(command + "\n")
		if command == "" || strings.HasPrefix(command, "#") {
			continue
		}
		if err := s.do(words(command)); err != nil {
			fmt.Fprintf(&s.out, "\trefused: %v\n", err)
		}
		s.compare()
	}
	return s.out.String()
}

// words are the words of a line; '...' is one word.
func words(line string) []string {
	var words []string
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		var word strings.Builder
		for line != "" && line[0] != ' ' {
			if line[0] == '\'' {
				text, rest, _ := strings.Cut(line[1:], "'")
				word.WriteString(text)
				line = rest
				continue
			}
			word.WriteByte(line[0])
			line = line[1:]
		}
		words = append(words, word.String())
	}
	return words
}

func (s *script) do(w []string) error {
	seen := true
	if w[0] == "unseen" {
		seen, w = false, w[1:]
	}
	for len(w) < 3 {
		w = append(w, "")
	}
	job := JobID(w[1])
	var err error
	switch w[0] {
	case "session": // read before
	case "mint":
		err = s.doc.mint(parseJob(w[1:], int64(len(s.doc.jobs))))
	case "set":
		err = s.doc.person([]Register{parseRegister(w[1], w[2])})
	case "admitted":
		err = s.doc.host([]Register{parseRegister(StandingPolicy, quote(w[1]))})
	case "mode":
		mode, wrong := approval.ParseMode(w[1])
		if wrong != nil {
			return wrong
		}
		registers := s.m.Assign(mode)
		if len(registers) == 0 {
			return errors.New("the mode of this session does not change")
		}
		err = s.doc.person(registers)
	case "approve":
		err = s.doc.person(nil, Field{job, Approved, "true"})
	case "refuse":
		err = s.doc.person(nil, Field{job, Approved, "false"})
	case "comment":
		err = s.doc.person(nil, Field{job, ApprovalComment, quote(w[2])})
	case "clock":
		at, wrong := time.Parse(time.RFC3339, w[1])
		if wrong != nil {
			return wrong
		}
		s.clock = at
		if seen {
			s.print(s.step(Time{at}))
		}
		return nil
	case "open":
		keys := append(slices.Clone(s.m.View().ReadAllowlist), w[2])
		err = s.doc.person([]Register{{Name: ReadAllowlist, Value: quoteAll(keys)}}, Field{job, Approved, "true"})
	case "end":
		err = s.doc.host(nil, Field{job, OutcomeJSON, `{"ok":true}`}, Field{job, Completed, "true"})
	case "begun":
		err = s.doc.host(nil, Field{job, bodyStarted, "true"})
	case "torn":
		err = s.doc.save(Save{Seen: s.doc.rev, Fields: []Field{{job, OrchestrationResult, "false"}}})
	case "licensed":
		err = s.doc.save(Save{Seen: s.doc.rev, Fields: []Field{{job, OrchestrationResult, "true"}}})
	case "torn-outcome":
		err = s.doc.tear(Field{job, OutcomeJSON, w[2]})
	case "deliver":
	default:
		return s.event(w, job)
	}
	if err == nil && seen {
		s.print(s.deliver(s.doc.rev))
	}
	return err
}

func (s *script) event(w []string, job JobID) error {
	switch w[0] {
	case "floor", "late-floor":
		ev := FloorDone{Job: job, Explanation: `{"hatch":false,"ruled":false}`}
		if w[0] == "floor" {
			a, _ := s.done(Floor, job)
			ev.Policy = a.Policy
		}
		var err error
		if ev.Result, err = approval.ParsePolicyResult(w[2]); err != nil {
			return err
		}
		for _, arg := range w[3:] {
			if m, ok := strings.CutPrefix(arg, "message="); ok {
				ev.Message = approval.Written(m)
			} else if arg == "hatch" {
				ev.Explanation = `{"hatch":true}`
			} else if arg == "ruled" {
				ev.Explanation = `{"hatch":false,"ruled":true}`
			} else if names, ok := strings.CutPrefix(arg, "names="); ok {
				ev.Explanation = `{"hatch":false,"ruled":false,"names":["` + names + `"]}`
				ev.Paths = append(ev.Paths, approval.Path(names))
			} else {
				ev.Paths = append(ev.Paths, approval.Path(arg))
			}
		}
		s.print(s.step(ev))
	case "floor-failed":
		a, _ := s.done(Floor, job)
		s.print(s.step(FloorFailed{Job: job, Policy: a.Policy, Message: w[2]}))
	case "vote":
		s.done(Classify, job)
		vote := map[string]approval.JudgeResult{"allow": approval.JudgeAllow, "deny": approval.JudgeDeny}[w[2]]
		s.print(s.step(ClassifierDone{Job: job, Vote: vote}))
	case "late-vote":
		vote := map[string]approval.JudgeResult{"allow": approval.JudgeAllow, "deny": approval.JudgeDeny}[w[2]]
		s.print(s.step(ClassifierDone{Job: job, Vote: vote, Stopped: true}))
	case "fail":
		a, _ := s.done(Classify, job)
		s.print(s.step(ClassifierFailed{Job: job, Attempt: a.Attempt, Message: w[2]}))
	case "late-fail":
		attempt, err := strconv.Atoi(w[2])
		if err != nil {
			return err
		}
		s.print(s.step(ClassifierFailed{Job: job, Attempt: attempt, Message: w[3]}))
	case "body":
		s.done(Body, job)
		s.print(s.step(BodyDone{Job: job, Outcome: w[2], Note: strings.Join(w[3:], " ")}))
	case "timeout":
		s.done(Body, job)
		limit, err := time.ParseDuration(w[2])
		if err != nil {
			return err
		}
		s.print(s.step(BodyTimeout{Job: job, Limit: limit, Note: strings.Join(w[3:], " ")}))
	case "cancel":
		by := ""
		if len(w) > 2 {
			by = w[2]
		}
		s.print(s.step(CancelAsked{Job: job, By: by}))
	case "reload":
		s.print(s.step(PolicyReloaded{}))
	case "retry":
		s.print(s.step(Retry{}))
	case "save":
		var ids []SaveID
		for _, save := range s.saves {
			if w[1] == "" || slices.Contains(w[1:], strconv.Itoa(int(save.ID))) {
				ids = append(ids, save.ID)
			}
		}
		for _, id := range ids {
			out, err := s.apply(id, atOnce)
			if err != nil {
				fmt.Fprintf(&s.out, "\trefused save %d: %v\n", id, err)
			}
			s.print(out)
		}
	case "save-unheard", "save-misheard":
		id, err := strconv.Atoi(w[1])
		if err != nil {
			return err
		}
		heard := late
		if w[0] == "save-misheard" {
			heard = wrong
		}
		out, err := s.apply(SaveID(id), heard)
		s.print(out)
		return err
	case "heard":
		s.print(s.ack())
	case "full", "empty":
		s.doc.full = w[0] == "full"
	case "crash":
		s.print(s.open())
	case "queue":
		fmt.Fprintf(&s.out, "\t%v\n", s.m.Queue(job))
		if head, ok := s.m.Head(job); ok {
			fmt.Fprintf(&s.out, "\thead %s\n", head)
		}
	case "doc":
		for _, f := range s.doc.fields {
			if f.Job == job {
				fmt.Fprintf(&s.out, "\t%s=%s\n", f.Name, f.Value)
			}
		}
	case "seen":
		fmt.Fprintf(&s.out, "\tseen %d of %d\n", s.m.Seen(), s.doc.rev)
	default:
		return fmt.Errorf("no command %q", w[0])
	}
	return nil
}

func parseFacts(facts Facts, w []string) Facts {
	for _, arg := range w {
		switch k, v, _ := strings.Cut(arg, "="); k {
		case "seat":
			facts.Seat = approval.SeatOf(v == "attended")
		case "workspace":
			facts.Workspace = v
		case "home":
			facts.Home = v
		}
	}
	return facts
}

func parseRegister(name, value string) Register {
	name, kernel := strings.CutPrefix(name, "kernel/")
	return Register{Kernel: kernel, Name: name, Value: value}
}

func parseJob(w []string, ord int64) Job {
	j := Job{ID: JobID(w[0]), Ord: ord, Name: "Bash"}
	for _, arg := range w[1:] {
		switch k, v, _ := strings.Cut(arg, "="); k {
		case "under":
			j.Parent = JobID(v)
		case "ord":
			j.Ord, _ = strconv.ParseInt(v, 10, 64)
		case "kind":
			j.Kind = Kind(v)
		case "tool":
			j.Name = v
		case "args":
			j.Arguments = v
		}
	}
	return j
}

func (s *script) print(out Ready) {
	for line := range strings.Lines(describe(out)) {
		s.out.WriteString("\t" + line)
	}
}

// describe is what a host has to do, a line each.
func describe(out Ready) string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	for _, a := range out.Stop {
		say("stop %v", a)
	}
	for _, save := range out.Save {
		seen := ""
		if save.Seen != 0 {
			seen = fmt.Sprintf(" seen=%d", save.Seen)
		}
		if !save.Until.IsZero() {
			seen += " until=" + save.Until.Format(time.RFC3339)
		}
		if save.For != "" {
			seen += " for=" + save.For
		}
		say("save %d%s", save.ID, seen)
		for _, f := range save.Fields {
			say("  %s %s=%s", f.Job, f.Name, f.Value)
		}
		for _, r := range save.Registers {
			say("  %s=%s", r.Name, r.Value)
		}
	}
	for _, a := range out.Start {
		say("start %v", a)
	}
	for _, n := range out.Publish {
		say("%s", strings.TrimSpace(fmt.Sprintf("%v %s %s", n.News, n.Job, n.Message)))
	}
	return b.String()
}
