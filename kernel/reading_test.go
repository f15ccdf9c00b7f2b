package kernel

import (
	"testing"

	"assent/job"
	"assent/plexus"
)

// A yes to names opens no content, and a yes to content lifts no rule: not that
// of a secret, and not the operator's own. What was open is so after a restart.
func TestWhatAYesOpensForReading(t *testing.T) {
	w := newWorld(t, Options{Registry: new(job.Registry)})
	w.session("s", "manual")
	n := 0
	read := func(name, arguments string) string {
		n++
		id := string(rune('a'+n/26)) + string(rune('a'+n%26))
		w.admit(NewCall{Session: "s", ID: id, Name: name, Arguments: []byte(arguments)}, hook)
		w.await("s", id, plexus.PolicyResult)
		return id
	}
	waits := func(id string) bool {
		needs, err := w.NeedsHuman(t.Context(), "s", id)
		if err != nil {
			t.Fatal(err)
		}
		return needs
	}
	opens := func(id string) (paths []string) {
		prompt, err := w.Prompt(t.Context(), "s", id)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range prompt.Opens {
			paths = append(paths, string(o.Path))
		}
		return paths
	}

	for _, listing := range []string{read("LS", `{"path":"/opt/sdk"}`), read("Glob", `{"path":"/opt/sdk","pattern":"*.txt"}`), read("list_dir", `{"path":"/opt/sdk"}`)} {
		if !waits(listing) || len(opens(listing)) != 0 {
			t.Errorf("%s waits %v and opens %q", listing, waits(listing), opens(listing))
		}
		w.answer("s", listing, true)
		w.await("s", listing, plexus.OrchestrationResult)
	}
	for _, content := range []string{`{"file_path":"/opt/sdk/.env"}`, `{"file_path":"/opt/sdk/a.txt"}`, `{"file_path":"/opt/sdk/x/.env.local"}`} {
		if id := read("Read", content); !waits(id) {
			t.Errorf("after a yes to names %s is open", content)
		}
	}

	search := read("Grep", `{"path":"/opt/sdk","pattern":"x"}`)
	if got := opens(search); len(got) != 1 || got[0] != "/opt/sdk" {
		t.Errorf("a search opens %q", got)
	}
	w.answer("s", search, true)
	w.await("s", search, plexus.OrchestrationResult)
	for range 2 {
		for _, row := range []struct {
			name, arguments string
			waits           bool
		}{
			{"Read", `{"file_path":"/opt/sdk/a.txt"}`, false},
			{"LS", `{"path":"/opt/sdk"}`, false},
			{"Grep", `{"path":"/opt/sdk/x","pattern":"x"}`, false},
			{"Read", `{"file_path":"/opt/sdk/.env"}`, true},
			{"Read", `{"file_path":"/opt/sdk/x/.env.local"}`, true},
			{"Read", `{"file_path":"/opt/other"}`, true},
		} {
			id := read(row.name, row.arguments)
			if waits(id) != row.waits {
				t.Errorf("%s %s waits: %v", row.name, row.arguments, !row.waits)
			}
			if row.waits && row.arguments != `{"file_path":"/opt/other"}` && len(opens(id)) != 0 {
				t.Errorf("%s %s opens %q", row.name, row.arguments, opens(id))
			}
		}
		w.restart()
	}
}

// Two reads of one folder offer it, while both wait; a fence is never offered.
func TestWhatAPromptOffers(t *testing.T) {
	w := newWorld(t, Options{Registry: new(job.Registry)})
	w.session("s", "manual")
	offer := func(id, path string) func() string {
		w.admit(NewCall{Session: "s", ID: id, Name: "Read", Arguments: []byte(`{"file_path":"` + path + `"}`)}, hook)
		w.await("s", id, plexus.PolicyResult)
		return func() string {
			prompt, err := w.Prompt(t.Context(), "s", id)
			if err != nil {
				t.Fatal(err)
			}
			return string(prompt.Offer)
		}
	}
	first := offer("a", "/opt/sdk/docs/a.txt")
	if got := first(); got != "" {
		t.Errorf("a file alone offers %q", got)
	}
	second := offer("b", "/opt/sdk/docs/b.txt")
	if first() != "/opt/sdk/docs" || second() != "/opt/sdk/docs" {
		t.Errorf("two files offer %q and %q", first(), second())
	}
	offer("c", "/tmp/x")
	if got := offer("d", "/tmp/y")(); got != "" {
		t.Errorf("a fence is offered: %q", got)
	}
	w.answer("s", "a", false)
	w.await("s", "a", plexus.OrchestrationResult)
	if got := second(); got != "" {
		t.Errorf("a denied read is evidence for %q", got)
	}
}
