package cli

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHeaders(t *testing.T) {
	t.Setenv("KEY", "Bearer a: b")
	got, err := headersOf([]string{"x-team: docs", "X-Team:more"}, []string{"authorization: KEY"})
	if want := (http.Header{"X-Team": {"docs", "more"}, "Authorization": {"Bearer a: b"}}); err != nil || !cmp.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	t.Setenv("KEY", "two\nlines")
	for _, bad := range [][2][]string{{nil, {"A: KEY"}}, {{"none"}, nil}, {{"a b: c"}, nil}, {{"A: b\r\nC: d"}, nil}, {{"content-type: x"}, nil}} {
		if got, err := headersOf(bad[0], bad[1]); err == nil {
			t.Errorf("%q: got %v", bad, got)
		}
	}
}

// A server that nobody named is called after its command, and where that does not tell
// by nothing that is guessed.
func TestServersAreNamed(t *testing.T) {
	for _, row := range []struct {
		why, address string
		command      []string
		want         string
	}{
		{"a program", "", []string{"/usr/bin/docs-mcp", "--fast"}, "docs-mcp"},
		{"a runner", "", []string{"npx", "-y", "@modelcontextprotocol/server-filesystem", "/srv"}, "server-filesystem"},
		{"a version", "", []string{"npx", "@scope/some@1.2.3"}, "some"},
		{"a version without a scope", "", []string{"bunx", "some@latest"}, "some"},
		{"a word of the runner", "", []string{"pnpm", "dlx", "some-server"}, "some-server"},
		{"a module", "", []string{"python3", "-m", "mcp_server_git"}, "mcp_server_git"},
		{"a script", "", []string{"node", "/opt/it/index.js"}, "index"},
		{"what would end the name", "", []string{"a__b"}, "a_b"},
		{"other characters", "", []string{"my server"}, "my-server"},
		{"an address", "https://mcp.example.com:8080/mcp", nil, "mcp.example.com"},
		{"an address by number", "http://[::1]:80/", nil, "1"},
		{"options with words of their own", "", []string{"docker", "run", "-e", "TOKEN", "some/server"}, ""},
		{"a shell", "", []string{"bash", "-c", "server"}, ""},
		{"a runner of nothing", "", []string{"npx", "-y"}, ""},
	} {
		t.Run(row.why, func(t *testing.T) {
			got, err := serverName(row.address, row.command)
			if got != row.want || (err == nil) != (row.want != "") || err == nil && !serverNames.MatchString(got) {
				t.Errorf("%s %q: got %q, %v, want %q", row.address, row.command, got, err, row.want)
			}
		})
	}
}
