package job_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"assent/job"
	"assent/kernel"
	"assent/plexus"
)

type greeting struct{ Name string }

// polite is the guard: what it says no to is blocked, whoever would allow it.
func polite(_ context.Context, call job.Call) (bool, error) {
	var g greeting
	err := call.Decode(&g)
	return g.Name != "", err
}

// greet is the body: it runs after the license is in the document.
func greet(_ context.Context, call job.Call) (job.Outcome, error) {
	var g greeting
	err := call.Decode(&g)
	return job.Text("hello, " + g.Name), err
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// A program with a tool of its own, and a person who is asked about its calls.
func ExampleRegistry() {
	ctx := context.Background()
	dir := must(os.MkdirTemp("", "greet"))
	defer os.RemoveAll(dir)

	var tools job.Registry
	if err := tools.RegisterTool(job.SystemTool, "greet", polite, greet); err != nil {
		panic(err)
	}
	document := must(plexus.Open(filepath.Join(dir, "document"), plexus.Options{}))
	defer document.Close()
	k := must(kernel.Open(ctx, kernel.Options{Document: document, Registry: &tools}))
	defer k.Close()

	program, ada := plexus.Writer{Role: plexus.Host, Name: "greet"}, plexus.Writer{Role: plexus.Human, Name: "ada"}
	must(k.CreateSession(ctx, kernel.NewSession{ID: "s", Mode: "manual", Workspace: dir}, ada))
	for _, arguments := range []string{`{"Name":"world"}`, `{"Name":""}`} {
		call := must(k.Admit(ctx, kernel.NewCall{Session: "s", Kind: job.SystemTool, Name: "greet", Arguments: []byte(arguments)}, program))
		for rows, err := range document.Watch(ctx, 0, plexus.Filter{Session: "s"}) {
			outcome := ""
			for _, row := range must(rows, err) {
				switch f, _ := row.(plexus.Field); {
				case f.Job != call.ID:
				case f.Name == plexus.PolicyResult && f.Value == `"ask"`: // ada says yes
					yes := plexus.Field{Session: "s", Job: f.Job, Name: plexus.Approved, Value: plexus.True}
					must(document.Apply(ctx, plexus.Tx{Writer: ada, Writes: []plexus.Row{yes}}))
				case f.Name == plexus.OutcomeJSON:
					outcome = f.Value
				}
			}
			if outcome != "" {
				fmt.Println(outcome)
				break
			}
		}
	}
	// Output:
	// {"ok":true,"text":"hello, world"}
	// {"ok":false,"text":"Policy prohibits this tool use. Do not try to bypass it; if this is crucial, ask user to do it","code":"policy_denied"}
}
