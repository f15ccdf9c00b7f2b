package api_test

import (
	"errors"
	"testing"
	"time"

	"assent/front/api"
	"assent/front/api/wire"
	"assent/plexus"
)

// Hold is same, admit, receipt and begin in one: what may run is claimed once and
// by whoever asked, what is not decided is claimed by nobody.
func TestHold(t *testing.T) {
	w := newWorld(t, api.Options{})
	w.session("s", "manual")
	hold := func(id, command string) wire.Held {
		t.Helper()
		held, err := w.agent.Hold(t.Context(), "s", wire.Hold{ID: id, Name: "Bash", Arguments: bash(command)})
		if err != nil {
			t.Fatal(err)
		}
		return held
	}
	one := hold("one", "let it")
	if !one.Begun || one.Receipt.Job != "one" || one.Receipt.OrchestrationResult == nil || !*one.Receipt.OrchestrationResult {
		t.Errorf("allowed: %+v", one)
	}
	if err := w.agent.Begin(t.Context(), "s", "one"); !errors.Is(err, wire.Begun) {
		t.Errorf("claimed a second time: %v", err)
	}
	if again := hold("one", "let it"); !again.Begun || again.Receipt.Job == "one" {
		t.Errorf("the same call with the same id is a new one: %+v", again)
	}
	if no := hold("no", "never it"); no.Begun || no.Receipt.OrchestrationResult == nil || *no.Receipt.OrchestrationResult || no.Receipt.Completed == nil {
		t.Errorf("blocked: %+v", no)
	}

	// Nobody decides the others here, so that they need not be waited for.
	w = newWorld(t, api.Options{Limits: api.Limits{Wait: time.Millisecond}})
	w.session("s", "manual")
	late := hold("late", "no it")
	if late.Begun || late.Receipt.Job != "late" || late.Receipt.OrchestrationResult != nil {
		t.Errorf("not decided: %+v", late)
	}
	if more := hold("more", "no it"); more.Begun || more.Receipt.Job != "late" {
		t.Errorf("the very same waits already: %+v", more)
	}
	if other := hold("other", "no  it"); other.Begun || other.Receipt.Job != "other" {
		t.Errorf("another blank is another call: %+v", other)
	}
	if _, err := w.client.Field(t.Context(), "s", "late", "approved", true); err != nil {
		t.Fatal(err)
	}
	w.until("s", "late", plexus.OrchestrationResult)
	if begun := hold("", "no it"); !begun.Begun || begun.Receipt.Job != "late" {
		t.Errorf("a late yes: %+v", begun)
	}
	if anew := hold("", "no it"); anew.Begun || anew.Receipt.Job == "late" {
		t.Errorf("a yes counts once: %+v", anew)
	}
	// What is another's is not taken up: here a person's, who asks for the same.
	if _, err := w.client.Field(t.Context(), "s", "other", "approved", true); err != nil {
		t.Fatal(err)
	}
	w.until("s", "other", plexus.OrchestrationResult)
	if held, err := w.client.Hold(t.Context(), "s", wire.Hold{Name: "Bash", Arguments: bash("no  it")}); err != nil || held.Begun || held.Receipt.Job == "other" {
		t.Errorf("another's yes: %+v, %v", held, err)
	}
}
