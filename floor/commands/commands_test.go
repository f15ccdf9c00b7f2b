package commands

import "testing"

// Every entry of the shipped data is read and every name resolves.
func TestData(t *testing.T) {
	k := Default()
	if err := k.Check(); err != nil {
		t.Fatal(err)
	}
	files, err := data.ReadDir("data")
	if err != nil {
		t.Fatal(err)
	}
	fresh := &Knowledge{chunks: map[string]*chunk{}}
	for _, f := range files {
		text, err := data.ReadFile("data/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		if err := fresh.add(f.Name(), text, true); err != nil {
			t.Error(err)
		}
	}
	if n := len(k.Names()); n < 250 {
		t.Errorf("%d programs are described, want at least 250", n)
	}
	t.Logf("%d names are described", len(k.Names()))
}
