package plexus

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
)

// Whatever a kernel asks for when it starts or works is found by an index: it
// costs what is found, not what the document holds.
func TestNothingIsLookedThrough(t *testing.T) {
	s := states(t, filepath.Join(t.TempDir(), "document"))
	for _, test := range []struct{ why, query string }{
		{"what is unsettled", unsettledSessions},
		{"jobs of a session that are open", selects[`'j'`] + ` WHERE session = ?1 AND id IN ` + openJobs + ` ORDER BY ord, rev`},
		{"their fields", selects[`'f'`] + ` WHERE session = ?1 AND job IN ` + openJobs},
		{"fields of a job", selects[`'f'`] + ` WHERE session = ?1 AND job = ?2 ORDER BY rev`},
		{"latest registers", selects[`'r'`] + ` WHERE ` + latestRegisters},
		{"rows after a rev", sinceQuery()},
	} {
		t.Run(test.why, func(t *testing.T) {
			rows, err := s.read.QueryContext(context.Background(), "EXPLAIN QUERY PLAN "+test.query, "s", "j")
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close()
			var plan []string
			for rows.Next() {
				var id, parent, unused int
				var step string
				if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
					t.Fatal(err)
				}
				plan = append(plan, step)
			}
			if err := rows.Err(); err != nil || len(plan) == 0 {
				t.Fatal(plan, err)
			}
			for _, step := range plan {
				rest, ok := strings.CutPrefix(step, "SCAN ")
				if ok && rest != "unsettled" {
					t.Errorf("%q in the plan\n%s", step, strings.Join(plan, "\n"))
				}
			}
		})
	}
}
