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

		"kill -9 -1":                  approval.Block,
		"kill -KILL -1":               approval.Block,
		"kill -s KILL -1":             approval.Block,
		"kill -n 9 -1":                approval.Block,
		"kill -- -1":                  approval.Block,
		"kill -1 -1":                  approval.Block,
		"kill -SIGSTOP -- -1":         approval.Block,
		"kill --signal 9 -1":          approval.Block,
		"kill -9 -1 --help":           approval.Block,
		"kill -9 7 -1 8":              approval.Block,
		"sudo kill -9 -1":             approval.Block,
		"/bin/kill -9 -1":             approval.Block,
		"killall5":                    approval.Block,
		"killall5 -9":                 approval.Block,
		"slay you":                    approval.Block,
		"pkill asse":                  approval.Block,
		"pkill ssent":                 approval.Block,
		"pkill -9 'a.*t'":             approval.Block,
		"pkill -f .":                  approval.Block,
		"pkill -f 'sent up'":          approval.Block,
		"pkill -f bin/":               approval.Block,
		"pkill -9fi ASSE":             approval.Block,
		"pkill -i ASSENT":             approval.Block,
		"pkill -u you":                approval.Block,
		"pkill --euid you":            approval.Block,
		"pkill -U 1000":               approval.Block,
		"pkill -P 1":                  approval.Block,
		"pkill -P 7,1":                approval.Block,
		"pkill --inverse node":        approval.Block,
		"pkill '('":                   approval.Block,
		"pkill -x 'asse.t'":           approval.Block,
		"pkill '\\<assent'":           approval.Block,
		"killall -r 'ass.*'":          approval.Block,
		"killall --regexp .":          approval.Block,
		"killall -u you":              approval.Block,
		"killall -I ASSENT":           approval.Block,
		"killall -o 1s":               approval.Block,
		"skill -KILL -u you":          approval.Block,
		"fuser -k -m /":               approval.Block,
		"fuser -km /home":             approval.Block,
		"loginctl kill-user you":      approval.Block,
		"loginctl terminate-user you": approval.Block,
		"xargs kill -9 -1":            approval.Block,

		"kill -1 77":                        approval.Allow,
		"kill -9 -77":                       approval.Allow,
		"kill -1":                           approval.Allow,
		"kill -HUP 77":                      approval.Allow,
		"kill %1":                           approval.Allow,
		"pkill -f vite":                     approval.Allow,
		"pkill -f 'node server'":            approval.Allow,
		"pkill -x sent":                     approval.Allow,
		"pkill -9 node":                     approval.Allow,
		"pkill -P 77":                       approval.Allow,
		"pkill -u you node":                 approval.Allow,
		"pkill -KILL -f 'next dev'":         approval.Allow,
		"killall node":                      approval.Allow,
		"killall -INT node":                 approval.Allow,
		"killall -r 'node.*'":               approval.Allow,
		"killall -u you node":               approval.Allow,
		"fuser -k 8080/tcp":                 approval.Allow,
		"loginctl kill-session 3":           approval.Allow,
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
