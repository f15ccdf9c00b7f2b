package session

import (
	"path"
	"slices"
	"strings"
	"time"

	"assent/approval"

	"github.com/go-json-experiment/json"
)

// registers are the values that change, and the view of the session that
// follows from them (law §6).
type registers struct {
	facts  Facts
	latest map[key]Register
	turns  []*node // top-level turns in tree order; the last is the live head
	view   approval.Session
	keys   map[string]bool // the allowlist's, clean
	// now is the latest time that anybody told: it does not go back. own and
	// standing are the grants with their ends.
	now           time.Time
	own, standing approval.Terms
}

type key struct {
	kernel bool
	name   string
}

func newRegisters(facts Facts) registers {
	r := registers{facts: facts, latest: make(map[key]Register), now: facts.Now}
	r.read()
	return r
}

// apply takes a revision and reports whether it is the latest.
func (r *registers) apply(reg Register) bool {
	k := key{reg.Kernel, reg.Name}
	last, known := r.latest[k]
	if known && last.Rev >= reg.Rev {
		return false
	}
	if known && r.facts.Seat == approval.Unattended && reg.Name == StandingPolicy {
		// Admitted with one mode; nothing replaces it (law §6).
		return false
	}
	r.latest[k] = reg
	return true
}

// read computes the view anew.
func (r *registers) read() {
	cover := r.value(false, AutoCoverDeny)
	if cover == "" {
		cover = r.value(true, AutoCoverDeny)
	}
	r.own, r.standing = terms(r.value(false, AutoAllow)), terms(r.value(true, StandingAutoAllow))
	r.view = approval.Session{
		CurrentPolicy:     r.mode(),
		AutoAllow:         r.own.At(r.now),
		StandingAutoAllow: r.standing.At(r.now),
		AutoCoverDeny:     approval.CoverDenyOf(cover != "false"),
		Seat:              r.facts.Seat,
		Workspace:         r.facts.Workspace,
		Home:              r.facts.Home,
		Volumes:           r.facts.Volumes,
	}
	if list := r.value(false, ReadAllowlist); list != "" {
		if json.Unmarshal([]byte(list), &r.view.ReadAllowlist) != nil {
			r.view.ReadAllowlist = nil
		}
	}
	r.keys = nil
	for _, k := range r.view.ReadAllowlist {
		if r.keys == nil {
			r.keys = make(map[string]bool, len(r.view.ReadAllowlist))
		}
		if path.IsAbs(k) && !slices.Contains(strings.Split(k, "/"), "..") {
			r.keys[path.Clean(k)] = true
		}
	}
}

func (r *registers) value(kernel bool, name string) string {
	value := r.latest[key{kernel, name}].Value
	if value == "null" {
		return ""
	}
	return value
}

// mode is currentPolicy: the overlay of the live head turn, else that of the
// nearest turn before it that has one, else the standing one. An unattended
// session has the mode it was admitted with (law §6).
func (r *registers) mode() approval.Mode {
	if r.facts.Seat == approval.Attended {
		for _, t := range slices.Backward(r.turns) {
			if value := r.value(false, Overlay+string(t.id)); value != "" {
				return modeOf(value)
			}
		}
	}
	return modeOf(r.value(false, StandingPolicy))
}

func modeOf(value string) approval.Mode {
	var mode approval.Mode
	if json.Unmarshal([]byte(value), &mode) != nil {
		return approval.Manual
	}
	return mode
}

func terms(value string) approval.Terms {
	var t approval.Terms
	if value == "" || json.Unmarshal([]byte(value), &t, json.RejectUnknownMembers(true)) != nil {
		return approval.Terms{}
	}
	return t
}

// pass takes the time, and reports whether a grant has ended by it.
func (r *registers) pass(now time.Time) bool {
	if !now.After(r.now) {
		return false
	}
	end := r.ends()
	r.now = now
	return !end.IsZero() && !now.Before(end)
}

// ends is when the first of the grants that hold ends, zero for never.
func (r *registers) ends() time.Time {
	a, b := r.own.Next(r.now), r.standing.Next(r.now)
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// grantEnds is when the last grant of a cluster ends that holds now, zero where
// one has no end.
func (r *registers) grantEnds(cluster approval.Cluster) (last time.Time) {
	for _, t := range [...]approval.Term{r.own.Of(cluster), r.standing.Of(cluster)} {
		if !t.Holds(r.now) {
			continue
		}
		end, ok := t.End()
		if !ok {
			return time.Time{}
		}
		if end.After(last) {
			last = end
		}
	}
	return last
}

// viewFor is the view with those keys of the allowlist that could cover the
// leaf, so that a long list costs a leaf no more than a short one.
func (r *registers) viewFor(cluster approval.Cluster, paths []approval.Path) approval.Session {
	view := r.view
	view.ReadAllowlist = nil
	if cluster != approval.Read || len(r.keys) == 0 {
		return view
	}
	for _, p := range paths {
		if !p.Outside() {
			continue
		}
		for up := string(p); ; up = path.Dir(up) {
			if r.keys[up] {
				view.ReadAllowlist = append(view.ReadAllowlist, up)
			}
			if up == "/" {
				break
			}
		}
	}
	return view
}

// same reports whether two views license alike, whatever the allowlist.
func same(a, b approval.Session) bool {
	return a.CurrentPolicy == b.CurrentPolicy && a.AutoAllow == b.AutoAllow &&
		a.StandingAutoAllow == b.StandingAutoAllow && a.AutoCoverDeny == b.AutoCoverDeny
}

// Assign is what a change of mode writes (law §6): the standing policy and,
// where there is a live head turn, its overlay. Who asks for it writes it.
// Nothing for an unattended session.
func (m *Machine) Assign(mode approval.Mode) []Register {
	if m.facts.Seat == approval.Unattended {
		return nil
	}
	writes := []Register{{Name: StandingPolicy, Value: quote(mode.String())}}
	if n := len(m.turns); n > 0 {
		writes = append(writes, Register{Name: Overlay + string(m.turns[n-1].id), Value: quote(mode.String())})
	}
	return writes
}
