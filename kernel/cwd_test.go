package kernel

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assent/plexus"
)

// A call is judged where it starts.
func TestACallStartsWhereItsClientSays(t *testing.T) {
	w := newWorld(t, Options{Policies: shipped{}})
	dir, err := filepath.EvalSymlinks(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	ws := filepath.Join(dir, "ws")
	for _, name := range []string{"ws/sub", "out"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.CreateSession(t.Context(), NewSession{ID: "s", Workspace: ws}, ada); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		id, facts, result, target string
		refused                   bool
	}{
		{"inside", `{"cwd":` + plexus.Text(ws+"/sub") + `}`, "allow", `"target":"sub/x"`, false},
		{"outside", `{"cwd":` + plexus.Text(dir+"/out") + `}`, "deny", `/out/x"`, false},
		{"up-and-down", `{"cwd":` + plexus.Text(ws+"/../out") + `}`, "", "", true}, // a link on the way would make it another folder
		{"unsaid", `{"client":"c"}`, "allow", `"target":"x"`, false},
		{"empty", `{"cwd":""}`, "", "", true},
		{"relative", `{"cwd":"sub"}`, "", "", true},
		{"number", `{"cwd":1}`, "", "", true},
		{"null", `{"cwd":null}`, "", "", true},
	} {
		_, err := w.Admit(t.Context(), NewCall{Session: "s", ID: row.id, Name: "Bash", Arguments: bash("cat x"), Facts: row.facts}, hook)
		if (err != nil) != row.refused {
			t.Errorf("%s: got %v", row.id, err)
		}
		if row.refused {
			continue
		}
		if got := w.await("s", row.id, plexus.PolicyResult); got != `"`+row.result+`"` {
			t.Errorf("%s: got %s, want %s", row.id, got, row.result)
		}
		if got := w.fields("s", row.id)[plexus.Explanation]; !strings.Contains(got, row.target) {
			t.Errorf("%s: %s is not in %s", row.id, row.target, got)
		}
	}
}

// The tools of a call are those of the client that its session names.
func TestToolsOfTheSessionsClient(t *testing.T) {
	w := newWorld(t, Options{Policies: shipped{}})
	for client, want := range map[string]string{"opencode": `"ask"`, "Claude Code": `"allow"`} {
		id := strings.ReplaceAll(client, " ", "")
		if _, err := w.CreateSession(t.Context(), NewSession{ID: id, Client: client, Workspace: w.dir}, ada); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Admit(t.Context(), NewCall{Session: id, ID: "j", Name: "todo_write", Arguments: []byte(`{}`)}, hook); err != nil {
			t.Fatal(err)
		}
		if got := w.await(id, "j", plexus.PolicyResult); got != want {
			t.Errorf("%s: got %s, want %s", client, got, want)
		}
	}
}

// A part ".." behind a link leads elsewhere than its text says.
func TestAFolderThatClimbsIsRefused(t *testing.T) {
	w := newWorld(t, Options{})
	w.session("s", "manual")
	for _, cwd := range []string{"/a/link/..", "/a/../b", "/.."} {
		if _, err := w.Admit(t.Context(), NewCall{Session: "s", Name: "Bash", Arguments: bash("let it"), Facts: `{"cwd":"` + cwd + `"}`}, hook); !errors.Is(err, ErrPlace) {
			t.Errorf("%s: %v", cwd, err)
		}
		if _, err := w.Same(t.Context(), "s", "Bash", bash("let it"), cwd, hook); !errors.Is(err, ErrPlace) {
			t.Errorf("the same call in %s: %v", cwd, err)
		}
	}
	if _, err := w.CreateSession(t.Context(), NewSession{ID: "up", Workspace: w.dir + "/.."}, ada); !errors.Is(err, ErrPlace) {
		t.Errorf("a workspace: %v", err)
	}
}
