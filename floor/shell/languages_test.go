package shell

import (
	"slices"
	"testing"
)

func TestSedScripts(t *testing.T) {
	for _, c := range []struct {
		script              string
		fine                bool
		reads, writes, runs []string
	}{
		{"s/a/b/", true, nil, nil, nil},
		{"s/a/b/w x", true, nil, []string{"x"}, nil},
		{"s/[/w]/w x/", true, nil, nil, nil},
		{"/a/,/b/w x\nr y", true, []string{"y"}, []string{"x"}, nil},
		{"1~2e date", true, nil, nil, []string{"date"}},
		{"s/a/b/e", true, nil, nil, []string{""}},
		{"y/w/x/;w z", true, nil, []string{"z"}, nil},
		{"a w x", true, nil, nil, nil},
		{"a\\\nw x\\\nw y\nw z", true, nil, []string{"z"}, nil},
		{"# w x", true, nil, nil, nil},
		{":l w x", true, nil, []string{"x"}, nil},
		{"tl;w x", true, nil, []string{"x"}, nil},
		{"/a/!{p;w x\n}", true, nil, []string{"x"}, nil},
		{"$!N;P;D", true, nil, nil, nil},
		{"s/a/b", false, nil, nil, nil},
		{"k", false, nil, nil, nil},
		{"p w x", false, nil, nil, nil},
		{"", true, nil, nil, nil},
	} {
		s := sedScript{s: c.script}
		if fine := s.parse(); fine != c.fine {
			t.Errorf("%q: readable %v, want %v", c.script, fine, c.fine)
			continue
		}
		if !slices.Equal(s.reads, c.reads) || !slices.Equal(s.writes, c.writes) || !slices.Equal(s.runs, c.runs) {
			t.Errorf("%q: reads %q, writes %q, runs %q", c.script, s.reads, s.writes, s.runs)
		}
	}
}

func TestLookUps(t *testing.T) {
	for text, want := range map[string]bool{
		"select 1": true, "SELECT a, b FROM t WHERE c = 'x;y';": true, "with x as (select 1) select * from x": true, "show tables": true,
		"explain select 1": true, "describe t": true, "-- drop\nselect 1": true, "/* drop */ select 1": true, ".tables": true, `\d t`: true, "pragma user_version": true, "": true,
		"drop table t": false, "select 1; drop table t": false, "select * into x from t": false, "update t set a = 1": false, "explain analyze delete from t": false,
		"select pg_read_file('x')": false, "select load_file('x')": false, "pragma user_version = 1": false, "pragma optimize": false, ".shell ls": false, ".tables\n.shell ls": false,
		`\! ls`: false, `\d x \! ls`: false, "select 1 \\g |ls": false, "select 'a": false, "select \"it's\"; drop table t; --'": false, "vacuum": false, "begin": false,
	} {
		got := true
		for _, s := range statements(text) {
			got = got && lookUp(s)
		}
		if got != want {
			t.Errorf("%q is a look-up: %v, want %v", text, got, want)
		}
	}
}

func TestLiteralsOfCode(t *testing.T) {
	got := literals(`open("/etc/passwd"); print('a b'); x = './y'; "no"`)
	if want := []string{"/etc/passwd", "./y"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
