package floor

import (
	"fmt"

	"assent/approval"
	"assent/floor/effect"
)

// Scan is what a scanner of bash commands reported about a call, as data that
// comes in with the [Call] (law §11). Running a scanner is the host's work;
// the floor joins the report and nothing else. The zero value is that there
// is no scanner.
type Scan struct {
	State ScanState
	// Findings are the report's, when the scanner ran.
	Findings []ScanFinding
	// Why says what kept it from running, when it failed.
	Why string
}

// ScanState says what became of the scan.
type ScanState uint8

// The states. A host that found the scanner once says Failed, and never Absent,
// when it is gone later (law ruling 16).
const (
	ScanAbsent ScanState = iota // no scanner is installed
	ScanFailed                  // it could not run, or its answer could not be read
	ScanDone
)

// ScanFinding is one thing that the scanner reported.
type ScanFinding struct {
	Cause ScanCause
	// Action is what the scanner says to do about a concrete finding.
	Action ScanAction
	// Rule is the scanner's name for it, Message its text for people.
	Rule, Message string
}

// ScanCause says what kind of finding it is.
type ScanCause uint8

// The causes: a rule that hit, or a part of the analysis that is missing. What
// is missing for a reason that is not known counts as a nested body.
const (
	ScanConcrete ScanCause = iota
	ScanNested             // a nested body could not be analysed
	ScanPackages           // package data could not be looked up offline: not a finding
)

// ScanAction is the scanner's verdict on a concrete finding. What is not known
// is a block.
type ScanAction uint8

// The actions.
const (
	ScanBlock ScanAction = iota
	ScanWarn
)

// Setting is how the scanner takes part, by the policies in force: required
// where any of them says so; off only by the operator's word, since a managed
// or a project's policy makes nothing looser.
func (f *Floor) Setting() Scanner {
	for _, p := range [...]*Policy{f.Operator, f.Managed, f.Project} {
		if p != nil && p.Scanner == ScannerRequired {
			return ScannerRequired
		}
	}
	if f.Operator != nil {
		return f.Operator.Scanner
	}
	return ScannerAuto
}

// requires is the policy that requires the scanner, for saying so.
func (f *Floor) requires() *RuleRef {
	for _, p := range [...]*Policy{f.Operator, f.Managed, f.Project} {
		if p != nil && p.Scanner == ScannerRequired {
			return &RuleRef{Layer: p.layer, File: p.Name, Line: p.scannerLine, Text: "scanner: required"}
		}
	}
	return byDefault("a scanner that is there must run")
}

var scanFound = byDefault("the scanner found it")

// join is the table of law §11: what a report adds to the floor's result.
func (s Scan) join(setting Scanner, required *RuleRef) (out []Judged) {
	add := func(result Result, target, message string, ref *RuleRef) *Judged {
		out = append(out, Judged{Effect: effect.Effect{Kind: effect.Opaque, Target: target}, Result: result, Rule: ref, Message: message, scan: true})
		return &out[len(out)-1]
	}
	if setting == ScannerOff {
		return nil
	}
	switch s.State {
	case ScanAbsent:
		if setting == ScannerRequired {
			add(approval.Block, "no scanner is installed", "Refused: the policy requires a scanner of commands, and none is installed.", required)
		}
	case ScanDone:
		for _, f := range s.Findings {
			name := "the scanner's finding " + shown(f.Rule)
			switch {
			case f.Cause == ScanPackages:
			case f.Cause != ScanConcrete:
				add(approval.Ask, "the scanner could not analyse a nested command", "Asks first: the scanner could not analyse a nested command.", scanFound).nested = true
			case f.Action == ScanWarn:
				add(approval.Ask, name, fmt.Sprintf("Asks first: the scanner warns of %s%s.", shown(f.Rule), detail(f.Message)), scanFound)
			default:
				add(approval.Block, name, fmt.Sprintf("Refused: the scanner refuses %s%s.", shown(f.Rule), detail(f.Message)), scanFound)
			}
		}
	default:
		add(approval.Block, "the scanner could not run"+detail(s.Why), "Refused: the scanner of commands could not run"+detail(s.Why)+".", required)
	}
	return out
}

func detail(text string) string {
	if text == "" {
		return ""
	}
	return ": " + shown(text)
}

// scanned joins the scanner's report with what the floor said. A remainder
// that comes from a nested body alone is of kind incomplete: without it the
// floor would have allowed (law §11).
func (v *Verdict) scanned(report Scan, f *Floor) {
	setting := f.Setting()
	// A call of another cluster with a text of bash holds shell calls: a batch.
	if v.Cluster != approval.Bash && v.Text == "" || report.State == ScanAbsent && setting != ScannerRequired {
		return
	}
	before := v.Result
	found := report.join(setting, f.requires())
	nested := true
	for i := range found {
		v.Result = v.Result.Join(found[i].Result)
		nested = nested && found[i].nested
	}
	v.Incomplete = len(found) > 0 && nested && before == approval.Allow
	v.Effects = append(v.Effects, found...)
}

// scanRemedy says what would change what the scanner said.
func (j *Judged) scanRemedy() string {
	switch {
	case j.Rule == scanFound && j.Result == approval.Ask:
		return "a person must answer: no rule answers what the scanner found"
	case j.Rule == scanFound:
		return "nothing lifts what the scanner refuses but  scanner: off"
	case j.Rule != nil && !j.Rule.Default && j.Rule.Layer != Operator:
		return "make the scanner run; the policy that requires it decides"
	}
	return "make the scanner run, or set  scanner: off  in your policy"
}
