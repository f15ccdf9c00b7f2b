package floor

import (
	"strings"
	"testing"

	"assent/approval"
)

// The table of law §11 and ruling 16: what a report adds to a call that the
// floor allows by itself.
func TestScan(t *testing.T) {
	done := func(f ...ScanFinding) Scan { return Scan{State: ScanDone, Findings: f} }
	block := ScanFinding{Rule: "pipe-to-shell", Message: "text from a network is run"}
	warn := ScanFinding{Rule: "lookalike", Action: ScanWarn}
	nested := ScanFinding{Cause: ScanNested, Rule: "analysis_incomplete", Action: ScanWarn}
	packages := ScanFinding{Cause: ScanPackages, Rule: "analysis_incomplete", Action: ScanWarn}
	failed := Scan{State: ScanFailed, Why: "its socket is closed"}
	for _, c := range []struct {
		reason, scanner, tool string
		scan                  Scan
		want                  approval.PolicyResult
		incomplete            bool
		message               string
	}{
		{"auto without one", "auto", "Bash", Scan{}, approval.Allow, false, ""},
		{"no word without one", "", "Bash", Scan{}, approval.Allow, false, ""},
		{"required without one", "required", "Bash", Scan{}, approval.Block, false, "none is installed"},
		{"required without one, another spelling", "required", "run_shell_command", Scan{}, approval.Block, false, "none is installed"},
		{"required without one, inside a batch", "required", "batch", Scan{}, approval.Block, false, "none is installed"},
		{"required is about commands", "required", "Read", Scan{}, approval.Allow, false, ""},
		{"off", "off", "Bash", done(block), approval.Allow, false, ""},
		{"off and broken", "off", "Bash", failed, approval.Allow, false, ""},
		{"could not run", "auto", "Bash", failed, approval.Block, false, "its socket is closed"},
		{"required, could not run", "required", "Bash", failed, approval.Block, false, "its socket is closed"},
		{"nothing found", "required", "Bash", done(), approval.Allow, false, ""},
		{"block", "auto", "Bash", done(block), approval.Block, false, "text from a network is run"},
		{"warn", "auto", "Bash", done(warn), approval.Ask, false, "lookalike"},
		{"nested body alone", "auto", "Bash", done(nested), approval.Ask, true, "nested"},
		{"package data", "auto", "Bash", done(packages), approval.Allow, false, ""},
		{"both kinds of incomplete", "auto", "Bash", done(packages, nested), approval.Ask, true, "nested"},
		{"warn and nested", "auto", "Bash", done(nested, warn), approval.Ask, false, ""},
		{"strictest", "auto", "Bash", done(warn, nested, block), approval.Block, false, "pipe-to-shell"},
		{"unknown action", "auto", "Bash", done(ScanFinding{Action: 9}), approval.Block, false, ""},
		{"unknown cause", "auto", "Bash", done(ScanFinding{Cause: 9}), approval.Ask, true, ""},
		{"unknown state", "auto", "Bash", Scan{State: 9}, approval.Block, false, "could not run"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			var f Floor
			if c.scanner != "" {
				p, err := ParsePolicy("p.yaml", []byte("version: 1\nscanner: "+c.scanner+"\n"))
				if err != nil {
					t.Fatal(err)
				}
				f.Operator = p
			}
			args := `{"command": "ls"}`
			switch c.tool {
			case "Read":
				args = `{"file_path": "x"}`
			case "batch":
				args = `{"calls": [{"tool": "Bash", "arguments": {"command": "ls"}}]}`
			}
			v := f.Judge(Call{Name: c.tool, Arguments: []byte(args), Workspace: "/w", Scan: c.scan})
			if v.Result != c.want || v.Incomplete != c.incomplete || !strings.Contains(v.Message, c.message) {
				t.Errorf("%s, %+v: have %s, incomplete %t, %q; want %s, %t, %q", c.scanner, c.scan, v.Result, v.Incomplete, v.Message, c.want, c.incomplete, c.message)
			}
		})
	}
}

// A floor's own ask beside a nested body is no remainder of kind incomplete.
func TestScanBesideTheFloor(t *testing.T) {
	var f Floor
	scan := Scan{State: ScanDone, Findings: []ScanFinding{{Cause: ScanNested}}}
	v := f.Judge(Call{Name: "Bash", Arguments: []byte(`{"command": "npm install"}`), Workspace: "/w", Scan: scan})
	if v.Result != approval.Ask || v.Incomplete {
		t.Errorf("npm install: %s, incomplete %t; want ask, false", v.Result, v.Incomplete)
	}
}

// A managed or a project's policy makes the setting stricter and never looser.
func TestScannerSetting(t *testing.T) {
	with := func(s Scanner) *Policy { return &Policy{Scanner: s} }
	for _, c := range []struct {
		reason                     string
		operator, managed, project *Policy
		want                       Scanner
	}{
		{"nothing", nil, nil, nil, ScannerAuto},
		{"operator off", with(ScannerOff), nil, nil, ScannerOff},
		{"managed required", with(ScannerOff), with(ScannerRequired), nil, ScannerRequired},
		{"project required", nil, nil, with(ScannerRequired), ScannerRequired},
		{"managed off", nil, with(ScannerOff), nil, ScannerAuto},
		{"project off", with(ScannerRequired), nil, with(ScannerOff), ScannerRequired},
	} {
		f := Floor{Operator: c.operator, Managed: c.managed, Project: c.project}
		if have := f.Setting(); have != c.want {
			t.Errorf("%s: have %s, want %s", c.reason, have, c.want)
		}
	}
}
