package commands

import (
	"slices"
	"strings"
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
	if err := k.add("x.yaml", []byte("x: {class: peek}\ny:\n  class: look\n  commands:\n    a:\n      class: peek\n    b: look\n"), true); err != nil {
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

// MayWrap must never say no where reading the entry finds a command inside.
func TestMayWrap(t *testing.T) {
	k := Default()
	for _, text := range []string{"git bisect run make", "git submodule foreach make", "python3 -m pytest", "sudo systemctl x", "timeout 5 make", "env X=1 make",
		"go run -exec sudo .", "npm exec -- tsc", "uv run pytest", "docker compose exec web sh", "xargs rm", "nice -n 5 make", "poetry run x", "busybox ls", "git rebase --exec make"} {
		words := strings.Fields(text)
		e := k.Lookup(words[0])
		if e == nil {
			continue
		}
		if inner := len(e.Read(words).Inner) > 0; inner && !k.MayWrap(words) {
			t.Errorf("%q: a command is inside, and MayWrap says there is none", text)
		}
	}
	for _, text := range []string{"git push --force", "git status", "ls -l", "rm -rf", "sudo"} {
		if k.MayWrap(strings.Fields(text)) {
			t.Errorf("%q: MayWrap makes its entry be read for nothing", text)
		}
	}
	// Over every subcommand that ships: whatever is read as a command is one.
	for name, c := range k.chunks {
		e, err := k.load(c)
		if err != nil || e.commands == nil {
			continue
		}
		for sub := range e.commands {
			words := []string{name, sub, "a", "b"}
			if r := e.Read(words); len(r.Inner) > 0 && !k.MayWrap(words) {
				t.Errorf("%q: a command is inside, and MayWrap says there is none", words)
			}
		}
	}
}
