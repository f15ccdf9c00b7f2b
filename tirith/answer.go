package tirith

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"assent/approval"
)

// schema is the version of the process's answers that is understood. The
// daemon's have none.
const schema = 3

// answer is what both ways have in common; more members may come in any
// version (its documentation says so) and are skipped.
type answer struct {
	Action   *string    `json:"action"`
	Findings *[]finding `json:"findings"`
	// Bypassed: it was told to look away, by a word of the command itself where
	// its own policy lets that be.
	Bypassed *bool `json:"bypass_honored"`
	// Tier is how far it looked; 0 is not at all.
	Tier *int `json:"tier_reached"`
	// Policy is the file of its own policy, which may have changed what a
	// severity means.
	Policy *string `json:"policy_path_used"`

	Schema *int    `json:"schema_version"` // of a process
	Exit   *int    `json:"exit_code"`      // of the daemon
	Error  *string `json:"error"`          // of the daemon, beside "allow"
}

type finding struct {
	Rule     string     `json:"rule_id"`
	Severity string     `json:"severity"`
	Title    string     `json:"title"`
	Evidence []evidence `json:"evidence"`
}

type evidence struct {
	Type   string `json:"type"`
	Threat string `json:"threat_type"`
}

// parse reads exactly one answer. Duplicate members are errors.
func parse(text []byte) (answer, error) {
	var a answer
	dec := jsontext.NewDecoder(bytes.NewReader(text))
	if err := json.UnmarshalDecode(dec, &a); err != nil {
		return a, fmt.Errorf("its answer cannot be read: %w", err)
	}
	if rest := bytes.TrimLeft(text[dec.InputOffset():], " \t\r\n"); len(rest) > 0 {
		return a, errors.New("its answer cannot be read: something follows it")
	}
	return a, nil
}

// report is what an answer with its exit code says. Where the two or the
// findings contradict each other, the stricter holds.
func (a answer) report(exit int) (Report, error) {
	switch {
	case a.Error != nil && *a.Error != "":
		return Report{}, fmt.Errorf("it says: %s", line(*a.Error, 200))
	case a.Action == nil, a.Findings == nil, a.Bypassed == nil, a.Tier == nil:
		return Report{}, errors.New("its answer is not one about a command")
	case *a.Bypassed:
		return Report{}, errors.New("it was told to look away")
	case *a.Tier < 1:
		return Report{}, errors.New("it has not looked at the command")
	}
	said, ok := exits[exit]
	if !ok {
		return Report{}, fmt.Errorf("it ended with %d", exit)
	}
	action, ok := actions[*a.Action]
	if !ok {
		action = approval.Block
	}
	said = said.Join(action)

	var found []Finding
	explained, concrete := approval.Allow, approval.Allow
	for _, f := range *a.Findings {
		result, ok := severities[f.Severity]
		if !ok {
			result = approval.Block
		}
		explained = explained.Join(result)
		one := Finding{Kind: Concrete, Result: result, Rule: line(f.Rule, 100), Title: line(f.Title, 300)}
		switch {
		case f.Rule == incomplete && f.packages():
			continue
		case f.Rule == incomplete:
			one.Kind, one.Result = Nested, approval.Ask
		case result == approval.Allow: // for information
			continue
		default:
			concrete = concrete.Join(result)
		}
		found = append(found, one)
	}
	// Its own policy can make more of a finding than its severity says, and does
	// not say of which.
	own := a.Policy != nil && *a.Policy != "" && concrete != approval.Allow
	if said.Join(explained) != explained || own && said.Join(concrete) != concrete {
		found = append(found, Finding{Kind: Concrete, Result: said, Rule: "verdict", Title: "its verdict is stricter than what it found"})
	}
	return Report{Findings: sorted(found)}, nil
}

// incomplete is the rule of whatever was not analysed.
const incomplete = "analysis_incomplete"

// packages reports whether nothing is missing but what offline look-ups would
// say of a package: low and medium findings all of whose evidence is that.
func (f *finding) packages() bool {
	return (f.Severity == "MEDIUM" || f.Severity == "LOW" || f.Severity == "INFO") && len(f.Evidence) > 0 &&
		!slices.ContainsFunc(f.Evidence, func(e evidence) bool { return e.Type != "threat_intel" || e.Threat != "lookup_incomplete" })
}

// The words of the scanner. What is not among them is a block.
var (
	exits = map[int]approval.PolicyResult{0: approval.Allow, 1: approval.Block, 2: approval.Ask, 3: approval.Ask}

	actions = map[string]approval.PolicyResult{"allow": approval.Allow, "warn": approval.Ask, "warn_ack": approval.Ask, "block": approval.Block}

	severities = map[string]approval.PolicyResult{
		"INFO": approval.Allow, "LOW": approval.Ask, "MEDIUM": approval.Ask, "HIGH": approval.Block, "CRITICAL": approval.Block,
	}
)

// maxFindings is how many findings are kept, the strictest.
const maxFindings = 32

// sorted puts the strictest first, each once.
func sorted(found []Finding) []Finding {
	slices.SortStableFunc(found, func(a, b Finding) int {
		strict := func(f Finding) int {
			if f.Result == approval.Block {
				return 0
			}
			return 1
		}
		return cmp.Or(strict(a)-strict(b), cmp.Compare(a.Kind, b.Kind), strings.Compare(a.Rule, b.Rule), strings.Compare(a.Title, b.Title))
	})
	found = slices.Compact(found)
	return found[:min(len(found), maxFindings)]
}

// line is a text of the scanner as one short line.
func line(s string, most int) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "�")), " ")
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
