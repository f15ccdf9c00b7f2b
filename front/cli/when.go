package cli

import (
	"strconv"
	"strings"
	"time"
)

// parseWhen reads a point in time as people write it: how long ago (90s, 15m,
// 2h, 7d), a day, or a day and a time. Without a zone it is a time here.
func parseWhen(text string, now time.Time) (time.Time, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.ParseUint(days, 10, 16); err == nil {
			return now.AddDate(0, 0, -int(n)), nil
		}
	}
	if ago, err := time.ParseDuration(text); err == nil && ago >= 0 {
		return now.Add(-ago), nil
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly} {
		if at, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return at, nil
		}
	}
	if at, err := time.ParseInLocation("15:04", text, now.Location()); err == nil {
		return time.Date(now.Year(), now.Month(), now.Day(), at.Hour(), at.Minute(), 0, 0, now.Location()), nil
	}
	return time.Time{}, usagef("%q is no time; write 15m, 2h or 7d for how long ago, 14:30, 2006-01-02 or 2006-01-02T15:04:05Z", oneLine(text, maxTarget))
}

// showWhen is a time for people, as short as it can be told today.
func showWhen(at, now time.Time) string {
	at = at.In(now.Location())
	if at.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return at.Format(time.TimeOnly)
	}
	return at.Format("2006-01-02 15:04:05")
}
