package commands

import (
	"slices"
	"testing"
)

// TestLookup finds programs by name, also by names that carry a version.
func TestLookup(t *testing.T) {
	k, err := Parse("tools.yaml", []byte("python: look\nllvm-nm: look\ngcc: look\nls: look\nsh: look\nmd5: look\nx: {same: ls}\ny: {same: x}\nz: {same: python}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		reason, program, want string
	}{
		{"its name", "ls", "ls"},
		{"the name of another", "x", "ls"},
		{"the name of one with the name of another", "y", "ls"},
		{"a version", "python3.11", "python"},
		{"a version behind a dash", "gcc-12", "gcc"},
		{"a family with versions", "llvm-nm-15", "llvm-nm"},
		{"a name that ends in a digit", "md5", "md5"},
		{"a digit that is no version", "ls2", ""},
		{"a digit behind a dash that is no version", "ls-9", ""},
		{"a shell with a digit", "sh5", ""},
		{"a version of what is not described", "perl5", ""},
		{"another case", "LS", ""},
		{"nothing", "", ""},
		{"only a version", "3.11", ""},
		{"a path", "/bin/ls", ""},
		{"an unknown program", "unheard", ""},
	} {
		e := k.Lookup(c.program)
		got := ""
		if e != nil {
			got = e.Name
		}
		if got != c.want {
			t.Errorf("%s: Lookup(%q) is %q, want %q", c.reason, c.program, got, c.want)
		}
	}
	if got, want := k.Names(), []string{"gcc", "llvm-nm", "ls", "md5", "python", "sh", "x", "y", "z"}; !slices.Equal(got, want) {
		t.Errorf("names %v, want %v", got, want)
	}
}

// An entry that cannot be read counts as unknown, and so does a subcommand.
func TestLookupOfBrokenData(t *testing.T) {
	k := &Knowledge{chunks: map[string]*chunk{}}
	if err := k.add("x.yaml", []byte("x: {class: peek}\ny:\n  class: look\n  commands:\n    a:\n      class: peek\n    b: look\n")); err != nil {
		t.Fatal(err)
	}
	if e := k.Lookup("x"); e != nil {
		t.Errorf("x is known: %+v", e)
	}
	y := k.Lookup("y")
	if y == nil {
		t.Fatal("y is not known")
	}
	if r := y.Read([]string{"y", "a"}); len(r.Issues) == 0 || r.Class != "" {
		t.Errorf("a broken subcommand is read: %+v", r)
	}
	if r := y.Read([]string{"y", "b"}); len(r.Issues) > 0 || r.Class != "look" {
		t.Errorf("the one beside it is not: %+v", r)
	}
}
