package api

import (
	"testing"
	"time"
)

func TestAwaiting(t *testing.T) {
	at := func(seconds int) time.Time { return time.Unix(int64(seconds), 0) }
	a := awaiting{grace: 15 * time.Second}
	is := func(job string, now int, want bool, why string) {
		t.Helper()
		if got := a.by("s", job, at(now)); got != want {
			t.Errorf("%s at %d: somebody waits: %v, want %v: %s", job, now, got, want, why)
		}
	}
	is("a", 0, false, "of an earlier kernel, and nobody has asked")
	goes := a.comes("s", "a", at(0))
	is("a", 1000, true, "it is waited for all the time")
	again := a.comes("s", "a", at(1000))
	goes(at(1001))
	is("a", 2000, true, "another one does")
	again(at(2000))
	is("a", 2014, true, "whoever asks again and again does so soon")
	is("a", 2015, false, "they are gone")
	is("b", 2015, false, "another call")
	long := a.comes("s", "a", at(2015))
	a.comes("s", "b", at(2015))(at(2015))
	is("b", 2016, true, "it was just asked")
	a.comes("s", "c", at(3000))(at(3000))
	is("a", 3000, true, "sweeping leaves who waits")
	if len(a.calls) != 2 {
		t.Errorf("%d calls are kept after those that are over were swept, want 2", len(a.calls))
	}
	long(at(3001))
	is("a", 3002, true, "it was waited for a second ago")
}
