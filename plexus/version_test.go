package plexus

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// schemas are the versions there were, by what they are made of.
var schemas = map[int]string{
	2: "2e20d574df3f695a0ed8de90b239cd186c5a71ab9350058c77de3e04e847f7e8",
	3: "53bab43ad948b1c33a30896ea35972486cffe3513d7d64f48e72071e55352424",
	4: "88566a424926876faafd5b0585c9531644af8682134d4e7f22fe4cf57f962b1a",
}

// A schema that was changed is another version: documents of the one before
// must not be taken for tampered ones.
func TestSchemaHasItsVersion(t *testing.T) {
	sum := sha256.Sum256([]byte(schema))
	if got := hex.EncodeToString(sum[:]); got != schemas[version] {
		t.Errorf("the schema is not that of version %d. Give it the next number and add it here: %s", version, got)
	}
}

func TestOtherVersions(t *testing.T) {
	text := func(file string) string {
		t.Helper()
		rule, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		return string(rule)
	}
	older := "DROP TRIGGER field_law; " + text("field_law_3.sql")
	oldest := older + "DROP TRIGGER register_law; " + text("register_law_2.sql")
	for _, test := range []struct {
		why, text string
		want      string // of the error, "" for none
	}{
		{"of the version before", older + "PRAGMA user_version=3", ""},
		{"of the version before, with other rules", older + "PRAGMA user_version=3; DROP TRIGGER unsettled_follows", "its version is 3, this program's 4; move it away"},
		{"of the version before, with another of the one rule", "PRAGMA user_version=3; DROP TRIGGER field_law", "its version is 3, this program's 4; move it away"},
		{"of the version before, with rules of an older one", oldest + "PRAGMA user_version=3", "its version is 3, this program's 4; move it away"},
		{"of the version before that", oldest + "PRAGMA user_version=2", ""},
		{"of the version before that, with the rules of the one after it", older + "PRAGMA user_version=2", "its version is 2, this program's 4; move it away"},
		{"of before numbers, with the rules of the first version that has one", oldest + "PRAGMA user_version=1", ""},
		{"of before numbers, with others", "PRAGMA user_version=1; DROP TRIGGER unsettled_follows", "its version is 1, this program's 4; move it away"},
		{"of a newer program", fmt.Sprintf("PRAGMA user_version=%d", version+1), "a newer program made it"},
		{"of none", "PRAGMA user_version=0", "its version is 0"},
		{"below", "PRAGMA user_version=-1", "its version is -1"},
		{"of another program", "PRAGMA application_id=7", "another program's"},
		{"of this version, with other rules", "DROP TRIGGER unsettled_follows", "unsettled_follows is missing"},
	} {
		t.Run(test.why, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "document")
			if err := states(t, path).Close(); err != nil {
				t.Fatal(err)
			}
			conn := openDoor(t, path, 0)
			if _, err := conn.ExecContext(t.Context(), test.text); err != nil {
				t.Fatal(err)
			}
			s, err := Open(path, Options{Now: at})
			if test.want != "" {
				if !errors.Is(err, ErrSchema) || !strings.Contains(err.Error(), test.want) {
					t.Errorf("got %v, want %q", err, test.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			mustVerify(t, s)
			must(t, s, Writer{Human, "a"}, 0, Register{Session: "s", Name: AutoAllow, Value: `{"bash":"2026-02-28T23:59:59Z"}`})
			var got int
			if err := conn.QueryRowContext(t.Context(), "PRAGMA user_version").Scan(&got); err != nil || got != version {
				t.Errorf("its version is %d, %v", got, err)
			}
		})
	}
}
