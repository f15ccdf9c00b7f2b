package commands

import (
	"reflect"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"assent/internal/outline"
)

// whole reads what is left as nodes.
func whole(v any) any {
	switch v := v.(type) {
	case *outline.Node:
		return whole(valueOf(v, false))
	case []any:
		for i := range v {
			v[i] = whole(v[i])
		}
	case yaml.MapSlice:
		for i := range v {
			v[i].Value = whole(v[i].Value)
		}
	}
	return v
}

// TestOutlined compares the small reader with the full one over every entry
// that ships, and over every subcommand that is read by itself.
func TestOutlined(t *testing.T) {
	check := func(t *testing.T, name string, text []byte) bool {
		want, err := read(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return false
		}
		have, ok := outlined(text)
		if !ok {
			return false
		}
		have = whole(have).(yaml.MapSlice)
		if !reflect.DeepEqual(want, have) {
			t.Errorf("%s (-full +small):\n%s", name, cmp.Diff(want, have))
		}
		return true
	}
	total, small := 0, 0
	var left []string
	seen := map[*chunk]bool{}
	for name, c := range Default().chunks {
		if seen[c] {
			continue
		}
		seen[c] = true
		total++
		if check(t, name, c.source()) {
			small++
		} else {
			left = append(left, c.file+":"+name)
		}
		rest, subs := splitSubcommands(c.source(), c.line)
		if len(subs) == 0 {
			continue
		}
		check(t, name, rest)
		for _, s := range subs {
			total++
			if check(t, name+" "+s.names[0], s.text) {
				small++
			} else {
				left = append(left, c.file+":"+name+" "+s.names[0])
			}
		}
	}
	t.Logf("%d of %d read by the small reader; left: %v", small, total, left)
	if small*100 < total*98 {
		t.Errorf("the small reader reads only %d of %d entries; write the others in the plain way: %v", small, total, left)
	}
}
