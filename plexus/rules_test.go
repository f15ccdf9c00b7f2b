package plexus

import (
	"errors"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var line = regexp.MustCompile(`(?m)^  WHEN `)

// Every line of the schema's laws is needed: without it, one of the refused
// rows is taken or is refused for another reason, or one of the taken is
// refused. So the tables are known to test them all.
func TestEveryLineOfTheLawCounts(t *testing.T) {
	if testing.Short() {
		t.Skip("makes a document for every line")
	}
	whole := schema
	defer func() { schema = whole }()
	// Lines that a row meets in other tests: places, values of the head.
	elsewhere := regexp.MustCompile(`assent: order`)
	lines := 0
	for _, trigger := range []string{"session_law", "job_law", "field_law", "register_law"} {
		start := strings.Index(whole, "CREATE TRIGGER "+trigger)
		end := start + strings.Index(whole[start:], "\nEND; END;")
		body := whole[start:end]
		at := line.FindAllStringIndex(body, -1)
		if len(at) < 5 {
			t.Fatalf("%s has %d lines", trigger, len(at))
		}
		for i, from := range at {
			to := len(body)
			if i+1 < len(at) {
				to = at[i+1][0]
			}
			text := body[from[0]:to]
			if elsewhere.MatchString(text) {
				continue
			}
			lines++
			t.Run(trigger+"/"+strings.Join(strings.Fields(text), " "), func(t *testing.T) {
				schema = whole[:start] + body[:from[0]] + body[to:] + whole[end:]
				path := filepath.Join(t.TempDir(), "document")
				states(t, path)
				schema = whole
				conn := openDoor(t, path, 0)
				for _, test := range refused {
					if got := try(t, conn, insertSQL("INSERT", "", test.row, test.by, spot{})); !errors.Is(got, test.want) {
						return
					}
				}
				for _, test := range taken {
					if try(t, conn, insertSQL("INSERT", "", test.row, test.by, spot{})) != nil {
						return
					}
				}
				t.Error("no test needs this line")
			})
		}
	}
	if lines < 40 {
		t.Errorf("only %d lines were found", lines)
	}
}

// Whoever drops or changes a rule is found when the document is opened.
func TestTamperedRulesAreFound(t *testing.T) {
	for _, test := range []struct{ why, text, want string }{
		{"a trigger dropped", "DROP TRIGGER field_law", "trigger field_law is missing"},
		{"a trigger put in", "CREATE TRIGGER x BEFORE INSERT ON field BEGIN SELECT RAISE(IGNORE); END", "trigger x does not belong there"},
		{"a trigger replaced", "DROP TRIGGER field_no_update; CREATE TRIGGER field_no_update BEFORE UPDATE ON field BEGIN SELECT 1; END", "trigger field_no_update is another"},
		{"a table renamed", "ALTER TABLE register RENAME TO registers", "is"},
		{"several dropped: all are named, in their order", "DROP TRIGGER field_no_update; DROP TRIGGER field_law; DROP INDEX field_once",
			"index field_once is missing, trigger field_law is missing, trigger field_no_update is missing; another program changed it"},
		{"an index dropped", "DROP INDEX field_once", "index field_once is missing"},
		{"a later version", "PRAGMA user_version = 99", "version is 99"},
		{"another program's", "PRAGMA application_id = 7", "another program's"},
	} {
		t.Run(test.why, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "document")
			s, err := Open(path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			conn := openDoor(t, path, 0)
			if _, err := conn.ExecContext(t.Context(), test.text); err != nil {
				t.Fatal(err)
			}
			if _, err := Open(path, Options{}); !errors.Is(err, ErrSchema) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}
