package cli

import "strings"

// nearest is the known name that an unknown one was probably meant to be, ""
// when none is near.
func nearest(name string, known []string) string {
	best, at := "", 3
	lower := strings.ToLower(name)
	for _, k := range known {
		if k == "arguments" && (lower == "args" || lower == "input") {
			return k
		}
		limit := 2
		if len(k) <= 4 {
			limit = 1
		}
		if len(lower) <= 2 {
			limit = 0
		}
		if d := distance(lower, strings.ToLower(k)); d <= limit && d < at {
			best, at = k, d
		}
	}
	return best
}

// distance counts the letters to change, add, drop or swap with a neighbour.
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 64
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
