package kernel

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"assent/approval"
	"assent/floor"
	"assent/plexus"
	"assent/remainder"
)

// Whatever the license reads may change while leaves wait, and each is
// answered anew (law §6).
func TestWhatChangesAnswersWhatWaits(t *testing.T) {
	const runs = `{"ok":true}`
	grant := func(w *world) {
		w.write(ada, plexus.Register{Session: "s", Name: plexus.AutoAllow, Value: `{"bash":true}`})
	}
	tests := []struct {
		why, mode, command string
		change             func(w *world)
		want               string // of the outcome
	}{
		{"the mode", "manual", "other", func(w *world) { w.assign("yolo") }, runs},
		{"the mode, and the floor denied", "manual", "no way", func(w *world) { w.assign("yolo") }, runs},
		{"to auto, with a classifier", "manual", "other", func(w *world) { w.assign("auto") }, classifierReceipt},
		{"a mode that asks too", "auto", "no way", func(w *world) { w.assign("manual") }, ""},
		{"a grant of the session", "auto", "other", grant, runs},
		{"a grant of the session, in manual", "manual", "other", grant, ""},
		{"a grant of another cluster", "auto", "other", func(w *world) {
			w.write(ada, plexus.Register{Session: "s", Name: plexus.AutoAllow, Value: `{"mcp":true,"write":true}`})
		}, ""},
		{"a grant never answers a hatch", "auto", "npx x", grant, ""},
		{"a grant never answers a deny", "auto", "no way", grant, ""},
		{"a standing grant", "auto", "other", func(w *world) {
			w.configure(Settings{StandingAutoAllow: approval.Terms{Bash: approval.Endless}})
		}, runs},
		{"the cover of denials, with a classifier", "auto", "no way", func(w *world) {
			w.configure(Settings{AutoCoverDeny: approval.Classify})
		}, classifierReceipt},
		{"the cover of the session's denials, with a classifier", "auto", "no way", func(w *world) {
			w.write(ada, plexus.Register{Session: "s", Name: plexus.AutoCoverDeny, Value: "false"})
		}, classifierReceipt},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ready := make(chan struct{})
				w := newWorld(t, Options{Registry: registry(ok), Classifier: classifier(func(ctx context.Context, _ Question) (remainder.Vote, error) {
					select {
					case <-ready:
						return remainder.Vote{Result: approval.JudgeDeny}, nil
					case <-ctx.Done():
						return remainder.Vote{Result: approval.NoVote}, ctx.Err()
					}
				})})
				w.session("s", test.mode)
				w.call("s", "j", test.command)
				still()
				if got := w.fields("s", "j"); got[plexus.OutcomeJSON] != "" || got[plexus.PolicyResult] == "" {
					t.Fatalf("it does not wait: %v", got)
				}
				test.change(w)
				still()
				if test.want == classifierReceipt {
					close(ready)
					still()
				}
				if got := w.fields("s", "j")[plexus.OutcomeJSON]; got != test.want {
					t.Errorf("outcome %q, want %q\n%s", got, test.want, w.story("s"))
				}
			})
		})
	}
}

func (w *world) assign(mode string) {
	w.Helper()
	if _, err := w.Assign(w.Context(), "s", mode, false, ada); err != nil {
		w.Error(err)
	}
}

func (w *world) configure(set Settings) {
	w.Helper()
	if err := w.Configure(w.Context(), set); err != nil {
		w.Error(err)
	}
}

// The mode of a turn: its own overlay, else what it inherits (law §6).
func TestOverlays(t *testing.T) {
	w := newWorld(t, Options{})
	w.session("s", "manual")
	mode := func(want approval.Mode) {
		t.Helper()
		if view, err := w.View(t.Context(), "s"); err != nil || view.CurrentPolicy != want {
			t.Errorf("mode %v, %v, want %v", view.CurrentPolicy, err, want)
		}
	}
	turn := func(id string, ord int64) {
		w.write(host, plexus.Job{Session: "s", ID: id, Kind: plexus.SessionTurn, Ord: ord})
	}
	w.assign("auto") // before the first turn
	mode(approval.Auto)
	turn("t1", 1)
	mode(approval.Auto)
	w.assign("yolo")
	turn("t2", 2)
	mode(approval.Yolo) // inherited
	w.write(ada, plexus.Register{Session: "s", Name: plexus.Overlay("t2"), Value: `"manual"`})
	mode(approval.Manual)
	turn("t3", 3)
	mode(approval.Manual)
	w.restart()
	mode(approval.Manual)
}

// Nothing an observer writes replaces the mode of an unattended session.
func TestAnUnattendedSessionKeepsItsMode(t *testing.T) {
	w := newWorld(t, Options{Registry: registry(ok)})
	if _, err := w.CreateSession(t.Context(), NewSession{ID: "s", Workspace: w.dir, Mode: "auto", Seat: approval.Unattended}, host); err != nil {
		t.Fatal(err)
	}
	w.write(host, plexus.Job{Session: "s", ID: "turn", Kind: plexus.SessionTurn})
	for _, by := range []plexus.Writer{ada, host, hook} {
		if _, err := w.Assign(t.Context(), "s", "yolo", false, by); err == nil {
			t.Errorf("%v set the mode", by)
		}
		for _, name := range []string{plexus.StandingPolicy, plexus.Overlay("turn")} {
			_, err := w.doc.Apply(t.Context(), plexus.Tx{Writer: by, Writes: []plexus.Row{plexus.Register{Session: "s", Name: name, Value: `"yolo"`}}})
			if err == nil {
				t.Errorf("%v wrote %s", by, name)
			}
		}
	}
	if view, err := w.View(t.Context(), "s"); err != nil || view.CurrentPolicy != approval.Auto {
		t.Errorf("mode %v, %v", view.CurrentPolicy, err)
	}
}

// The settings are the start, and what a person writes into the document
// stands until the settings themselves change.
func TestSettingsAndTheDocument(t *testing.T) {
	bash, mcp := approval.Grants{Bash: true}, approval.Grants{MCP: true}
	w := newWorld(t, Options{Settings: Settings{StandingAutoAllow: approval.TermsOf(bash)}})
	w.session("s", "auto")
	grants := func(why string, want approval.Grants) {
		t.Helper()
		if view, err := w.View(t.Context(), "s"); err != nil || view.StandingAutoAllow != want {
			t.Errorf("%s: granted %+v, %v, want %+v", why, view.StandingAutoAllow, err, want)
		}
	}
	grants("at the start", bash)
	w.write(ada, plexus.Register{Name: plexus.StandingAutoAllow, Value: "{}"})
	grants("a person takes it back", approval.Grants{})
	w.restart()
	grants("it stays taken back over a restart", approval.Grants{})
	w.configure(Settings{StandingAutoAllow: approval.TermsOf(bash), AutoCoverDeny: approval.Classify})
	grants("another setting changes", approval.Grants{})
	w.configure(Settings{StandingAutoAllow: approval.TermsOf(mcp)})
	grants("the setting changes", mcp)
	w.opts.Settings = Settings{}
	w.restart()
	grants("it changed while nobody ran", approval.Grants{})
	if view, err := w.View(t.Context(), "s"); err != nil || view.AutoCoverDeny != approval.Cover {
		t.Error("denials are not covered:", err)
	}
	before, err := w.doc.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.restart()
	w.configure(Settings{})
	if after, err := w.doc.Head(t.Context()); err != nil || after != before {
		t.Error("settings that did not change were written:", err)
	}
}

// Where the document cannot be written, whoever sets is told, and the next try
// has it.
func TestSettingsThatCannotBeWritten(t *testing.T) {
	var f faulty
	w := newWorldOver(t, Options{}, func(doc *plexus.Store) Document {
		f.Store = doc
		return &f
	})
	w.session("s", "auto")
	set := Settings{StandingAutoAllow: approval.Terms{Bash: approval.Endless}}
	fault := plexus.ErrFull
	f.fault.Store(&fault)
	if err := w.Configure(t.Context(), set); err == nil {
		t.Error("nothing is said")
	}
	f.fault.Store(nil)
	w.configure(set)
	if view, err := w.View(t.Context(), "s"); err != nil || !view.StandingAutoAllow.Bash {
		t.Error("not granted:", err)
	}
}

// The default of new sessions: the document's, else the settings' (law ruling
// 10).
func TestDefaultPolicy(t *testing.T) {
	w := newWorld(t, Options{Settings: Settings{DefaultPolicy: approval.Auto}})
	starts := func(id string, want approval.Mode) {
		t.Helper()
		w.session(id, "")
		if view, err := w.View(t.Context(), id); err != nil || view.CurrentPolicy != want {
			t.Errorf("mode %v, %v, want %v", view.CurrentPolicy, err, want)
		}
	}
	starts("a", approval.Auto)
	w.configure(Settings{DefaultPolicy: approval.Yolo})
	starts("b", approval.Yolo)
	w.write(ada, plexus.Register{Name: plexus.DefaultPolicy, Value: `"manual"`})
	starts("c", approval.Manual)
	w.write(ada, plexus.Register{Name: plexus.DefaultPolicy, Value: `""`})
	starts("d", approval.Yolo)
	// What was set last holds, wherever it was set.
	w.write(ada, plexus.Register{Name: plexus.DefaultPolicy, Value: `"yolo"`})
	w.configure(Settings{DefaultPolicy: approval.Yolo, Slots: 3})
	starts("e", approval.Yolo)
	w.configure(Settings{})
	starts("f", approval.Manual)
	w.write(ada, plexus.Register{Name: plexus.DefaultPolicy, Value: `"auto"`})
	w.configure(Settings{Slots: 3})
	starts("g", approval.Auto)
}

// speculativePolicyProcessingTools may change while calls wait for a slot.
func TestSlotsChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		w := newWorld(t, Options{Prepare: func(_ context.Context, _ *floor.Floor, call floor.Call) floor.Call {
			<-gate
			return call
		}})
		w.session("s", "manual")
		for range 6 {
			w.admit(NewCall{Session: "s", Name: "Bash", Arguments: bash("x")}, host)
		}
		for _, slots := range []int{0, 4, 1} {
			w.configure(Settings{Slots: slots})
			still()
			want := Status{Sessions: 1, Unsettled: 6, Judging: 4, Queued: 2, Slots: slots}
			if slots == 0 {
				want.Judging, want.Queued, want.Slots = 2, 4, 2
			}
			if got := w.Status(); got != want { // what runs is not taken back
				t.Errorf("status %+v, want %+v", got, want)
			}
		}
		for range 4 {
			gate <- struct{}{}
		}
		still()
		if got := w.Status(); got.Judging != 1 || got.Queued != 1 {
			t.Errorf("status %+v", got)
		}
		close(gate)
		still()
	})
}

// Settings hold as soon as they are saved, also when they say what they said
// before: what the document has in their place gives way. While their text is
// broken, what a person sets holds.
func TestSavedSettingsWin(t *testing.T) {
	const x, y = "x", "y" // texts
	strict := func(source string) Settings { return Settings{Source: source} }
	tests := []struct {
		why  string
		then []Settings // after a person set everything loose in the document
		open bool       // it stays so
	}{
		{"the same text", []Settings{strict(x)}, true},
		{"the text is broken", []Settings{strict("")}, true},
		{"the same text after it was broken", []Settings{strict(""), strict(x)}, false},
		{"another text that says the same", []Settings{strict(y)}, false},
		{"it never could be read", []Settings{strict(RefusedSource)}, false},
	}
	for _, test := range tests {
		for _, restarts := range []bool{false, true} {
			w := newWorld(t, Options{Settings: strict(x)})
			w.session("s", "auto")
			loose := func(write bool) (loose [3]bool) {
				if write {
					w.write(ada, plexus.Register{Name: plexus.DefaultPolicy, Value: `"yolo"`},
						plexus.Register{Name: plexus.StandingAutoAllow, Value: `{"bash":true}`},
						plexus.Register{Name: plexus.AutoCoverDeny, Value: "false"})
				}
				mode, err := w.DefaultPolicy(t.Context())
				view, err2 := w.View(t.Context(), "s")
				if err != nil || err2 != nil {
					t.Error(err, err2)
				}
				return [3]bool{mode == approval.Yolo, view.StandingAutoAllow.Bash, view.AutoCoverDeny != approval.Cover}
			}
			if got := loose(true); got != [3]bool{true, true, true} {
				t.Errorf("a person's word does not hold: %v", got)
			}
			for _, set := range test.then {
				if restarts {
					w.opts.Settings = set
					w.restart()
				} else {
					w.configure(set)
				}
			}
			if got, want := loose(false), [3]bool{test.open, test.open, test.open}; got != want {
				t.Errorf("%s (restart %v): mode, grant, cover loose %v, want %v", test.why, restarts, got, want)
			}
			if restarts { // and again when it is refused again
				loose(true)
				w.opts.Settings = strict(RefusedSource)
				w.restart()
				w.restart()
				loose(true)
				w.restart()
				if got := loose(false); got != [3]bool{} {
					t.Errorf("%s: what was set while the text is refused holds over a restart: %v", test.why, got)
				}
			}
		}
	}
}

// What people are told of a document that could not be read accuses nobody.
func TestFaultOfShortMemory(t *testing.T) {
	says := Fault(fmt.Errorf("the document could not be read: %w", plexus.ErrMemory))
	if strings.Contains(says, "who wrote") || !strings.Contains(says, "Make room in memory") {
		t.Error(says)
	}
}
