package cli

import (
	"bufio"
	"os"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"assent/approval"
)

// The collected reports go through the door that everybody uses: as rows, with
// their setup as facts. Which of them must be allowed or refused is tested in
// package floor; here none of them may be an error, and what must not be
// allowed by the shipped floor is not.
func TestCorporaAsRows(t *testing.T) {
	for _, name := range []string{"bypass", "friction"} {
		t.Run(name, func(t *testing.T) {
			f, err := os.Open("../../../shared/corpora/" + name + ".jsonl")
			if err != nil {
				t.Skipf("the corpora are not beside the repository: %v", err)
			}
			defer f.Close()
			c := new(checker)
			rows := bufio.NewScanner(f)
			rows.Buffer(nil, 1<<24)
			n := 0
			for ; rows.Scan(); n++ {
				var r struct {
					ID        jsontext.Value `json:"id"`
					Name      jsontext.Value `json:"name"`
					Args      jsontext.Value `json:"args"`
					Workspace jsontext.Value `json:"workspace"`
					Setup     jsontext.Value `json:"setup"`
					Rules     jsontext.Value `json:"rules"`
					Must      string         `json:"must"`
					Arguable  bool           `json:"arguable"`
				}
				if err := json.Unmarshal(rows.Bytes(), &r); err != nil {
					t.Fatal(err)
				}
				row := map[string]jsontext.Value{"id": r.ID, "name": r.Name, "arguments": r.Args, "workspace": r.Workspace}
				if r.Setup != nil {
					row["facts"] = r.Setup
				}
				a := c.row(encode(row), n+1, nil)
				if a.Error != "" {
					t.Errorf("%s: %s", r.ID, a.Error)
				}
				refused := r.Must == "not_allow" || r.Must == "block_or_deny"
				if refused && r.Rules == nil && !r.Arguable && a.Result == approval.Allow {
					t.Errorf("%s: %s allowed", r.ID, r.Args)
				}
			}
			if n < 100 {
				t.Errorf("only %d rows: %v", n, rows.Err())
			}
		})
	}
}
