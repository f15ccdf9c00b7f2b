package cli

import "slices"

// The lengths of ids in lists: those that are longer than the first are cut
// to the second, or as much more as tells them apart there.
const (
	idWhole = 12
	idLeast = 8
)

// shortIDs are ids as lists show them: as much of each as tells it from the
// others, which is enough for a command to find it again.
func shortIDs(ids []string) map[string]string {
	sorted := slices.Compact(slices.Sorted(slices.Values(ids)))
	short := make(map[string]string, len(sorted))
	for i, id := range sorted {
		n := idLeast
		for _, j := range []int{i - 1, i + 1} {
			if j >= 0 && j < len(sorted) {
				n = max(n, common(id, sorted[j])+1)
			}
		}
		if len(id) <= idWhole || n >= len(id) {
			n = len(id)
		}
		short[id] = id[:n]
	}
	return short
}

// common is how many bytes two texts begin with that are the same.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
