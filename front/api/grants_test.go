package api_test

import (
	"errors"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"assent/front/api"
	"assent/front/api/client"
	"assent/front/api/wire"
	"assent/plexus"
)

// Who gave what, until when, and which call went through which.
func TestGrantsAreTold(t *testing.T) {
	w := newWorld(t, api.Options{})
	ctx := t.Context()
	w.session("s", "auto")
	w.session("other", "auto")
	set := func(session, name, value string) wire.Rev {
		t.Helper()
		wrote, err := w.client.SetRegister(ctx, session, name, jsontext.Value(value), 0)
		if err != nil {
			t.Fatal(err)
		}
		return wrote.Rev
	}
	through := func(session, leaf string) wire.Rev {
		t.Helper()
		w.admit(session, leaf, "other")
		w.until(session, leaf, plexus.OrchestrationResult)
		job, err := w.client.Job(ctx, session, leaf)
		if err != nil || job.Leaf.Grant == nil {
			t.Fatalf("%s: no grant is told, %v", leaf, err)
		}
		return job.Leaf.Grant.Number
	}
	want := func(why string, got, want wire.Rev) {
		t.Helper()
		if got != want {
			t.Errorf("%s: through grant %d, want %d", why, got, want)
		}
	}
	standing := set("", plexus.StandingAutoAllow, `{"bash":true}`)
	want("the kernel's alone", through("s", "a"), standing)
	end := time.Now().Add(24 * time.Hour).UTC().Truncate(time.Second)
	own := set("s", plexus.AutoAllow, `{"bash":"`+end.Format(time.RFC3339)+`"}`)
	want("the session's own goes first", through("s", "b"), own)
	mcp := set("s", plexus.AutoAllow, `{"bash":"`+end.Format(time.RFC3339)+`","mcp":true}`)
	want("another cluster came beside it", through("s", "c"), own)
	want("not this session's", through("other", "d"), standing)
	first := set("s", plexus.ReadAllowlist, `["/srv/a"]`)
	second := set("s", plexus.ReadAllowlist, `["/srv/a","/srv/b"]`)

	list, err := w.client.Grants(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	type line struct {
		Number              wire.Rev
		Kind, Session, Path string
		Until               time.Time
		Used                int
	}
	shown := func(list wire.GrantList) (lines []line) {
		for _, g := range list.Grants {
			l := line{g.Number, g.Kind, g.Session, g.Path, time.Time{}, -1}
			if g.Until != nil {
				l.Until = g.Until.UTC()
			}
			if g.Used != nil {
				l.Used = *g.Used
				if (g.Last != nil) != (l.Used > 0) {
					t.Errorf("grant %d was used %d times, last %v", g.Number, l.Used, g.Last)
				}
			}
			if g.By != "human:ada" {
				t.Errorf("grant %d is by %s", g.Number, g.By)
			}
			lines = append(lines, l)
		}
		return lines
	}
	all := []line{
		{standing, "bash", "", "", time.Time{}, 2},
		{own, "bash", "s", "", end, 2},
		{mcp, "mcp", "s", "", time.Time{}, 0},
		{first, "read", "s", "/srv/a", time.Time{}, -1},
		{second, "read", "s", "/srv/b", time.Time{}, -1},
	}
	if diff := cmp.Diff(all, shown(list)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if list, err := w.client.Grants(ctx, "other"); err != nil || cmp.Diff(all[:1], shown(list)) != "" {
		t.Errorf("of another session: %+v, %v", list, err)
	}
	if _, err := w.client.Grants(ctx, "none"); !errors.Is(err, wire.NoSession) {
		t.Errorf("of no session: %v", err)
	}

	calls, err := w.client.Calls(ctx, client.CallFilter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, call := range calls.Calls {
		number := wire.Rev(0)
		if call.Grant != nil {
			number = call.Grant.Number
		}
		want("the log, "+call.Job, number, map[string]wire.Rev{"a": standing, "b": own, "c": own, "d": standing}[call.Job])
	}

	// What is taken back, or has ended, holds no more; what went through it says so.
	set("s", plexus.AutoAllow, `{"bash":"2020-01-01T00:00:00Z"}`)
	set("", plexus.StandingAutoAllow, `{}`)
	if list, err := w.client.Grants(ctx, ""); err != nil || len(list.Grants) != 2 {
		t.Errorf("%+v, %v", list, err)
	}
	if job, err := w.client.Job(ctx, "s", "b"); err != nil || job.Leaf.Grant == nil || job.Leaf.Grant.Number != own {
		t.Errorf("%+v, %v", job.Leaf.Grant, err)
	}
}
