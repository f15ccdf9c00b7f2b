package approval_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"testing"

	"assent/approval"
)

func TestIsLookUp(t *testing.T) {
	for _, row := range []struct {
		name, tool string
		want       bool
	}{
		{"snake", "mcp__github__get_issue", true},
		{"camel", "mcp__atlassian__getJiraIssue", true},
		{"kebab", "mcp__mongodb__list-collections", true},
		{"pascal", "mcp__x__ListThings", true},
		{"one word", "mcp__redis__get", true},
		{"search", "mcp__x__search_docs", true},
		{"read", "mcp__x__read_file", true},
		{"find", "mcp__x__find_monitors", true},
		{"describe", "mcp__x__describe_table", true},
		{"noun that is also a deed", "mcp__github__get_merge_request", true},
		{"pull request", "mcp__github__list_pull_requests", true},
		{"a hump with the first letter", "mcp__x__getAlias", true},
		{"a hump with the last letter", "mcp__x__getZone", true},
		{"small letters to the last", "mcp__x__getAPIzone", true},
		{"digits", "mcp__x__get_v0_to_9", true},
		{"server with dashes", "mcp__my-server__list_users", true},
		{"server with one underscore", "mcp__my_server__list_users", true},

		{"create", "mcp__x__create_issue", false},
		{"get or create", "mcp__x__get_or_create_user", false},
		{"find and delete", "mcp__x__find_and_delete", false},
		{"camel find and modify", "mcp__x__findAndModify", false},
		{"capitals hide a word", "mcp__x__getORdelete", false},
		{"capitals hide another", "mcp__x__getDELETEThing", false},
		{"kebab get or set", "mcp__x__get-or-set", false},
		{"dots", "mcp__x__get.then.drop", false},
		{"joined by a deed that is a noun", "mcp__x__find_and_merge", false},
		{"replace", "mcp__x__search_replace", false},
		{"pull alone", "mcp__x__get_pull", false},
		{"stem within a word", "mcp__x__getaway", false},
		{"stem within a word, list", "mcp__x__listen", false},
		{"stem later", "mcp__x__user_get", false},
		{"unknown word", "mcp__x__frobnicate", false},
		{"look-up in no name", "mcp__x__status", false},
		{"query may write", "mcp__x__query_database", false},
		{"text that may write", "mcp__x__read_neo4j_cypher", false},
		{"any address", "mcp__x__get_url", false},
		{"finding is an investigation", "mcp__x__find_slow_requests", false},

		{"server's name is not the tool's", "mcp__get__frobnicate", false},
		{"two readings, one changes", "mcp__a__get__delete_all", false},
		{"two readings, one unknown", "mcp__a__b__get_x", false},
		{"no server", "mcp____get_x", false},
		{"no tool", "mcp__x__", false},
		{"server alone", "mcp__get_x", false},
		{"bare name", "get_issue", false},
		{"one underscore hides the server's end", "mcp_task_list_clean", false},
		{"other client's join", "github_get_issue", false},
		{"prefix in capitals", "MCP__x__get_y", false},
		{"blank", "mcp__x__get issue", false},
		{"letters outside ASCII", "mcp__x__get_dеlete", false},
		{"empty", "", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := approval.IsLookUp(row.tool); got != row.want {
				t.Errorf("IsLookUp(%q) = %v, want %v", row.tool, got, row.want)
			}
		})
	}
}

// TestLookUpCorpus counts look-ups among tools of real servers. One that
// changes something must never count; how many look-ups are known is a
// matter of comfort and has a floor so that it does not erode unseen.
func TestLookUpCorpus(t *testing.T) {
	const corpus = "../../shared/corpora/mcp_tools.jsonl"
	f, err := os.Open(corpus)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("no corpus at %s", corpus)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lookUps, known, changing := 0, 0, 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var row struct {
			Name   string `json:"mcp_name"`
			LookUp bool   `json:"look_up"`
		}
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		got := approval.IsLookUp(row.Name)
		switch {
		case row.LookUp:
			lookUps++
			if got {
				known++
			}
		default:
			changing++
			if got {
				t.Errorf("%s changes something and counts as a look-up", row.Name)
			}
		}
	}
	if changing == 0 || known*100 < lookUps*60 {
		t.Errorf("%d of %d look-ups known, %d changing tools seen", known, lookUps, changing)
	}
	t.Logf("%d of %d look-ups known, none of %d changing tools", known, lookUps, changing)
}
