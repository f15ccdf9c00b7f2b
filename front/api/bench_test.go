package api_test

import (
	"fmt"
	"testing"

	"assent/front/api"
	"assent/front/api/client"
	"assent/kernel"
	"assent/plexus"
)

// BenchmarkLists asks for the lists of a kernel with many idle sessions, and
// with one in which many calls wait.
func BenchmarkLists(b *testing.B) {
	w := newWorld(b, api.Options{})
	const sessions, leaves = 1000, 2000
	for i := range sessions {
		if _, err := w.kernel.CreateSession(b.Context(), kernel.NewSession{ID: fmt.Sprint("s", i), Workspace: w.dir}, ada); err != nil {
			b.Fatal(err)
		}
	}
	for i := range leaves {
		if _, err := w.kernel.Admit(b.Context(), kernel.NewCall{Session: "s0", ID: fmt.Sprint("j", i), Name: "Bash", Arguments: bash("other")}, hook); err != nil {
			b.Fatal(err)
		}
	}
	w.TB = b
	w.until("s0", fmt.Sprint("j", leaves-1), plexus.PolicyResult)
	for name, ask := range map[string]func() error{
		"sessions": func() error {
			_, err := w.client.Sessions(b.Context(), client.SessionFilter{Limit: 10_000})
			return err
		},
		"queue":   func() error { _, err := w.client.Queue(b.Context(), ""); return err },
		"session": func() error { _, err := w.client.Session(b.Context(), "s0"); return err },
		"job":     func() error { _, err := w.client.Job(b.Context(), "s0", "j7"); return err },
		"receipt": func() error { _, err := w.agent.Receipt(b.Context(), "s0", "j7", client.Now); return err },
		"calls":   func() error { _, err := w.client.Calls(b.Context(), client.CallFilter{}); return err },
		"rows":    func() error { _, err := w.client.Rows(b.Context(), 0, ""); return err },
		"status":  func() error { _, err := w.client.Status(b.Context()); return err },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := ask(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
