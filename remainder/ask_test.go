package remainder

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"assent/approval"
)

func shipped(t testing.TB) *Program {
	t.Helper()
	p, err := Load(t.Context(), ShippedName, Shipped)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func load(t testing.TB, text string) *Program {
	t.Helper()
	p, err := Load(t.Context(), "own.scm", text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var bash = Call{Cluster: approval.Bash, Name: "Bash", Arguments: []byte(`{"command":"make deploy"}`), Floor: approval.Ask, Message: "Asks first: it runs make deploy.", Workspace: "/w", Cwd: "/w"}

// told is a session with something in each cut.
func told(_ context.Context, cut Scope) (Evidence, error) {
	return Evidence{User: []string{"deploy it to staging"}, Response: "I shall deploy.", Results: []Result{{"Read", "staging is green"}}}.Within(cut), nil
}

const (
	yes = `{"decision":"allow","uncertainty":1,"severity":5,"reason":"the user asked for it"}`
	no  = `{"decision":"deny","uncertainty":9,"severity":9}`
)

func TestAnAttempt(t *testing.T) {
	retrieve := func(name string) string { return `{"retrieve":"` + name + `"}` }
	tests := []struct {
		why     string
		answers []any
		vote    approval.JudgeResult
		fails   string // part of why the attempt failed
		cuts    string
	}{
		{"allow", []any{yes}, approval.JudgeAllow, "", "privileged"},
		{"deny", []any{no}, approval.JudgeDeny, "", "privileged"},
		{"more evidence once", []any{retrieve("quarantined"), yes}, approval.JudgeAllow, "", "privileged quarantined"},
		{"more evidence twice", []any{retrieve("prior-turn"), retrieve("quarantined"), no}, approval.JudgeDeny, "", "privileged prior-turn quarantined"},
		{"more than there is", []any{retrieve("prior-turn"), retrieve("quarantined"), retrieve("quarantined"), yes}, approval.NoVote, "asks for the evidence quarantined, and has quarantined", "privileged prior-turn quarantined"},
		{"no wider evidence", []any{retrieve("privileged"), yes}, approval.NoVote, "asks for the evidence privileged", "privileged"},
		{"less evidence than before", []any{retrieve("quarantined"), retrieve("prior-turn"), yes}, approval.NoVote, "asks for the evidence prior-turn", "privileged quarantined"},
		{"evidence that there is not", []any{retrieve("everything"), yes}, approval.NoVote, "that there is not", "privileged"},
		{"evidence beside a decision is ignored", []any{`{"decision":"deny","retrieve":"quarantined"}`, yes}, approval.JudgeDeny, "", "privileged"},
		{"evidence of no kind beside a decision is ignored", []any{`{"decision":"allow","uncertainty":0,"severity":0,"retrieve":7}`}, approval.JudgeAllow, "", "privileged"},
		{"withheld", []any{`{"decision":"allow","uncertainty":8,"severity":9}`}, approval.NoVote, "uncertainty 8 and severity 9: 72 is more than 50", "privileged"},
		{"at the threshold it is not withheld", []any{`{"decision":"allow","uncertainty":5,"severity":10}`}, approval.JudgeAllow, "", "privileged"},
		{"just above it is", []any{`{"decision":"allow","uncertainty":5.01,"severity":10}`}, approval.NoVote, "more than 50", "privileged"},
		{"a deny is not withheld", []any{`{"decision":"deny","uncertainty":8,"severity":9}`}, approval.JudgeDeny, "", "privileged"},
		{"no JSON", []any{"I would allow this."}, approval.NoVote, "not the JSON that was asked for", "privileged"},
		{"HTTP 429", []any{&Failure{Cause: Overloaded, Connection: "c", Code: 429}}, approval.NoVote, "connection c: it is overloaded (HTTP 429)", "privileged"},
		{"cut after more evidence was asked for", []any{retrieve("prior-turn"), &Failure{Cause: Cut, Connection: "c"}}, approval.NoVote, "cut in the middle", "privileged prior-turn"},
	}
	p := shipped(t)
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			s := &script{answers: test.answers}
			vote, record, err := Ask(t.Context(), p, Question{Call: bash, Gather: told}, s.connect)
			if vote != test.vote || (err == nil) != (test.fails == "") || err != nil && !strings.Contains(err.Error(), test.fails) {
				t.Errorf("%v, %v; want %v, %q", vote, err, test.vote, test.fails)
			}
			var cuts []string
			for _, r := range record.Rounds {
				cuts = append(cuts, r.Cut.String())
			}
			if got := strings.Join(cuts, " "); got != test.cuts {
				t.Errorf("cuts %q, want %q", got, test.cuts)
			}
			if len(s.asked) != len(record.Rounds) {
				t.Errorf("asked %d times, and %d are recorded", len(s.asked), len(record.Rounds))
			}
		})
	}
}

// What each cut lets a model see, and that nothing wider is in a narrower one.
func TestCuts(t *testing.T) {
	p := shipped(t)
	s := &script{answers: []any{`{"retrieve":"prior-turn"}`, `{"retrieve":"quarantined"}`, yes}}
	if _, _, err := Ask(t.Context(), p, Question{Call: bash, Gather: func(context.Context, Scope) (Evidence, error) {
		return told(t.Context(), Quarantined) // a host that hands over more than was asked for
	}}, s.connect); err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct{ user, response, result bool }{{true, false, false}, {true, true, false}, {true, true, true}} {
		text := all(s.asked[i])
		for what, has := range map[string]bool{"deploy it to staging": want.user, "I shall deploy.": want.response, "staging is green": want.result, "make deploy": true} {
			if strings.Contains(text, what) != has {
				t.Errorf("round %d: %q is in it: %v, want %v", i, what, !has, has)
			}
		}
	}
}

func TestProgramsThatVoteByThemselves(t *testing.T) {
	for _, test := range []struct {
		why, text string
		want      approval.JudgeResult
	}{
		{"allow", "allow", approval.JudgeAllow},
		{"deny", "deny\n", approval.JudgeDeny},
		{"with a comment", ";; never\n  deny ; at all", approval.JudgeDeny},
		{"quoted", "'allow", approval.JudgeAllow},
		{"by the call", `(lambda (q) (if (eq? (cdr (assq 'cluster q)) 'bash) deny allow))`, approval.JudgeDeny},
	} {
		t.Run(test.why, func(t *testing.T) {
			vote, record, err := Ask(t.Context(), load(t, test.text), Question{Call: bash}, func(context.Context) (Model, error) {
				t.Error("a connection is made")
				return nil, errors.New("none")
			})
			if err != nil || vote != test.want || len(record.Rounds) != 0 {
				t.Errorf("%v, %v, %d rounds", vote, err, len(record.Rounds))
			}
		})
	}
}

func TestProgramsThatAreNone(t *testing.T) {
	for _, test := range []struct{ why, text, want string }{
		{"empty", "", "must be allow, deny or a procedure"},
		{"another word", "'maybe", "must be allow, deny or a procedure"},
		{"a text", `"allow"`, "must be allow, deny or a procedure"},
		{"not closed", "(lambda (q) allow", "own.scm"},
		{"an unknown name", "(launch)", "own.scm"},
		{"without end", "(let loop () (loop))", "too many steps"},
		{"too much", `(let loop ((x '())) (loop (cons (make-string 10000 #\a) x)))`, "too much memory"},
	} {
		t.Run(test.why, func(t *testing.T) {
			if _, err := Load(t.Context(), "own.scm", test.text); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
	for _, test := range []struct{ why, text, want string }{
		{"no list", `(lambda (q) 1)`, "gave"},
		{"no part", `(lambda (q) (list "system"))`, "gave"},
		{"a part of another kind", `(lambda (q) (list "system" (list 'trusted "l" "t")))`, "gave"},
		{"a part without a text", `(lambda (q) (list "system" (list 'data "l" 7)))`, "gave"},
		{"an error", `(lambda (q) (error "oops" q))`, "oops"},
		{"another arity", `(lambda () allow)`, "program"},
		{"without end", `(lambda (q) (let loop () (loop)))`, "too many steps"},
		{"a circle", `(lambda (q) (let ((l (list "a" "b"))) (set-cdr! (cdr l) l) l))`, "gave"},
	} {
		t.Run("asked: "+test.why, func(t *testing.T) {
			s := &script{answers: []any{yes}}
			vote, _, err := Ask(t.Context(), load(t, test.text), Question{Call: bash}, s.connect)
			if vote != approval.NoVote || err == nil || !strings.Contains(err.Error(), test.want) || len(s.asked) > 0 {
				t.Errorf("%v, %v, asked %d; want %q", vote, err, len(s.asked), test.want)
			}
		})
	}
}

// A cancelled attempt ends with why it was cancelled, and without a vote.
func TestACancelledAttempt(t *testing.T) {
	why := errors.New("cancelled")
	ctx, cancel := context.WithCancelCause(t.Context())
	s := &script{answers: []any{func(ctx context.Context) (Answer, error) {
		cancel(why)
		<-ctx.Done()
		return Answer{}, &Failure{Cause: Cut}
	}}}
	if vote, _, err := Ask(ctx, shipped(t), Question{Call: bash, Gather: told}, s.connect); vote != approval.NoVote || !errors.Is(err, why) {
		t.Errorf("%v, %v", vote, err)
	}
}

func TestEvidenceThatCannotBeHad(t *testing.T) {
	s := &script{answers: []any{yes}}
	vote, _, err := Ask(t.Context(), shipped(t), Question{Call: bash, Gather: func(context.Context, Scope) (Evidence, error) {
		return Evidence{}, errors.New("the document is closed")
	}}, s.connect)
	if vote != approval.NoVote || err == nil || len(s.asked) > 0 {
		t.Errorf("%v, %v", vote, err)
	}
}

func TestRead(t *testing.T) {
	allow, deny, none := approval.JudgeAllow, approval.JudgeDeny, approval.NoVote
	for _, test := range []struct {
		why, text string
		want      approval.JudgeResult
		fails     bool
	}{
		{"allow", `{"decision":"allow","uncertainty":0,"severity":10}`, allow, false},
		{"blanks around", " \n{\"decision\":\"allow\",\"uncertainty\":0,\"severity\":10}\n", allow, false},
		{"a reason", `{"decision":"allow","uncertainty":0.5,"severity":1e0,"reason":"why"}`, allow, false},
		{"a reason of another kind changes nothing", `{"decision":"allow","uncertainty":0,"severity":1,"reason":["why"]}`, allow, false},
		{"no uncertainty", `{"decision":"allow","severity":1}`, none, true},
		{"no severity", `{"decision":"allow","uncertainty":1}`, none, true},
		{"null is none", `{"decision":"allow","uncertainty":null,"severity":1}`, none, true},
		{"a number as text", `{"decision":"allow","uncertainty":"1","severity":1}`, none, true},
		{"a truth value", `{"decision":"allow","uncertainty":true,"severity":1}`, none, true},
		{"too small", `{"decision":"allow","uncertainty":-0.1,"severity":1}`, none, true},
		{"too large", `{"decision":"allow","uncertainty":1,"severity":10.1}`, none, true},
		{"without bound", `{"decision":"allow","uncertainty":1e400,"severity":1}`, none, true},
		{"NaN", `{"decision":"allow","uncertainty":NaN,"severity":1}`, none, true},
		{"negative numbers whose product is small", `{"decision":"allow","uncertainty":-8,"severity":-9}`, none, true},
		{"a deny without numbers", `{"decision":"deny"}`, deny, false},
		{"a deny with wrong numbers", `{"decision":"deny","uncertainty":"high","severity":99}`, deny, false},
		{"a decision of another kind", `{"decision":true,"uncertainty":1,"severity":1}`, none, true},
		{"decisions", `{"decision":["allow"],"uncertainty":1,"severity":1}`, none, true},
		{"another decision", `{"decision":"ask","uncertainty":1,"severity":1}`, none, true},
		{"in capitals", `{"decision":"ALLOW","uncertainty":1,"severity":1}`, none, true},
		{"with blanks", `{"decision":" allow","uncertainty":1,"severity":1}`, none, true},
		{"an escape is the same text", `{"decision":"\u0061llow","uncertainty":1,"severity":1}`, allow, false},
		{"another case of a name", `{"Decision":"allow","uncertainty":1,"severity":1}`, none, true},
		{"a name nobody knows", `{"decision":"deny","confidence":1}`, none, true},
		{"a decision twice", `{"decision":"deny","decision":"allow","uncertainty":1,"severity":1}`, none, true},
		{"a number twice", `{"decision":"allow","uncertainty":9,"uncertainty":1,"severity":9}`, none, true},
		{"text before", `Sure: {"decision":"allow","uncertainty":1,"severity":1}`, none, true},
		{"text behind", `{"decision":"allow","uncertainty":1,"severity":1} as asked`, none, true},
		{"a fence", "```json\n{\"decision\":\"allow\",\"uncertainty\":1,\"severity\":1}\n```", none, true},
		{"two objects", `{"decision":"deny"}{"decision":"allow","uncertainty":1,"severity":1}`, none, true},
		{"a list", `[{"decision":"allow","uncertainty":1,"severity":1}]`, none, true},
		{"a text", `"allow"`, none, true},
		{"null", `null`, none, true},
		{"nothing", ``, none, true},
		{"an empty object", `{}`, none, true},
		{"bytes that are no text", "{\"decision\":\"allow\",\"uncertainty\":1,\"severity\":1,\"reason\":\"\xff\"}", none, true},
		{"retrieve of another kind", `{"retrieve":["quarantined"]}`, none, true},
		{"retrieve, and null decides nothing", `{"decision":null,"retrieve":"quarantined"}`, none, false},
	} {
		t.Run(test.why, func(t *testing.T) {
			j, err := Read(test.text, Privileged)
			if j.Decision != test.want || (err != nil) != test.fails {
				t.Errorf("Read(%q) = %+v, %v; want %v, fails %v", test.text, j, err, test.want, test.fails)
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	f.Add(yes)
	f.Add(no)
	f.Add(`{"retrieve":"quarantined"}`)
	f.Fuzz(func(t *testing.T, text string) {
		j, err := Read(text, PriorTurn)
		ok := func(n float64) bool { return n >= 0 && n <= 10 }
		switch {
		case err != nil && j.Decision != approval.NoVote:
			t.Errorf("%q: a failed attempt votes", text)
		case j.Decision == approval.JudgeAllow && (!ok(j.Uncertainty) || !ok(j.Severity) || j.Uncertainty*j.Severity > Threshold || math.IsNaN(j.Uncertainty)):
			t.Errorf("%q: %+v", text, j)
		case err == nil && j.Decision == approval.NoVote && j.Retrieve != Quarantined:
			t.Errorf("%q: %+v", text, j)
		}
	})
}
