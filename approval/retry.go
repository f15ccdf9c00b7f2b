package approval

import (
	"math"
	"time"
)

// RetryAfter is how long the classifier waits after so many failed attempts:
// min(5 min, max(1 s, 1 s * n * ln n)) (law §9). It waits for nothing before
// the first.
func RetryAfter(attempts int) time.Duration {
	const longest = 5 * time.Minute
	if attempts < 1 {
		return 0
	}
	n := float64(attempts)
	wait := n * math.Log(n) * float64(time.Second)
	if wait >= float64(longest) {
		return longest
	}
	return max(time.Second, time.Duration(wait))
}
