package peer

import (
	"errors"
	"slices"
	"testing"
)

const line = "4242 (a b) c) S 4000 4242 4000 34817 4242 4194304 98 0 0 0 0 0 0 0 20 0 1 0 3539231 3133440 390 18446744073709551615"

func TestParseStat(t *testing.T) {
	got, err := parseStat(line)
	want := stat{ancestor: Ancestor{Process: Process{4242, 3539232}, Name: "a b) c", Group: 4242, Session: 4000, Terminal: 34817}, parent: 4000, state: 'S'}
	if err != nil || got != want {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
	for why, text := range map[string]string{
		"empty":           "",
		"no-name":         "4242 S 4000",
		"turned":          ")4242(",
		"cut":             "4242 (x) S 1 2 3",
		"no-number":       "x" + line,
		"parent-no-word":  "1 (x) S y 1 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 7",
		"start-negative":  "1 (x) S 1 1 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 -7",
		"state-of-two":    "1 (x) SS 1 1 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 7",
		"name-of-a-line":  "1 (x) S 1 1 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 7)",
		"overflow-parent": "1 (x) S 99999999999999999999 1 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 7",
	} {
		if got, err := parseStat(text); !errors.Is(err, errStat) {
			t.Errorf("%s: %q gives %+v, %v", why, text, got, err)
		}
	}
}

func TestParseStatus(t *testing.T) {
	uid, traced, err := parseStatus("Name:\tx\nUid:\t1000\t0\t0\t0\nTracerPid:\t0\n")
	if uid != 1000 || traced || err != nil {
		t.Errorf("got %d %v %v, want 1000 false", uid, traced, err)
	}
	if _, traced, err = parseStatus("TracerPid:\t17\nUid:\t0\n"); !traced || err != nil {
		t.Errorf("got %v %v, want a tracer", traced, err)
	}
	for _, text := range []string{"", "Uid:\t1000\n", "TracerPid:\t0\n", "Uid:\tx\nTracerPid:\t0\n", "Uid:\nTracerPid:\t0\n"} {
		if _, _, err := parseStatus(text); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}

func TestParseCgroup(t *testing.T) {
	for text, want := range map[string]string{
		"0::/user.slice/x\n":                     "/user.slice/x",
		"3:cpu:/a\n1:name=systemd:/b\n0::/\n":    "/b",
		"3:cpu:/a\n1:name=systemd:/b\n0::/c\n":   "/c",
		"3:cpu:/a\n":                             "",
		"0::/\n":                                 "/",
		"":                                       "",
		"0::/with:colon\n":                       "/with:colon",
		"9:name=systemd:/\n8:pids:/\n7:blkio:/x": "/",
	} {
		if got := parseCgroup(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestMarkIn(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "",
		"HOME=/home/ada\x00TERM=xterm":    "",
		"HOME=/h\x00CLAUDECODE=1\x00":     "CLAUDECODE",
		"ASSENT_BODY=":                    "ASSENT_BODY", // any value
		"CLAUDECODE":                      "",            // no variable
		"XCLAUDECODE=1\x00X=CLAUDECODE=1": "",
	} {
		if got := markIn([]byte(text)); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// A machine for walk: each look at a process gives the next of its states.
type machine map[int][]stat

func (m machine) look(pid int) (stat, bool) {
	states := m[pid]
	if len(states) == 0 {
		return stat{}, false
	}
	if len(states) > 1 {
		m[pid] = states[1:]
	}
	return states[0], true
}

func is(pid, parent int, start uint64) stat {
	return stat{ancestor: Ancestor{Process: Process{pid, start}}, parent: parent, state: 'S'}
}

func TestWalk(t *testing.T) {
	dead := is(7, 1, 20)
	dead.state = 'Z'
	for _, c := range []struct {
		name    string
		machine machine
		want    []int
		whole   bool
	}{
		{"to-the-first", machine{9: {is(9, 7, 30)}, 7: {is(7, 1, 20)}, 1: {is(1, 0, 1)}}, []int{9, 7, 1}, true},
		{"gone", machine{}, nil, false},
		{"parent-hidden", machine{9: {is(9, 7, 30)}}, []int{9}, false},
		{"parent-dead", machine{9: {is(9, 7, 30)}, 7: {dead}, 1: {is(1, 0, 1)}}, []int{9}, false},
		{"parent-s-number-given-out-again", machine{9: {is(9, 7, 30)}, 7: {is(7, 1, 31)}, 1: {is(1, 0, 1)}}, []int{9}, false},
		{"another-number-than-asked", machine{9: {is(8, 1, 30)}, 1: {is(1, 0, 1)}}, nil, false},
		{"orphaned-meanwhile", machine{9: {is(9, 7, 30), is(9, 1, 30)}, 7: {is(7, 1, 20)}, 1: {is(1, 0, 1)}}, []int{9, 1}, false},
		{"number-given-out-again-meanwhile", machine{9: {is(9, 1, 30), is(9, 1, 31)}, 1: {is(1, 0, 1)}}, []int{9, 1}, false},
		{"in-a-circle", machine{9: {is(9, 8, 3)}, 8: {is(8, 9, 3)}}, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			lineage, whole := walk(9, c.machine.look)
			var got []int
			for _, a := range lineage {
				got = append(got, a.PID)
			}
			if whole != c.whole || c.name != "in-a-circle" && !slices.Equal(got, c.want) {
				t.Errorf("got %v %v, want %v %v", got, whole, c.want, c.whole)
			}
		})
	}
}
