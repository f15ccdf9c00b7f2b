package floor_test

import (
	"testing"

	"assent/approval"
	"assent/floor"
	"assent/floor/paths"
)

// TestRuled: what a person opened for reading answers only the calls that
// nothing but their place keeps from being allowed (law §10).
func TestRuled(t *testing.T) {
	const ws = "/home/u/app"
	for _, row := range []struct {
		name             string
		tool, arguments  string
		operator, second string
		files            []string
		want             bool
	}{
		{"a file outside", "Read", `{"file_path":"/opt/sdk/a.txt"}`, "", "", nil, false},
		{"names of a folder outside", "LS", `{"path":"/opt/sdk"}`, "", "", nil, false},
		{"a search outside", "Grep", `{"pattern":"x","path":"/opt/sdk"}`, "", "", nil, false},
		{"a file inside", "Read", `{"file_path":"a.txt"}`, "", "", nil, false},
		{"a secret outside", "Read", `{"file_path":"/opt/sdk/.env"}`, "", "", nil, true},
		{"a secret inside", "Read", `{"file_path":".env"}`, "", "", nil, true},
		{"a search where a secret is known to be", "Grep", `{"pattern":"x","path":"/opt/sdk"}`, "", "", []string{"/opt/sdk/.env", "/opt/sdk/a"}, true},
		{"a search where other files are known to be", "Grep", `{"pattern":"x","path":"/opt/sdk"}`, "", "", []string{"/opt/sdk/a"}, false},
		{"an operator's deny", "Read", `{"file_path":"/opt/sdk/a.txt"}`, "read:\n  deny: [/opt/sdk/]\n", "", nil, true},
		{"an operator's ask", "Read", `{"file_path":"/opt/sdk/a.txt"}`, "read:\n  ask: [/opt/sdk/]\n", "", nil, true},
		{"an operator's deny of another file", "Read", `{"file_path":"/opt/sdk/a.txt"}`, "read:\n  deny: [/opt/other/]\n", "", nil, false},
		{"a search where an operator denies a name", "Grep", `{"pattern":"x","path":"/opt/sdk"}`, "read:\n  deny: ['*.pem']\n", "", nil, true},
		{"another layer's deny", "Read", `{"file_path":"/opt/sdk/a.txt"}`, "", "read:\n  deny: [/opt/sdk/]\n", nil, true},
		{"another layer's ask", "Read", `{"file_path":"/opt/sdk/a.txt"}`, "", "read:\n  ask: [/opt/sdk/]\n", nil, true},
		{"another layer's deny of names", "LS", `{"path":"/opt/sdk/x"}`, "", "read:\n  deny: [/opt/sdk/x]\n", nil, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			parse := func(text string, layer floor.Layer) *floor.Policy {
				if text == "" {
					return nil
				}
				p, err := floor.ParseLayer("p.yaml", []byte(text), layer)
				if err != nil {
					t.Fatal(err)
				}
				return p
			}
			call := floor.Call{Name: row.tool, Arguments: []byte(row.arguments), Workspace: ws, Cwd: ws, Home: "/home/u"}
			if row.files != nil {
				call.Facts = paths.Facts{Files: map[string]string{}}
				for _, f := range row.files {
					call.Facts.Files[f] = f
				}
			}
			for _, managed := range []bool{true, false} {
				f := &floor.Floor{Operator: parse(row.operator, floor.Operator)}
				if managed {
					f.Managed = parse(row.second, floor.Managed)
				} else {
					f.Project = parse(row.second, floor.Project)
				}
				v := f.Judge(call)
				if v.Ruled != row.want {
					t.Errorf("%v: ruled %v, want %v", v.Result, v.Ruled, row.want)
				}
				if v.Result == approval.Allow && v.Ruled {
					t.Error("allowed and ruled")
				}
			}
		})
	}
}
