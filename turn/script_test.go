package turn_test

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"assent/model"
	"assent/remainder"
	"assent/session"
	"assent/turn"
)

var update = flag.Bool("update", false, "write the scripts anew")

// A script has lines of what is committed and what the model says, and after each line
// with next what follows, behind "| ". See testdata.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.turn")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d scripts, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".turn"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, string(text))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got != string(text) {
				t.Errorf("got\n%s", got)
			}
		})
	}
}

type play_ struct {
	t        *testing.T
	rows     session.Rows // all that are committed
	id       string
	settings turn.Settings
	state    *turn.State
	tools    []turn.Tool
	ask      turn.Ask
	said     turn.Said
}

// commit adds rows, to a state that lives on and to one that is opened anew: both say
// the same.
func (p *play_) commit(rows session.Rows) {
	p.rows.Jobs = append(p.rows.Jobs, rows.Jobs...)
	p.rows.Fields = append(p.rows.Fields, rows.Fields...)
	p.rows.Registers = append(p.rows.Registers, rows.Registers...)
	if p.state != nil {
		p.state.Apply(rows)
	}
}

func quoted(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func play(t *testing.T, script string) string {
	p := &play_{t: t, tools: turn.Tools()}
	var out strings.Builder
	lines := bufio.NewScanner(strings.NewReader(script))
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, "| ") || line == "|" {
			continue
		}
		out.WriteString(line + "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		for _, told := range p.do(line) {
			out.WriteString(strings.TrimRight("| "+told, " ") + "\n")
		}
	}
	return out.String()
}

func (p *play_) do(line string) []string {
	verb, rest, _ := strings.Cut(line, " ")
	first, rest2, _ := strings.Cut(rest, " ")
	switch verb {
	case "turn": // turn ID TAIL|- PROMPT
		tail, prompt, _ := strings.Cut(rest2, " ")
		if tail == "-" {
			tail = ""
		}
		words, err := json.Marshal(turn.Words{Prompt: prompt, Tail: tail})
		if err != nil {
			p.t.Fatal(err)
		}
		p.id, p.state, p.settings = first, nil, turn.Settings{}
		p.commit(session.Rows{Jobs: []session.Job{{ID: session.JobID(first), Kind: session.SessionTurn, Name: turn.Name, Arguments: string(words)}}})
	case "plan":
		p.settings.Plan = true
	case "rounds":
		if _, err := fmt.Sscan(rest, &p.settings.Rounds); err != nil {
			p.t.Fatal(err)
		}
	case "say":
		p.said.Text = rest
	case "call": // call ID TOOL ARGUMENTS
		name, arguments, _ := strings.Cut(rest2, " ")
		p.said.Calls = append(p.said.Calls, model.Call{ID: first, Name: name, Arguments: arguments})
	case "answered":
		round := p.state.Take(p.ask, p.said, p.state.Offered(p.tools))
		p.said = turn.Said{}
		value, err := json.Marshal(round)
		if err != nil {
			p.t.Fatal(err)
		}
		p.commit(session.Rows{Registers: []session.Register{{Name: turn.RoundName(p.id, p.ask.Round), Value: string(value)}}})
		return p.next()
	case "done": // done JOB OUTCOME
		p.commit(session.Rows{Fields: []session.Field{{Job: session.JobID(first), Name: session.OutcomeJSON, Value: rest2}, {Job: session.JobID(first), Name: session.Completed, Value: "true"}}})
		return p.next()
	case "cancelled":
		p.commit(session.Rows{Fields: []session.Field{{Job: session.JobID(first), Name: session.Cancelled, Value: "true"}}})
		return p.next()
	case "comment":
		p.commit(session.Rows{Fields: []session.Field{{Job: session.JobID(first), Name: session.ApprovalComment, Value: quoted(rest2)}}})
	case "foreign": // foreign JOB PARENT
		p.commit(session.Rows{Jobs: []session.Job{{ID: session.JobID(first), Parent: session.JobID(rest2), Name: "Bash"}}})
	case "message":
		p.commit(session.Rows{Registers: []session.Register{{Name: "host/inbox/" + first, Value: `{"kind":"callback","from":"child","text":` + quoted(rest2) + `}`}}})
	case "next":
		return p.next()
	default:
		p.t.Fatalf("what is %q", line)
	}
	return nil
}

// next is what follows, also for a life that begins here.
func (p *play_) next() (told []string) {
	anew, err := turn.Open(p.id, p.settings, p.rows)
	if err != nil {
		return []string{"error: " + err.Error()}
	}
	if p.state == nil {
		p.state = anew
	}
	do, again := p.state.Next(), anew.Next()
	told = p.tell(do)
	if other := p.tell(again); strings.Join(told, "\n") != strings.Join(other, "\n") {
		p.t.Errorf("opened anew it says\n%s\nand not\n%s", strings.Join(other, "\n"), strings.Join(told, "\n"))
	}
	if mint, ok := do.(turn.Mint); ok { // they are made at once
		p.commit(session.Rows{Jobs: mint.Jobs})
	}
	if end, ok := do.(turn.End); ok {
		value, err := json.Marshal(end.Outcome)
		if err != nil {
			p.t.Fatal(err)
		}
		p.commit(session.Rows{Fields: []session.Field{{Job: session.JobID(p.id), Name: session.OutcomeJSON, Value: string(value)}, {Job: session.JobID(p.id), Name: session.Completed, Value: "true"}}})
	}
	return told
}

func (p *play_) tell(do turn.Do) (told []string) {
	switch do := do.(type) {
	case turn.Ask:
		p.ask = do
		told = append(told, fmt.Sprintf("ask %d", do.Round))
		for _, m := range do.Messages {
			who := "user"
			if m.Role == remainder.Assistant {
				who = "model"
			}
			for _, r := range m.Results {
				failed := ""
				if r.Failed {
					failed = " failed"
				}
				told = append(told, fmt.Sprintf("  result %s%s: %s", r.Call, failed, r.Text))
			}
			for _, text := range m.Texts {
				told = append(told, fmt.Sprintf("  %s: %s", who, strings.ReplaceAll(text, "\n", " / ")))
			}
			for _, c := range m.Calls {
				told = append(told, fmt.Sprintf("  call %s: %s %s", c.ID, c.Name, c.Arguments))
			}
		}
	case turn.Mint:
		for _, j := range do.Jobs {
			told = append(told, fmt.Sprintf("mint %s under %s at %d: %s %s %s", j.ID, j.Parent, j.Ord, j.Kind, j.Name, j.Arguments))
		}
	case turn.Await:
		told = append(told, "await")
	case turn.End:
		told = append(told, fmt.Sprintf("end %+v", do.Outcome))
	case turn.Rest:
		told = append(told, "rest")
	}
	return told
}
