package approval

import (
	"encoding/json"
	"testing"
	"time"
)

func TestTerms(t *testing.T) {
	now := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	for _, test := range []struct {
		why, text string
		want      Term
		holds     bool
	}{
		{"none", `false`, Never, false},
		{"without an end", `true`, Endless, true},
		{"ends later", `"2026-02-03T04:05:07Z"`, Until(now.Add(time.Second)), true},
		{"ends now", `"2026-02-03T04:05:06Z"`, Until(now), false},
		{"ended", `"2026-02-03T04:05:05Z"`, Until(now.Add(-time.Second)), false},
		{"the last second that is known", `"9999-12-31T23:59:59Z"`, Until(time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)), true},
	} {
		var got Term
		if err := json.Unmarshal([]byte(test.text), &got); err != nil || got != test.want {
			t.Errorf("%s: %s is %d, %v, want %d", test.why, test.text, got, err, test.want)
		}
		if back, err := json.Marshal(got); err != nil || string(back) != test.text {
			t.Errorf("%s: %s is written %s, %v", test.why, test.text, back, err)
		}
		if got.Holds(now) != test.holds {
			t.Errorf("%s: %s holds: %v", test.why, test.text, !test.holds)
		}
		if _, ends := got.End(); ends && got.Holds(time.Time{}) {
			t.Errorf("%s: %s holds where nobody knows the time", test.why, test.text)
		}
	}
	for _, text := range []string{`null`, `1`, `"true"`, `""`, `"2026-02-03T04:05:06+01:00"`, `"2026-02-03T04:05:06.5Z"`, `"2026-02-03"`,
		`"2026-02-30T04:05:06Z"`, `"1969-12-31T23:59:59Z"`, `"1970-01-01T00:00:00Z"`, `"2026-2-3T4:5:6Z"`, `{}`, `["2026-02-03T04:05:06Z"]`} {
		var got Term
		if err := json.Unmarshal([]byte(text), &got); err == nil || got != Never {
			t.Errorf("%s is taken for %d", text, got)
		}
	}
}

func TestNextEnd(t *testing.T) {
	now := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	in := func(d time.Duration) Term { return Until(now.Add(d)) }
	for _, test := range []struct {
		why  string
		of   Terms
		want time.Duration // 0 for none
	}{
		{"nothing is granted", Terms{}, 0},
		{"none ends", Terms{Write: Endless, Bash: Endless}, 0},
		{"the first", Terms{in(time.Hour), in(time.Minute), Endless}, time.Minute},
		{"not one that has ended", Terms{in(-time.Hour), in(time.Minute), Never}, time.Minute},
		{"all have ended", Terms{in(-time.Hour), in(0), Never}, 0},
	} {
		want := time.Time{}
		if test.want != 0 {
			want = now.Add(test.want)
		}
		if got := test.of.Next(now); !got.Equal(want) {
			t.Errorf("%s: %v, want %v", test.why, got, want)
		}
	}
}
