package peer

import (
	"os"
	"strconv"
)

// remaining looks once at all processes and says of a body whether anything may
// be left of it: the process itself, or somebody in its session, group or control
// group. When it cannot be told, there is.
func remaining() func(Body) bool {
	p := proc("/proc")
	all := func(Body) bool { return true }
	dir, err := os.Open(string(p))
	if err != nil {
		return all
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return all
	}
	processes := map[Process]bool{}
	sessions, groups, cgroups := map[int]bool{}, map[int]bool{}, map[string]bool{}
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		s, ok := p.look(pid)
		if !ok || !s.alive() {
			continue
		}
		a := s.ancestor
		processes[a.Process], sessions[a.Session], groups[a.Group], cgroups[a.Cgroup] = true, true, true, true
	}
	return func(b Body) bool {
		if processes[b.Process] || b.Session != 0 && sessions[b.Session] || b.Group != 0 && groups[b.Group] {
			return true
		}
		if b.Cgroup != "" {
			for c := range cgroups {
				if within(c, b.Cgroup) {
					return true
				}
			}
		}
		// One that was started while the others were looked at.
		s, ok := p.look(b.PID)
		return ok && s.ancestor.Process == b.Process && s.alive()
	}
}
