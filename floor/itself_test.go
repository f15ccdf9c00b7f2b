package floor

import (
	"testing"

	"assent/approval"
)

// The kernel is ended by its own command alone, which no agent may give: not by
// its number and not by its name, whatever a policy says of other processes.
func TestNobodyEndsTheKernel(t *testing.T) {
	p, err := ParsePolicy("/policy.yaml", []byte("version: 1\nrun:\n  allow: ['@process', '@system', '@service', assent]\n"))
	if err != nil {
		t.Fatal(err)
	}
	f := Floor{Operator: p, Processes: []int{4321}}
	for command, want := range map[string]Result{
		"kill 4321":                            approval.Block,
		"kill -9 4321":                         approval.Block,
		"kill -s KILL 17 4321":                 approval.Block,
		"kill -- -4321":                        approval.Block,
		"kill -STOP 4321":                      approval.Block,
		"sudo kill 4321":                       approval.Block,
		"sh -c 'kill 4321'":                    approval.Block,
		"echo 4321 | xargs kill -9 4321":       approval.Block,
		"gdb -p 4321":                          approval.Block,
		"pkill assent":                         approval.Block,
		"pkill -f 'assent up'":                 approval.Block,
		"pkill -x '^assent$'":                  approval.Block,
		"timeout 5 pkill -9 /usr/bin/assent":   approval.Block,
		"killall -9 assent":                    approval.Block,
		"skill assent":                         approval.Block,
		"systemctl --user stop assent":         approval.Block,
		"systemctl stop assent.service":        approval.Block,
		"systemctl --user kill assent.service": approval.Block,

		"kill -0 4321":                      approval.Allow, // only looks whether it is there
		"kill 43210":                        approval.Allow,
		"kill -9 432":                       approval.Allow,
		"pkill node":                        approval.Allow,
		"pkill assentor":                    approval.Allow,
		"pkill -f ~/assent/server":          approval.Allow,
		"pgrep assent":                      approval.Allow,
		"systemctl --user restart postgres": approval.Allow,
		"systemctl status assent":           approval.Allow,
	} {
		if got := f.Judge(bash(command)); got.Result != want {
			t.Errorf("%s: %v, want %v", command, got.Result, want)
		}
	}
}
