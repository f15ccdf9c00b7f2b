package api_test

import (
	"errors"
	"testing"

	"assent/front/api"
	"assent/front/api/client"
	"assent/front/api/wire"
	"assent/plexus"
)

// A call that ran in spite of a no stands in the log, in the call itself, and in what
// people are told.
func TestRan(t *testing.T) {
	w := newWorld(t, api.Options{})
	w.session("s", "manual")
	for id, command := range map[string]string{"fine": "let it", "no": "never it"} {
		if _, err := w.agent.Hold(t.Context(), "s", wire.Hold{ID: id, Name: "Bash", Arguments: bash(command)}); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range []struct {
		report wire.Report
		how    string
		code   error
	}{
		{wire.Report{ID: "fine", Arguments: bash("let it"), OK: true}, "", nil},
		{wire.Report{ID: "no", Arguments: bash("never it"), OK: true, Text: "RAN"}, "refused", nil},
		{wire.Report{ID: "new", Arguments: bash("new")}, "", wire.NoJob},
		{wire.Report{ID: "new", Arguments: bash("new"), Unasked: true}, "unasked", nil},
		{wire.Report{ID: "bad", Arguments: []byte(`"x"`), Unasked: true}, "", wire.Value},
	} {
		row.report.Name = "Bash"
		got, err := w.agent.Ran(t.Context(), "s", row.report)
		if got.How != row.how || !errors.Is(err, row.code) {
			t.Errorf("%s: got %+v, %v", row.report.ID, got, err)
		}
	}
	for _, filter := range []struct {
		client.CallFilter
		want map[string]string
	}{
		{client.CallFilter{}, map[string]string{"fine": "", "no": "refused", "new": "unasked"}},
		{client.CallFilter{Result: "ran"}, map[string]string{"no": "refused", "new": "unasked"}},
		{client.CallFilter{Result: "block"}, map[string]string{"no": "refused"}},
	} {
		calls, err := w.client.Calls(t.Context(), filter.CallFilter)
		if err != nil || len(calls.Calls) != len(filter.want) {
			t.Fatalf("%q: got %+v, %v", filter.Result, calls, err)
		}
		for _, call := range calls.Calls {
			how := ""
			if call.Ran != nil {
				how = call.Ran.How
			}
			if want, there := filter.want[call.Job]; !there || how != want {
				t.Errorf("%q: %s: got %q, want %q", filter.Result, call.Job, how, want)
			}
		}
	}
	job, err := w.client.Job(t.Context(), "s", "no")
	if err != nil || job.Leaf.Ran == nil || job.Leaf.Ran.How != "refused" || job.Leaf.Ran.Text != "RAN" || !job.Leaf.Ran.OK {
		t.Errorf("got %+v, %v", job.Leaf, err)
	}
	if job, err := w.client.Job(t.Context(), "s", "fine"); err != nil || job.Leaf.Ran != nil || job.Leaf.Completed == nil {
		t.Errorf("got %+v, %v", job.Leaf, err)
	}
	if rows, err := w.doc.Since(t.Context(), 0, 0); err != nil || len(rows) == 0 {
		t.Fatal(err)
	} else if r, ok := rows[len(rows)-1].(plexus.Register); !ok || r.Name != wire.RunsRegister {
		t.Errorf("the last row is %v", rows[len(rows)-1])
	}
}
