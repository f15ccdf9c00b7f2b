package kernel

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"assent/approval"
	"assent/floor"
	"assent/job"
	"assent/plexus"
	"assent/senses"
)

// The files of the kernel are its own by whatever name a call reaches them: people
// keep settings in a folder of dotfiles and link to them.
func TestOwnFilesThatAreLinks(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ws, config := filepath.Join(dir, "ws"), filepath.Join(dir, "config")
	for _, d := range []string{config, filepath.Join(ws, "dot"), filepath.Join(ws, "stow", "assent"), filepath.Join(ws, ".assent")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const lets = "version: 1\nwrite: {allow: [.]}\ndelete: {allow: [.]}\n"
	write(filepath.Join(ws, "dot", "policy.yaml"), lets)
	write(filepath.Join(ws, "stow", "assent", "config.json"), "{}")
	write(filepath.Join(ws, "rules.yaml"), "version: 1\n")
	for link, target := range map[string]string{
		filepath.Join(config, "policy.yaml"):         filepath.Join(ws, "dot", "policy.yaml"),
		filepath.Join(config, "assent"):              "../ws/stow/assent",
		filepath.Join(ws, ".assent", "policy.yaml"):  "../rules.yaml",
		filepath.Join(ws, "judges"):                  "dot",
		filepath.Join(ws, "shortcut-to-the-folder"):  "dot",
		filepath.Join(ws, "dot", "another-name.yml"): "policy.yaml",
	} {
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
	}
	policies, err := OpenPolicies(PolicyFiles{Operator: filepath.Join(config, "policy.yaml"), State: filepath.Join(dir, "state")})
	if err != nil {
		t.Fatal(err)
	}
	defer policies.Close()
	w := newWorld(t, Options{
		Policies: policies, Own: []string{filepath.Join(config, "assent", "config.json"), filepath.Join(ws, "judges", "judge.scm")},
		Prepare: func(_ context.Context, f *floor.Floor, call floor.Call) floor.Call {
			return senses.CompleteFor(f, call)
		},
	})
	if _, err := w.CreateSession(t.Context(), NewSession{ID: "s", Workspace: ws, Mode: "yolo"}, host); err != nil {
		t.Fatal(err)
	}
	for i, test := range []struct {
		command string
		want    approval.PolicyResult
	}{
		{"echo x >dot/other", approval.Allow},
		{"echo x >dot/policy.yaml", approval.Block},
		{"echo x >shortcut-to-the-folder/policy.yaml", approval.Block},
		{"echo x >dot/another-name.yml", approval.Block},
		{"rm -rf dot", approval.Block},
		{"mv dot elsewhere", approval.Block},
		{"ln -sf x dot/policy.yaml", approval.Block},
		{"sed -i s/a/b/ stow/assent/config.json", approval.Block},
		{"rm -r stow", approval.Block},
		{"echo x >rules.yaml", approval.Block},
		{"echo x >judges/judge.scm", approval.Block},
		{"echo x >judges/other", approval.Allow},
		{"rm judges", approval.Block},
		{"ln -sfn elsewhere judges", approval.Block},
		{"mv judges other-judges", approval.Block},
		{"mv elsewhere judges", approval.Block}, // into the folder behind it, or in its place
		{"rm jud*", approval.Block},
		{"rm other*", approval.Allow},
		{"mv -T elsewhere judges", approval.Block},
		{"rm -rf elsewhere", approval.Allow},
	} {
		id := fmt.Sprint("call-", i)
		w.admit(NewCall{Session: "s", ID: id, Kind: job.SystemTool, Name: "Bash", Arguments: bash(test.command)}, host)
		if got := w.await("s", id, plexus.PolicyResult); got != `"`+test.want.String()+`"` {
			t.Errorf("%s: %s, want %v", test.command, got, test.want)
		}
	}
}
