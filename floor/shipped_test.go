package floor

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/internal/outline"
)

// TestReadShipped compares the small reader with the full one over the floor
// that ships: the same values at the same places.
func TestReadShipped(t *testing.T) {
	want, problems := readDocument(shippedName, reasonableDefaults)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	n, ok := outline.Read(string(reasonableDefaults))
	if !ok {
		t.Fatal("the shipped floor is not written in the way that the small reader reads; judging a single call would take several times as long")
	}
	if have := outlined(&n); !reflect.DeepEqual(want, have) {
		t.Errorf("(-full +small):\n%s", cmp.Diff(want, have, cmp.AllowUnexported(node{})))
	}
}

// BenchmarkShipped is what every judgement of a single call begins with.
func BenchmarkShipped(b *testing.B) {
	for b.Loop() {
		loadShipped(reasonableDefaults)
	}
}
