package approval_test

import (
	"math"
	"testing"
	"time"

	"assent/approval"
)

func TestRetryAfter(t *testing.T) {
	for _, row := range []struct {
		why      string
		attempts int
		want     time.Duration
	}{
		{"no attempt failed", 0, 0},
		{"no less than nothing", -1, 0},
		{"at least a second", 1, time.Second},
		{"2 ln 2", 2, 1386 * time.Millisecond},
		{"10 ln 10", 10, 23025 * time.Millisecond},
		{"just below the longest", 71, 302 * time.Second},
		{"no longer than five minutes", 100, 5 * time.Minute},
		{"for ever", math.MaxInt, 5 * time.Minute},
	} {
		t.Run(row.why, func(t *testing.T) {
			want := min(row.want, 5*time.Minute)
			if got := approval.RetryAfter(row.attempts).Truncate(time.Millisecond); got != want {
				t.Errorf("after %d attempts: %v, want %v", row.attempts, got, want)
			}
		})
	}
}
