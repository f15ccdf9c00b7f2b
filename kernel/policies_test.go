package kernel

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"assent/approval"
	"assent/floor"
	"assent/internal/place"
	"assent/plexus"
)

// machine is policies in a scratch folder.
type machine struct {
	testing.TB
	PolicyFiles
	workspace string
	*Files
}

func newMachine(t testing.TB) *machine {
	t.Helper()
	dir := t.TempDir()
	m := &machine{TB: t, workspace: filepath.Join(dir, "w"), PolicyFiles: PolicyFiles{
		Operator: filepath.Join(dir, "config", "policy.yaml"),
		Managed:  filepath.Join(dir, "etc", "policy.yaml"),
		State:    filepath.Join(dir, "state"),
	}}
	if err := os.MkdirAll(m.workspace, 0o700); err != nil {
		t.Fatal(err)
	}
	m.open()
	t.Cleanup(func() { m.Files.Close() })
	return m
}

func (m *machine) open() {
	m.Helper()
	files, err := OpenPolicies(m.PolicyFiles)
	if err != nil {
		m.Fatal(err)
	}
	m.Files = files
}

// reopen is a restart of the daemon.
func (m *machine) reopen() {
	m.Helper()
	m.Files.Close()
	m.open()
}

func (m *machine) put(path, text string) {
	m.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		m.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		m.Fatal(err)
	}
}

// judge is what the policies say to a command.
func (m *machine) judge(command string) approval.PolicyResult {
	m.Helper()
	k := &Kernel{Options: Options{Policies: m.Files, Prepare: func(_ context.Context, _ *floor.Floor, c floor.Call) floor.Call { return c }}}
	v, _, err := k.evaluate(m.Context(), floor.Call{Name: "Bash", Arguments: bash(command), Workspace: m.workspace, Cwd: m.workspace}, lies{m.workspace, m.workspace})
	if err != nil {
		m.Fatal(err)
	}
	return v.Result
}

const (
	denies = "version: 1\nrun: {allow: [acme fmt], deny: [acme push], block: [acme bomb]}\n"
	broken = "version: 1\nrun: {allwo: [acme]}\n"
	empty  = "version: 1\n"
)

func TestPolicyFiles(t *testing.T) {
	type want struct{ fmt, push, bomb approval.PolicyResult }
	const allow, ask, deny, block = approval.Allow, approval.Ask, approval.Deny, approval.Block
	shipped := want{ask, ask, ask}
	inForce := want{allow, deny, block}
	left := want{ask, deny, block}
	tests := []struct {
		why   string
		do    func(m *machine)
		want  want
		says  string // among the errors
		quiet bool   // no errors
	}{
		{why: "none", do: func(*machine) {}, want: shipped, quiet: true},
		{why: "the operator's", do: func(m *machine) { m.put(m.Operator, denies) }, want: inForce, quiet: true},
		{why: "broken from the start: nothing is allowed", do: func(m *machine) { m.put(m.Operator, broken) }, want: shipped, says: "allwo"},
		{why: "broken later", do: func(m *machine) {
			m.put(m.Operator, denies)
			m.Layers(m.workspace)
			m.put(m.Operator, broken)
		}, want: left, says: "allwo"},
		{why: "broken over a restart", do: func(m *machine) {
			m.put(m.Operator, denies)
			m.Layers(m.workspace)
			m.put(m.Operator, broken)
			m.reopen()
		}, want: left, says: "allwo"},
		{why: "broken while the daemon was down", do: func(m *machine) {
			m.put(m.Operator, denies)
			m.Layers(m.workspace)
			m.Files.Close()
			m.put(m.Operator, broken)
			m.open()
		}, want: left, says: "allwo"},
		{why: "gone", do: func(m *machine) {
			m.put(m.Operator, denies)
			m.Layers(m.workspace)
			os.Remove(m.Operator)
		}, want: left, says: "it is gone"},
		{why: "gone over a restart", do: func(m *machine) {
			m.put(m.Operator, denies)
			m.Layers(m.workspace)
			os.Remove(m.Operator)
			m.reopen()
		}, want: left, says: "it is gone"},
		{why: "emptied", do: func(m *machine) {
			m.put(m.Operator, denies)
			m.Layers(m.workspace)
			m.put(m.Operator, empty)
		}, want: shipped, quiet: true},
		{why: "emptied, then broken: the last good one had no denies", do: func(m *machine) {
			m.put(m.Operator, denies)
			m.Layers(m.workspace)
			m.put(m.Operator, empty)
			m.Layers(m.workspace)
			m.put(m.Operator, broken)
		}, want: shipped, says: "allwo"},
		{why: "mended", do: func(m *machine) {
			m.put(m.Operator, denies)
			m.Layers(m.workspace)
			m.put(m.Operator, broken)
			m.Layers(m.workspace)
			m.put(m.Operator, denies)
		}, want: inForce, quiet: true},
		{why: "a link that leads nowhere", do: func(m *machine) {
			os.MkdirAll(filepath.Dir(m.Operator), 0o700)
			os.Symlink("/none/at/all", m.Operator)
		}, want: shipped, says: "leads nowhere"},
		{why: "in a folder that is a link and leads nowhere", do: func(m *machine) {
			os.MkdirAll(filepath.Dir(filepath.Dir(m.Operator)), 0o700)
			os.Remove(filepath.Dir(m.Operator))
			os.Symlink("/none/at/all", filepath.Dir(m.Operator))
		}, want: shipped, says: "leads nowhere"},
		{why: "a folder", do: func(m *machine) { os.MkdirAll(m.Operator, 0o700) }, want: shipped, says: "not a regular file"},
		{why: "the managed one only makes it stricter", do: func(m *machine) {
			m.put(m.Operator, empty)
			m.put(m.Managed, denies)
		}, want: left, quiet: true},
		{why: "the managed one broken", do: func(m *machine) {
			m.put(m.Operator, empty)
			m.put(m.Managed, denies)
			m.Layers(m.workspace)
			m.put(m.Managed, broken)
		}, want: left, says: "managed"},
		{why: "the project's broken", do: func(m *machine) {
			m.put(m.Operator, empty)
			m.put(place.ProjectPolicy(m.workspace), denies)
			m.Layers(m.workspace)
			m.put(place.ProjectPolicy(m.workspace), broken)
			m.reopen()
		}, want: left, says: "project"},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			m := newMachine(t)
			test.do(m)
			got := want{m.judge("acme fmt"), m.judge("acme push"), m.judge("acme bomb")}
			if got != test.want {
				t.Errorf("fmt, push, bomb: got %v, want %v", got, test.want)
			}
			says := strings.Join(m.Layers(m.workspace).Errors, "\n")
			if !strings.Contains(says, test.says) || test.quiet && says != "" {
				t.Errorf("errors %q, want %q", says, test.says)
			}
		})
	}
}

// While nothing is known of a broken policy, not even what ships allows.
func TestNothingIsAllowedWhileDeniesAreUnknown(t *testing.T) {
	m := newMachine(t)
	m.put(m.Operator, empty)
	if got := m.judge("ls"); got != approval.Allow {
		t.Fatal("ls:", got)
	}
	m = newMachine(t)
	m.put(m.Operator, broken)
	if got := m.judge("ls"); got != approval.Ask {
		t.Error("ls:", got)
	}
}

// What is wrong is told where people look, and taken back when it is right.
func TestPolicyErrorIsPresence(t *testing.T) {
	m := newMachine(t)
	m.put(m.Operator, denies)
	w := newWorld(t, Options{Policies: m.Files, Registry: registry(ok)})
	if _, err := w.CreateSession(t.Context(), NewSession{ID: "s", Workspace: m.workspace}, ada); err != nil {
		t.Fatal(err)
	}
	w.call("s", "waits", "some command")
	w.await("s", "waits", plexus.PolicyResult)

	hears := func(session, text string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		for values := range w.doc.WatchPresence(ctx, session) {
			if got := values[PolicyError]; text == "" && got == "" || text != "" && strings.Contains(got, text) {
				return
			}
		}
		t.Errorf("session %q: %q was never said", session, text)
	}
	m.put(m.Operator, broken)
	hears("", "allwo")
	w.call("s", "push", "acme push")
	hears("s", "allwo")
	if got := w.await("s", "push", plexus.PolicyResult); got != `"deny"` {
		t.Error("push:", got)
	}
	m.put(m.Operator, denies)
	hears("", "")
	w.call("s", "fmt", "acme fmt")
	hears("s", "")
	if got := w.outcome("s", "fmt"); got != `{"ok":true}` {
		t.Error("fmt:", got)
	}
}

// Where the last good text cannot be read, nobody knows what it denied.
func TestLastGoodThatCannotBeRead(t *testing.T) {
	for _, why := range []string{"a folder", "another language"} {
		for _, now := range []string{"broken", "gone"} {
			t.Run(why+", and the policy is "+now, func(t *testing.T) {
				m := newMachine(t)
				kept := goodFile(m.State, m.Operator, floor.Operator)
				if why == "a folder" {
					m.put(filepath.Join(kept, "x"), "")
				} else {
					m.put(kept, "version: 0\nforbid: [acme]\n")
				}
				if now == "broken" {
					m.put(m.Operator, broken)
				}
				m.reopen()
				if got := m.judge("ls"); got != approval.Ask {
					t.Error("ls:", got)
				}
				if says := strings.Join(m.Layers("").Errors, "\n"); !strings.Contains(says, "its last good text") {
					t.Errorf("errors %q", says)
				}
				m.put(m.Operator, denies)
				if got := m.judge("acme fmt"); got != approval.Allow {
					t.Error("with a good one:", got, m.Layers("").Errors)
				}
			})
		}
	}
}

// A good text that cannot be kept is in force all the same, is complained
// about, and is kept as soon as it can be.
func TestLastGoodThatCannotBeKept(t *testing.T) {
	m := newMachine(t)
	if err := os.RemoveAll(m.State); err != nil {
		t.Fatal(err)
	}
	m.put(m.Operator, denies)
	for range 2 {
		if got := m.judge("acme push"); got != approval.Deny {
			t.Error("push:", got)
		}
		if says := strings.Join(m.Layers("").Errors, "\n"); !strings.Contains(says, "would not be remembered") {
			t.Errorf("errors %q", says)
		}
	}
	if err := os.MkdirAll(m.State, 0o700); err != nil {
		t.Fatal(err)
	}
	if says := m.Layers("").Errors; len(says) > 0 {
		t.Errorf("errors %q", says)
	}
	m.put(m.Operator, broken)
	m.reopen()
	if got := m.judge("acme push"); got != approval.Deny {
		t.Error("push after a restart:", got)
	}
}

// No call touches the policies and what is kept of them, also where there are
// none yet and in places that nobody else knows of.
func TestNoCallTouchesPolicies(t *testing.T) {
	m := newMachine(t)
	for _, path := range []string{m.Operator, m.Managed, m.State, filepath.Join(m.State, "x.yaml"), place.ProjectPolicy(m.workspace)} {
		for _, command := range []string{"echo x > ", "rm -rf ", "mv x ", "ln -sf x "} {
			if got := m.judge(command + path); got != approval.Block {
				t.Errorf("%s%s: %v", command, path, got)
			}
		}
	}
}

// Having no policy is told, and is no error.
func TestNoOperatorPolicyIsNoError(t *testing.T) {
	m := newMachine(t)
	w := newWorld(t, Options{Policies: m.Files, Registry: registry(ok)})
	if got := w.doc.Presence("")[PolicyError]; got != NoOperatorPolicy {
		t.Errorf("it says %q", got)
	}
	m.put(m.Managed, broken)
	if l := m.Layers(""); !l.Missing || strings.Contains(l.policyError(), NoOperatorPolicy) {
		t.Errorf("beside an error it says %q", l.policyError())
	}
	m.put(m.Managed, empty)
	m.put(m.Operator, empty)
	if l := m.Layers(""); l.Missing || l.policyError() != "" {
		t.Errorf("with one it says %q", l.policyError())
	}
}

// A policy that cannot be read in its time keeps nobody else's calls from being
// judged, and that of a project is forgotten with its last session.
func TestPoliciesDoNotWaitForEachOther(t *testing.T) {
	dir := t.TempDir()
	p, err := OpenPolicies(PolicyFiles{State: filepath.Join(dir, "state")})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	slow, other := filepath.Join(dir, "slow"), filepath.Join(dir, "other")
	stop := p.Notify(slow, func() {})
	f := p.file(place.ProjectPolicy(slow), floor.Project)
	f.mu.Lock() // somebody reads it, and does not come to an end
	if l := p.Layers(other); len(l.Errors) != 0 {
		t.Errorf("got %v", l.Errors)
	}
	f.mu.Unlock()
	stop()
	if n := len(p.known); n != 0 {
		t.Errorf("%d policies are kept for nobody", n)
	}
}

// The policy of a project has a size that is read in a moment; one that is
// longer is not in force, and what it denied is not known.
func TestAProjectsPolicyIsShort(t *testing.T) {
	dir := t.TempDir()
	p, err := OpenPolicies(PolicyFiles{State: filepath.Join(dir, "state")})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	path := place.ProjectPolicy(dir)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	text := "version: 1\n" + strings.Repeat("# x\n", floor.MaxProject/4)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if l := p.Layers(dir); len(l.Errors) != 1 || !l.Unknown || !strings.Contains(l.Errors[0], "that is no policy of a project") {
		t.Errorf("got %v, unknown %v", l.Errors, l.Unknown)
	}
}

// project makes a workspace with a policy of its own that has so many patterns, and
// which somebody works in.
func (m *machine) project(name string, patterns int) (workspace string) {
	m.Helper()
	workspace = filepath.Join(filepath.Dir(m.workspace), name)
	m.put(place.ProjectPolicy(workspace), "version: 1\nrun: {deny: [acme push]}\nread: {deny: ["+strings.Repeat("secret,", patterns-1)+"]}\n")
	m.Cleanup(m.Notify(workspace, func() {}))
	return workspace
}

// What is kept of projects' policies is bounded however many there are, and what one
// denied is known all the same when it is broken since.
func TestPoliciesOfProjectsAreForgotten(t *testing.T) {
	m := newMachine(t)
	m.put(m.Operator, empty)
	const patterns = 1000
	first, often := m.project("first", patterns), m.project("often", patterns)
	m.Layers(first)
	one := m.Layers(often).Floor.Project
	if m.Layers(often).Floor.Project != one {
		t.Error("two calls in a workspace have a policy of their own each")
	}
	for i := range maxKept/one.Weight() + 2 {
		m.Layers(m.project("w"+strconv.Itoa(i), patterns))
		m.Layers(often)
		weight := 0
		for _, f := range m.known {
			if f.layer == floor.Project {
				weight += f.policy.Weight()
			}
		}
		if weight > maxKept || weight != m.weight {
			t.Fatalf("policies of %d bytes are kept, counted as %d, after %d workspaces", weight, m.weight, i+3)
		}
	}
	if m.known[place.ProjectPolicy(first)] != nil {
		t.Error("the first one is known still")
	}
	if m.Layers(often).Floor.Project != one {
		t.Error("one that is asked for again and again was forgotten")
	}
	m.workspace = first
	m.put(place.ProjectPolicy(first), broken)
	if got := m.judge("acme push"); got != approval.Deny {
		t.Error("push:", got, m.Layers(first).Errors)
	}
}

// Where nothing is kept in files, what a project's policy denied is not forgotten.
func TestPoliciesThatAreKeptNowhereElse(t *testing.T) {
	m := newMachine(t)
	m.Files.Close()
	m.State = ""
	m.open()
	first := m.project("first", 1000)
	one := m.Layers(first).Floor.Project
	for i := range maxKept/one.Weight() + 2 {
		m.Layers(m.project("w"+strconv.Itoa(i), 1000))
	}
	m.workspace = first
	m.put(place.ProjectPolicy(first), broken)
	if got := m.judge("acme push"); got != approval.Deny {
		t.Error("push:", got)
	}
}

// What took the last good text away is told, and nothing is allowed.
func TestLastGoodThatIsTakenAway(t *testing.T) {
	m := newMachine(t)
	m.put(m.Operator, denies)
	m.Layers("")
	if err := os.RemoveAll(m.State); err != nil {
		t.Fatal(err)
	}
	m.put(m.Operator, broken)
	if got := m.judge("ls"); got != approval.Ask {
		t.Error("ls:", got)
	}
	if says := strings.Join(m.Layers("").Errors, "\n"); !strings.Contains(says, "took it away") {
		t.Errorf("errors %q", says)
	}
}

// A policy with a problem in every line does not fill the memory with them.
func TestFewProblemsAreTold(t *testing.T) {
	m := newMachine(t)
	m.put(m.Operator, "version: 1\nrun: {allow: ["+strings.Repeat("'',", 500)+"]}\n")
	says := strings.Join(m.Layers("").Errors, "\n")
	if len(says) > maxTold+1000 || !strings.Contains(says, "more") || strings.Count(says, "\n") < 5 {
		t.Error(says)
	}
}

// A text that may be the beginning of one that is being written loosens nothing
// yet: what the one before it restricted still is, until it has stood for a while.
func TestAPolicyThatIsBeingSaved(t *testing.T) {
	const rules = "version: 1\nrun:\n  allow: [acme]\n  deny: [acme push]\n"
	padded := func(text string) string { // to the end of a block
		return text + strings.Repeat("#", block-1-len(text)%block) + "\n"
	}
	m := newMachine(t)
	now := time.Now()
	m.Files.now = func() time.Time { return now }
	judge := func() approval.PolicyResult {
		t.Helper()
		l := m.Layers("")
		call := floor.Call{Name: "Bash", Arguments: bash("acme push"), Workspace: m.workspace}
		got := l.Floor.Judge(call).Result
		if l.Before != nil {
			got = got.Join(l.Before.Judge(call).Result)
		}
		return got
	}
	is := func(why string, want approval.PolicyResult) {
		t.Helper()
		if got := judge(); got != want {
			t.Errorf("%s: %v, want %v", why, got, want)
		}
	}
	half, other := padded("version: 1\nrun:\n  allow: [acme]\n"), padded("version: 1\nrun:\n  allow: [acme, other]\n")
	m.put(m.Operator, half)
	is("the first text of all", approval.Allow)
	m.put(m.Operator, rules)
	is("a whole one", approval.Deny)
	m.put(m.Operator, half)
	is("the first piece", approval.Deny)
	m.put(m.Operator, other)
	is("the next", approval.Deny)
	m.put(m.Operator, other[:len(other)-1]+"x")
	m.reopen()
	m.Files.now = func() time.Time { return now }
	is("after a restart in the middle of it", approval.Deny)
	m.put(m.Operator, "version: [")
	is("broken, what was whole counts", approval.Deny)
	m.put(m.Operator, half)
	is("mended, but perhaps in part", approval.Deny)
	now = now.Add(time.Hour)
	is("it has stood", approval.Allow)
	now = time.Now()
	m.put(m.Operator, rules)
	is("a stricter one at once", approval.Deny)
	m.put(m.Operator, "version: 1\nrun: {allow: [acme]}\n")
	is("a short one, written at once", approval.Allow)
}

// Whoever is told of policies is told when they say something else, and not of
// every touch.
func TestNotifiedOfWhatChanged(t *testing.T) {
	m := newMachine(t)
	m.put(m.Operator, "version: 1\n")
	told := make(chan struct{}, 100)
	defer m.Notify("", func() { told <- struct{}{} })()
	at := map[string]bool{m.Operator: true}
	count := func(why string, want int) {
		t.Helper()
		m.changed(at, false)
		got := 0
		for len(told) > 0 {
			<-told
			got++
		}
		if got != want {
			t.Errorf("%s: told %d times, want %d", why, got, want)
		}
	}
	m.Files.Close() // nothing is told but by this test
	for len(told) > 0 {
		<-told
	}
	m.changed(at, false)
	for len(told) > 0 {
		<-told
	}
	count("nothing happened", 0)
	if err := os.Chtimes(m.Operator, time.Now(), time.Now()); err != nil {
		t.Fatal(err)
	}
	count("it was touched", 0)
	m.put(m.Operator, "version: 1\nrun: {deny: [x]}\n")
	count("it was saved", 1)
	m.put(m.Operator, "version: 1\n")
	count("it was put back", 1)
	if err := os.Remove(m.Operator); err != nil {
		t.Fatal(err)
	}
	count("it is gone", 1)
}
