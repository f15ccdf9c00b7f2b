package plexus

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// Who has the file can take the rules out, change rows and put the rules back.
// Verifying names the first row that is not as it was.
func TestVerifyNamesWhatWasChanged(t *testing.T) {
	const rows = 9
	for _, test := range []struct {
		why, text string
		rev       Rev
		want      string
	}{
		{"an answer turned round", "UPDATE field SET value = 'true' WHERE name = 'approved'", 6, "its hash"},
		{"another writer", "UPDATE field SET writer = 'human:eve' WHERE name = 'approved'", 6, "its hash"},
		{"another time", "UPDATE job SET at = at + 1 WHERE id = 'j'", 2, "its hash"},
		{"another call", `UPDATE job SET arguments = '{"command":"rm"}' WHERE id = 'j'`, 2, "its hash"},
		{"another view", "UPDATE field SET seen = seen - 1 WHERE name = 'orchestrationResult'", 7, "its hash"},
		{"another hash", "UPDATE field SET hash = randomblob(32) WHERE name = 'approved'", 6, "its hash"},
		{"a hash cut short", "UPDATE field SET hash = zeroblob(31) WHERE name = 'approved'", 6, "another length"},
		{"a hash that is too long", "UPDATE field SET hash = zeroblob(33) WHERE name = 'approved'", 6, "another length"},
		{"a writer who is nobody", "UPDATE field SET writer = 'ada' WHERE name = 'approved'", 6, "writer"},
		{"a row taken out", "DELETE FROM field WHERE name = 'approved'", 6, "missing"},
		{"the last row taken out", "DELETE FROM field WHERE rev = 9", 9, "missing"},
		{"the last row taken out, and the head with it", "DELETE FROM field WHERE rev = 9; UPDATE head SET rev = 8, hash = (SELECT hash FROM field WHERE rev = 8)", 9, "was kept"},
		{"the head turned back", "UPDATE head SET rev = 8", 9, "the head"},
		{"another head", "UPDATE head SET hash = randomblob(32)", 9, "the head"},
		{"a row of another transaction", "UPDATE field SET tx = 3 WHERE rev = 6", 6, "no transaction"},
		{"what is unsettled is forgotten", "DELETE FROM unsettled WHERE job = 'k'", 3, "k: it is not settled"},
		{"what is settled comes back", "INSERT INTO unsettled VALUES ('s', 'j')", 2, "j: it is in the list"},
		{"what never was is unsettled", "INSERT INTO unsettled VALUES ('s', 'x')", 0, "x: it is in the list"},
	} {
		t.Run(test.why, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "document")
			s := openAt(t, path)
			must(t, s, host, 0, Session{ID: "s"}, Job{Session: "s", ID: "j", Name: "Bash"}, Job{Session: "s", ID: "k", Name: "Bash"})
			must(t, s, host, 0, of(PolicyResult, `"ask"`), of(PolicyMessage, `"?"`))
			seen := must(t, s, human, 0, of(Approved, False))
			must(t, s, host, seen, of(OrchestrationResult, False))
			must(t, s, host, 0, of(OutcomeJSON, `{"ok":false}`), of(Completed, True))
			head, err := s.Verify(t.Context())
			if err != nil || head.Rev != rows {
				t.Fatalf("before: %v, %v", head, err)
			}
			conn := openDoor(t, path, 0)
			rules, err := objects(t.Context(), conn)
			if err != nil {
				t.Fatal(err)
			}
			for name, text := range rules {
				if what, ok := strings.CutPrefix(name, "trigger "); ok {
					test.text = "DROP TRIGGER " + what + "; " + test.text + "; " + text
				}
			}
			if _, err := conn.ExecContext(t.Context(), test.text); err != nil {
				t.Fatal(err)
			}
			if err := compareSchema(t.Context(), conn); err != nil {
				t.Fatalf("the rules are not as they were: %v", err)
			}
			_, err = s.Verify(t.Context(), head)
			var damage *Damage
			if !errors.As(err, &damage) || !errors.Is(err, ErrTampered) {
				t.Fatalf("got %v, want a *Damage", err)
			}
			if damage.Rev != test.rev || !strings.Contains(fmt.Sprint(err), test.want) {
				t.Errorf("got %v, want rev %d, %q", err, test.rev, test.want)
			}
		})
	}
}
