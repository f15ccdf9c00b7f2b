package kernel

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assent/job"
	"assent/plexus"
	"assent/toolkit"
)

// The kernel's own search prints nothing of a file that a rule keeps from being
// read, whatever licensed the search.
func TestASearchPrintsNoSecrets(t *testing.T) {
	for _, row := range []struct {
		why, mode, path string
		answer          bool
		want            []string
	}{
		{"in silence", "manual", ".", false, []string{"plain.txt"}},
		{"under yolo", "yolo", ".", false, []string{"plain.txt"}},
		{"a folder outside that a person allowed", "manual", "../out", true, []string{"notes.txt"}},
		{"a folder outside under yolo", "yolo", "../out", false, []string{"notes.txt"}},
	} {
		t.Run(row.why, func(t *testing.T) {
			tools := new(job.Registry)
			var w *world
			if _, err := toolkit.Register(tools, toolkit.Options{Opens: func(ctx context.Context, call job.Call, path string) error { return w.Opens(ctx, call, path) }}); err != nil {
				t.Fatal(err)
			}
			w = newWorld(t, Options{Registry: tools, Policies: shipped{}})
			dir, err := filepath.EvalSymlinks(w.dir)
			if err != nil {
				t.Fatal(err)
			}
			ws := filepath.Join(dir, "ws")
			for name, text := range map[string]string{"ws/plain.txt": "SECRET plain", "ws/.env": "SECRET=1", "ws/id_rsa": "SECRET 2", "ws/deep/key.pem": "SECRET 3",
				"out/notes.txt": "SECRET notes", "out/id_rsa": "SECRET 4", "out/.env": "SECRET 5"} {
				name = filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, []byte(text+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := w.CreateSession(t.Context(), NewSession{ID: "s", Mode: row.mode, Workspace: ws}, ada); err != nil {
				t.Fatal(err)
			}
			w.admit(NewCall{Session: "s", ID: "g", Kind: job.SystemTool, Name: "grep", Arguments: []byte(`{"pattern":"SECRET","path":` + plexus.Text(filepath.Join(ws, row.path)) + `}`)}, host)
			if row.answer {
				w.await("s", "g", plexus.PolicyResult)
				w.answer("s", "g", true)
			}
			got := w.outcome("s", "g")
			if n := strings.Count(got, "SECRET"); n != len(row.want) {
				t.Errorf("%d matches, want %d: %s", n, len(row.want), got)
			}
			for _, name := range row.want {
				if !strings.Contains(got, name) {
					t.Errorf("%s is missing: %s", name, got)
				}
			}
		})
	}
}
