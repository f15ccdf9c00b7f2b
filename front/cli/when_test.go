package cli

import (
	"testing"
	"time"
)

func TestParseWhen(t *testing.T) {
	zone := time.FixedZone("here", 2*60*60)
	now := time.Date(2026, 3, 10, 15, 4, 5, 0, zone)
	for text, want := range map[string]string{
		"90s":                  "2026-03-10T15:02:35+02:00",
		"2h":                   "2026-03-10T13:04:05+02:00",
		"7d":                   "2026-03-03T15:04:05+02:00",
		"0s":                   "2026-03-10T15:04:05+02:00",
		"2026-03-01":           "2026-03-01T00:00:00+02:00",
		"2026-03-01 10:00":     "2026-03-01T10:00:00+02:00",
		"2026-03-01T10:00:00Z": "2026-03-01T10:00:00Z",
		"14:30":                "2026-03-10T14:30:00+02:00",
		"-2h":                  "",
		"-7d":                  "",
		"":                     "",
		"yesterday":            "",
		"2026-13-01":           "",
		"99999999d":            "",
	} {
		got, err := parseWhen(text, now)
		if want == "" {
			if err == nil {
				t.Errorf("%q was taken for %v", text, got)
			}
			continue
		}
		if err != nil || got.Format(time.RFC3339) != want {
			t.Errorf("%q: got %v, %v, want %s", text, got.Format(time.RFC3339), err, want)
		}
	}
}
