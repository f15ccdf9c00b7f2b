package api_test

import (
	"errors"
	"testing"

	"assent/front/api"
	"assent/front/api/wire"
)

// Nobody has seen what is not there.
func TestWhatNobodyCanHaveSeen(t *testing.T) {
	w := newWorld(t, api.Options{})
	if _, err := w.client.CreateSession(t.Context(), wire.NewSession{ID: "s", Workspace: w.dir}); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		why  string
		seen wire.Rev
		want wire.Code
	}{{"the future", 1 << 40, wire.Future}, {"before the beginning", -1, wire.BadRequest}} {
		_, err := w.client.Write(t.Context(), "s", wire.Writes{Seen: row.seen, Writes: []wire.Write{{Name: "autoCoverDeny", Value: []byte("false")}}})
		if !errors.Is(err, row.want) {
			t.Errorf("%s: got %v, want %s", row.why, err, row.want)
		}
	}
}
