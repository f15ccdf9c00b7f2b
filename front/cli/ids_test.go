package cli

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// What a list shows of an id is the beginning of that id and of no other. What
// is shown whole and could be a longer one that was cut is found when that is
// said.
func TestShortIDs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOf(rapid.StringMatching(`[AB]{1,30}`)).Draw(t, "ids")
		short := shortIDs(ids)
		unique := slices.Compact(slices.Sorted(slices.Values(ids)))
		for _, id := range unique {
			got, err := find("session", short[id], unique)
			if err != nil && short[id] == id && slices.ContainsFunc(unique, func(other string) bool {
				return other != id && len(other) > idWhole && strings.HasPrefix(other, id)
			}) {
				got, err = find("session", id+"/", unique)
			}
			if err != nil || got != id {
				t.Fatalf("%q is shown as %q, which means %q, %v", id, short[id], got, err)
			}
			if len(id) <= idWhole && short[id] != id {
				t.Fatalf("%q is cut to %q", id, short[id])
			}
		}
	})
}
