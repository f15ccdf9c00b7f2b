// Package spell tells which word was probably meant, for messages that ask so.
// Start at [Near].
package spell

import (
	"slices"
	"strings"
)

// Near is the name that a word was probably meant to be, the first of those that
// are nearest, "" when none is near. One letter in three may be another; in words
// of three letters none is, one may be missing or two may be swapped, and shorter
// ones mean nothing else.
// Whether letters are large does not count. A suggestion that is far off is worse
// than none: people take it for a rule of what is possible.
func Near(word string, names []string) string {
	best, least := "", 0
	lower := strings.ToLower(word)
	for _, n := range names {
		name := strings.ToLower(n)
		short := min(len(lower), len(name))
		d := Distance(lower, name)
		switch {
		case d > 0 && short < 3, d*3 > short:
			continue
		case short == 3 && len(lower) == len(name) && letters(lower) != letters(name):
			continue
		}
		if best == "" || d < least {
			best, least = n, d
		}
	}
	return best
}

func letters(word string) string {
	b := []byte(word)
	slices.Sort(b)
	return string(b)
}

// Distance counts the letters to insert, drop, change or swap with a neighbour
// to turn one word into the other. Words of more than 64 bytes are 64 apart from
// anything: nobody meant them.
func Distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 64
	}
	var before, prev, cur [65]int
	for j := range len(b) + 1 {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
		}
		before, prev = prev, cur
	}
	return prev[len(b)]
}
