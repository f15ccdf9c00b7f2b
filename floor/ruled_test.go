package floor_test

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"assent/floor"
)

// A rule of the operator that names a program covers what the program itself
// does and the floor would only ask about (policy §4). It covers neither what a
// deny or a block says of a file or an address that an option names, nor what
// comes from elsewhere and is run.
func TestRuleForTheProgram(t *testing.T) {
	const name = "testdata/surface/ruled.txt"
	data, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	reason, rows := "", 0
	lines := bufio.NewScanner(data)
	for at := 1; lines.Scan(); at++ {
		line := lines.Text()
		if line == "" {
			continue
		}
		if r, is := strings.CutPrefix(line, "# "); is {
			reason = r
			continue
		}
		want, command, _ := strings.Cut(line, " ")
		command = strings.TrimSpace(command)
		program, _, _ := strings.Cut(command, " ")
		operator, err := floor.ParsePolicy("operator.yaml", []byte("version: 1\nrun: {allow: ["+program+"]}\n"))
		if err != nil {
			t.Fatal(err)
		}
		rows++
		if v := shippedAlone(t, &floor.Floor{Operator: operator}, command); v.Result.String() != want {
			t.Errorf("%s:%d: %s: %s\n\tgot %v, want %s: %s", name, at, reason, command, v.Result, want, v.Message)
		}
	}
	if rows < 50 {
		t.Errorf("%s: %d rows, want at least 50", name, rows)
	}
}

// A rule that says what a launcher is to be given speaks of what these words
// name without further ado (policy §2). An option that makes them name something
// else, or brings other code along, must be in the rule.
func TestRuleForWhatIsLaunched(t *testing.T) {
	const name = "testdata/surface/launched.txt"
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	reason := ""
	for i, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		if r, is := strings.CutPrefix(line, "# "); is {
			reason = r
			continue
		}
		if line == "" {
			continue
		}
		cells := strings.Split(line, " | ")
		if len(cells) != 3 {
			t.Fatalf("%s:%d: want RESULT | RULE | COMMAND", name, i+1)
		}
		operator, err := floor.ParsePolicy("operator.yaml", []byte("version: 1\nrun: {allow: [\""+cells[1]+"\"]}\n"))
		if err != nil {
			t.Fatal(err)
		}
		if v := shippedAlone(t, &floor.Floor{Operator: operator}, cells[2]); v.Result.String() != strings.TrimSpace(cells[0]) {
			t.Errorf("%s:%d: %s: %s\n\tgot %v, want %s: %s", name, i+1, reason, line, v.Result, cells[0], v.Message)
		}
	}
}

// An operator who lets the tree be written, all but one folder of it, has said so
// of every name that is written, also of one that a program puts together: what
// the shipped floor, or the operator, keeps from being written stays so.
func TestWrittenNames(t *testing.T) {
	const name = "testdata/surface/written.txt"
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	operator, err := floor.ParsePolicy("operator.yaml", []byte("version: 1\nwrite: {allow: [\".\"], deny: [\"kept/**\", kept, \"**/*ned\"]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	reason := ""
	for i, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		if r, is := strings.CutPrefix(line, "# "); is {
			reason = r
			continue
		}
		if line == "" {
			continue
		}
		want, command, _ := strings.Cut(line, " ")
		command = strings.TrimSpace(command)
		if v := shippedAlone(t, &floor.Floor{Operator: operator}, command); v.Result.String() != want {
			t.Errorf("%s:%d: %s: %s\n\tgot %v, want %s: %s", name, i+1, reason, command, v.Result, want, v.Message)
		}
	}
}
