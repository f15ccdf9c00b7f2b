package approval_test

import (
	"path"
	"strings"
	"testing"

	"assent/approval"
)

// FuzzCall reads calls of any name and arguments: nothing panics, paths come
// out prepared or cannot be told, and what cannot be read is never looser
// than what can.
func FuzzCall(f *testing.F) {
	for _, name := range []string{"Bash", "Read", "Glob", "mcp__x__get_y", "update_metadata", ""} {
		for _, arguments := range []string{"", "null", `{}`, `{"command":"npx x"}`, `{"file_path":"/opt/../a","paths":["~/x",{"path":"\u0000"}]}`, `{"a":[[[{}]]]}`, `{"a":1}x`, `[`} {
			f.Add(name, arguments, "/home/u/work")
		}
	}
	f.Fuzz(func(t *testing.T, name, arguments, workspace string) {
		leaf := approval.Leaf{Name: name, Arguments: []byte(arguments), PolicyResult: approval.Deny}
		session := approval.Session{Workspace: workspace, CurrentPolicy: approval.Auto, ReadAllowlist: []string{"/opt/sdk"}}
		leaf.Paths = approval.LexicalPaths(leaf, session)
		for _, p := range leaf.Paths {
			if p != "" && !p.Known() {
				t.Errorf("%q is neither prepared nor unknown", p)
			}
			if abs := path.Clean(workspace); p.Outside() && path.IsAbs(workspace) && (string(p) == abs || strings.HasPrefix(string(p), abs+"/")) {
				t.Errorf("%q lies in %q and says outside", p, workspace)
			}
		}
		if leaf.Cluster() == approval.Comm {
			t.Errorf("foreign %q is comm", name)
		}
		license, reason := approval.LicenseDecision(leaf, session)
		if license == approval.AllowSide && reason != approval.ReadAllowlisted || license == approval.DenySide {
			t.Errorf("%q %q: %v because %v", name, arguments, license, reason)
		}
		leaf.Approved = approval.Yes
		for _, key := range approval.MayRemember(leaf, session) {
			if !key.Outside() {
				t.Errorf("%q would be remembered", key)
			}
		}
	})
}
