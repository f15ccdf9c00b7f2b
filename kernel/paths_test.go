package kernel

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/approval"
	"assent/floor"
)

// The paths of a call as the document keeps them are those it has, or unknown.
// A name in $'...' is two: dash knows no such quotes and keeps the dollar.
func TestPathsOf(t *testing.T) {
	for _, test := range []struct {
		why, name, arguments string
		want                 []approval.Path
	}{
		{"inside", "Read", `{"file_path":"/w/a/b"}`, []approval.Path{"a/b"}},
		{"outside", "Read", `{"file_path":"/elsewhere/x"}`, []approval.Path{"/elsewhere/x"}},
		{"twice", "Bash", `{"command":"cat /elsewhere/x /elsewhere/x"}`, []approval.Path{"/elsewhere/x"}},
		{"a character that stands for others", "Read", `{"file_path":"/elsewhere/\ufffd"}`, []approval.Path{"/elsewhere/\ufffd"}},
		{"no UTF-8: it would become that character", "Bash", `{"command":"cat $'/elsewhere/\\xff'"}`, []approval.Path{"", `$/elsewhere/\xff`}},
		{"no UTF-8, inside", "Bash", `{"command":"cat $'a/\\xfe'"}`, []approval.Path{"", `$a/\xfe`}},
	} {
		v := new(floor.Floor).Judge(floor.Call{Name: test.name, Arguments: json.RawMessage(test.arguments), Workspace: "/w", Cwd: "/w", Home: "/home/ada"})
		if diff := cmp.Diff(test.want, pathsOf(v)); diff != "" {
			t.Errorf("%s: %s", test.why, diff)
		}
	}
}
