package cli

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"assent/floor"
	"assent/floor/paths"
)

// setup is what a row says is true of the machine (`facts`). It is decoded
// strictly: a fact nobody understands must not be taken for one that changes
// nothing.
type setup struct {
	// Symlinks maps a link to where it leads; both may be relative to the
	// workspace. " (missing)" after the target says that nothing is there,
	// which changes nothing: a write creates it.
	Symlinks map[string]string `json:"symlinks"`
	// GitConfig is what the repository's configuration says.
	GitConfig map[string]string `json:"git_config"`
	// Files maps the path of a file that exists to its text.
	Files map[string]string `json:"files"`
	// Listed are folders of which Files and Symlinks tell all that is in them, at
	// any depth. Of any other folder nothing is known of what it lacks.
	Listed []string `json:"listed"`
	// WorkspaceTrusted and ServerTrusted are true when nothing is said.
	WorkspaceTrusted *bool `json:"workspace_trusted"`
	ServerTrusted    *bool `json:"server_trusted"`
	// ReadOnlyHint is the server's own claim: it is read and not believed.
	ReadOnlyHint *bool `json:"readOnlyHint"`
	// MCPServer and MCPTool are the tool's real names, where the client's
	// spelling leaves it open.
	MCPServer string `json:"mcp_server"`
	MCPTool   string `json:"mcp_tool"`
	// ServerRoots are the folders an MCP server is confined to.
	ServerRoots []string `json:"server_roots"`
	// WorktreeOf and JobDir name the repository the workspace is a worktree
	// of and the folder of the agent's own jobs. Neither is trusted more than
	// any other place.
	WorktreeOf string `json:"worktree_of"`
	JobDir     string `json:"job_dir"`
}

// apply gives a call the facts of a row.
func (s *setup) apply(call *floor.Call) error {
	for link, target := range s.Symlinks {
		from, err := placed(call.Workspace, link)
		if err != nil {
			return fmt.Errorf("symlinks: %w", err)
		}
		to, err := placed(call.Workspace, strings.TrimSuffix(target, " (missing)"))
		if err != nil {
			return fmt.Errorf("symlinks: %w", err)
		}
		if call.Facts.Links == nil {
			call.Facts.Links = make(map[string]string)
		}
		call.Facts.Links[from] = to
	}
	for file, text := range s.Files {
		p, err := placed(call.Workspace, file)
		if err != nil {
			return fmt.Errorf("files: %w", err)
		}
		if call.Facts.Files == nil {
			call.Facts.Files = make(map[string]string)
		}
		call.Facts.Files[p] = text
	}
	for _, dir := range s.Listed {
		p, err := placed(call.Workspace, dir)
		if err != nil {
			return fmt.Errorf("listed: %w", err)
		}
		if call.Facts.Folders == nil {
			call.Facts.Folders = make(map[string]int)
		}
		call.Facts.Folders[p], call.Facts.Changing = paths.Whole, true
	}
	for key, text := range s.GitConfig {
		if call.Facts.GitConfig == nil {
			call.Facts.GitConfig = make(map[string]string)
		}
		call.Facts.GitConfig[gitKey(key)] = text
	}
	call.Facts.Untrusted = s.WorkspaceTrusted != nil && !*s.WorkspaceTrusted
	call.Facts.ServerUntrusted = s.ServerTrusted != nil && !*s.ServerTrusted
	for _, r := range s.ServerRoots {
		p, err := placed(call.Workspace, r)
		if err != nil {
			return fmt.Errorf("server_roots: %w", err)
		}
		call.Facts.ServerRoots = append(call.Facts.ServerRoots, p)
	}
	switch {
	case s.MCPServer == "" && s.MCPTool == "":
	case s.MCPServer == "" || s.MCPTool == "":
		return errors.New("mcp_server and mcp_tool only tell something together")
	case !strings.HasSuffix(call.Name, s.MCPTool) && !strings.HasPrefix(call.Name, "mcp"):
		return fmt.Errorf("mcp_tool: %q is not a spelling of %s", call.Name, s.MCPTool)
	case strings.Contains(s.MCPServer, "__") || strings.Contains(s.MCPTool, "__"):
		call.Name = s.MCPServer + "/" + s.MCPTool
	default:
		call.Name = "mcp__" + s.MCPServer + "__" + s.MCPTool
	}
	return nil
}

// placed makes a path of a row absolute.
func placed(workspace, p string) (string, error) {
	switch {
	case p == "" || strings.IndexByte(p, 0) >= 0:
		return "", fmt.Errorf("%q is no path", p)
	case path.IsAbs(p):
		return path.Clean(p), nil
	case workspace == "":
		return "", fmt.Errorf("%q is relative and the row has no workspace", p)
	}
	return path.Join(workspace, p), nil
}

// gitKey writes a key of git configuration as git compares it: the first and
// the last part are lower case, the subsection between them keeps its case.
func gitKey(key string) string {
	first, last := strings.IndexByte(key, '.'), strings.LastIndexByte(key, '.')
	if first < 0 {
		return strings.ToLower(key)
	}
	return strings.ToLower(key[:first]) + key[first:last] + strings.ToLower(key[last:])
}

// setupMembers are the facts a row can tell.
var setupMembers = []string{"symlinks", "git_config", "files", "listed", "workspace_trusted", "server_trusted", "readOnlyHint", "mcp_server", "mcp_tool",
	"server_roots", "worktree_of", "job_dir"}

// decodeSetup reads the facts of a row.
func decodeSetup(text jsontext.Value) (*setup, error) {
	if text.Kind() != '{' {
		return nil, errors.New("they are not an object")
	}
	var members map[string]jsontext.Value
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, plainJSONError(text, err)
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if slices.Contains(setupMembers, name) {
			continue
		}
		if near := nearest(name, setupMembers); near != "" {
			return nil, fmt.Errorf("unknown fact %q: did you mean %q?", name, near)
		}
		return nil, fmt.Errorf("unknown fact %q", name)
	}
	s := new(setup)
	if err := json.Unmarshal(text, s, json.RejectUnknownMembers(true)); err != nil {
		return nil, plainJSONError(text, err)
	}
	return s, nil
}

// homeOf derives a home folder from the place of a workspace: the usual
// /home/NAME and /Users/NAME, and /root.
func homeOf(workspace string) string {
	parts := strings.Split(workspace, "/")
	switch {
	case len(parts) > 3 && parts[0] == "" && (parts[1] == "home" || parts[1] == "Users") && parts[2] != "":
		return "/" + parts[1] + "/" + parts[2]
	case len(parts) > 2 && parts[0] == "" && parts[1] == "root":
		return "/root"
	}
	return ""
}
