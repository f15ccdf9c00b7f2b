package peer

import (
	"os"
	"strconv"
)

// remains says whether anything may be left of a body: the process itself, or
// somebody in its session, group or control group. When it cannot be told, there
// is.
func remains(b Body) bool {
	p := proc("/proc")
	if s, ok := p.look(b.PID); ok && s.ancestor.Process == b.Process && s.alive() {
		return true
	}
	if b.Session == 0 && b.Group == 0 && b.Cgroup == "" {
		return false
	}
	dir, err := os.Open(string(p))
	if err != nil {
		return true
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return true
	}
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
		if b.Session != 0 && a.Session == b.Session || b.Group != 0 && a.Group == b.Group || within(a.Cgroup, b.Cgroup) {
			return true
		}
	}
	return false
}
