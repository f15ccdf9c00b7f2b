package peer

import "slices"

// generations is how far a lineage is followed. Nobody works below so many
// shells; what is deeper is not whole.
const generations = 256

// walk follows the parents of a process. look reads one process; false means
// that it is gone or hidden.
//
// Parents change while one looks: a parent ends and its child is given to
// another one, or its number to another process. So a parent must not be younger
// than its child, and the walk is done twice: what lost a parent in between
// may have lost the one that mattered.
func walk(pid int, look func(pid int) (stat, bool)) (lineage []Ancestor, whole bool) {
	before, whole := climb(pid, look)
	lineage, again := climb(pid, look)
	return lineage, whole && again && slices.Equal(before, lineage)
}

func climb(pid int, look func(pid int) (stat, bool)) (lineage []Ancestor, whole bool) {
	for range generations {
		s, ok := look(pid)
		if !ok || !s.alive() || s.ancestor.PID != pid {
			return lineage, false
		}
		if n := len(lineage); n > 0 && s.ancestor.Start > lineage[n-1].Start {
			return lineage, false
		}
		lineage = append(lineage, s.ancestor)
		if s.parent == 0 {
			return lineage, true
		}
		pid = s.parent
	}
	return lineage, false
}
