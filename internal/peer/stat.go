package peer

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// stat is what /proc/PID/stat tells.
type stat struct {
	ancestor Ancestor
	parent   int
	state    byte
}

var errStat = errors.New("not a line of /proc/PID/stat")

// parseStat reads the line. The program's name stands in parentheses and may
// hold anything, parentheses, spaces and line ends included, so the fields are
// counted from the last parenthesis.
func parseStat(text string) (s stat, err error) {
	first, last := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
	if first < 0 || last < first {
		return stat{}, errStat
	}
	pid, err := strconv.Atoi(strings.TrimSpace(text[:first]))
	if err != nil {
		return stat{}, fmt.Errorf("%w: %w", errStat, err)
	}
	fields := strings.Fields(text[last+1:])
	const state, parent, group, session, terminal, start = 0, 1, 2, 3, 4, 19
	if len(fields) <= start || len(fields[state]) != 1 {
		return stat{}, errStat
	}
	number := func(at int) int {
		n, e := strconv.Atoi(fields[at])
		err = errors.Join(err, e)
		return n
	}
	s = stat{state: fields[state][0], parent: number(parent), ancestor: Ancestor{Name: text[first+1 : last],
		Group: number(group), Session: number(session), Terminal: number(terminal)}}
	s.ancestor.PID = pid
	began, e := strconv.ParseUint(fields[start], 10, 64)
	if err = errors.Join(err, e); err != nil {
		return stat{}, fmt.Errorf("%w: %w", errStat, err)
	}
	// A process that was started with the system was started at tick 0; so that
	// 0 stays "no process", everybody's clock is one tick ahead.
	s.ancestor.Start = began + 1
	return s, nil
}

// alive says whether a process in this state still runs: not a zombie, not
// dead.
func (s stat) alive() bool { return s.state != 'Z' && s.state != 'X' && s.state != 'x' }

// parseStatus picks the real user and the tracer out of /proc/PID/status.
func parseStatus(text string) (uid uint32, traced bool, err error) {
	var haveUID, haveTracer bool
	for line := range strings.SplitSeq(text, "\n") {
		key, value, _ := strings.Cut(line, ":")
		fields := strings.Fields(value)
		if len(fields) == 0 {
			continue
		}
		switch key {
		case "Uid":
			n, err := strconv.ParseUint(fields[0], 10, 32)
			if err != nil {
				return 0, false, fmt.Errorf("user in /proc/PID/status: %w", err)
			}
			uid, haveUID = uint32(n), true
		case "TracerPid":
			traced, haveTracer = fields[0] != "0", true
		}
	}
	if !haveUID || !haveTracer {
		return 0, false, errors.New("/proc/PID/status names no user or no tracer")
	}
	return uid, traced, nil
}

// parseCgroup picks the control group out of /proc/PID/cgroup: the one of the
// unified hierarchy, or, where that is not used, the one systemd keeps.
func parseCgroup(text string) string {
	var unified, named string
	for line := range strings.SplitSeq(text, "\n") {
		hierarchy, rest, _ := strings.Cut(line, ":")
		controllers, path, ok := strings.Cut(rest, ":")
		switch {
		case !ok:
		case hierarchy == "0" && controllers == "":
			unified = path
		case controllers == "name=systemd":
			named = path
		}
	}
	if unified == "" || unified == "/" && named != "" {
		return named
	}
	return unified
}
