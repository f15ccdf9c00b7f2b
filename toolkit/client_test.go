//go:build unix

package toolkit

import (
	"strings"
	"testing"

	"assent/job"
)

// What a client's tool would change is shown where all of its arguments are
// understood, and whatever the client is, its file stays as it is.
func TestWhatAClientWouldChange(t *testing.T) {
	const diff = "diff a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"
	for _, row := range []struct {
		why, tool, path, arguments string
		want                       string // all of it, or what stands in why it cannot be told
	}{
		{"Claude Code writes over a file", "Write", "a.txt", `{"file_path":"a.txt","content":"one\n2\nthree\n"}`, diff},
		{"a new file", "Write", "new.txt", `{"file_path":"new.txt","content":"x"}`, "it makes a new file: there is no new.txt now"},
		{"what is there already", "Write", "a.txt", `{"file_path":"a.txt","content":"one\ntwo\nthree\n"}`, "nothing: a.txt is so already"},
		{"Claude Code edits", "Edit", "a.txt", `{"file_path":"a.txt","old_string":"two","new_string":"2"}`, diff},
		{"everywhere", "Edit", "a.txt", `{"file_path":"a.txt","old_string":"two","new_string":"2","replace_all":true}`, diff},
		{"several times", "Edit", "a.txt", `{"file_path":"a.txt","old_string":"e","new_string":"2"}`, "old_string stands 3 times in a.txt"},
		{"what is not there", "Edit", "a.txt", `{"file_path":"a.txt","old_string":"four","new_string":"2"}`, "old_string does not stand in a.txt"},
		{"an edit that makes a file", "Edit", "new.txt", `{"file_path":"new.txt","old_string":"","new_string":"2"}`, "it makes a new file: there is no new.txt now"},
		{"an edit of nothing in a file", "Edit", "a.txt", `{"file_path":"a.txt","old_string":"","new_string":"2"}`, "old_string is empty"},
		{"several edits", "MultiEdit", "a.txt", `{"file_path":"a.txt","edits":[{"old_string":"two","new_string":"zwei"},{"old_string":"zwei","new_string":"2","replace_all":false}]}`, diff},
		{"edits of a file that the first makes", "MultiEdit", "new.txt", `{"file_path":"new.txt","edits":[{"old_string":"","new_string":"a"},{"old_string":"a","new_string":"b"}]}`, "it makes a new file: there is no new.txt now"},
		{"edits of what the first does not make", "MultiEdit", "new.txt", `{"file_path":"new.txt","edits":[{"old_string":"","new_string":"a"},{"old_string":"x","new_string":"b"}]}`, "old_string does not stand in new.txt"},
		{"opencode writes", "write", "a.txt", `{"filePath":"a.txt","content":"one\n2\nthree\n"}`, diff},
		{"opencode edits", "edit", "a.txt", `{"filePath":"a.txt","oldString":"two","newString":"2"}`, diff},
		{"Gemini CLI writes", "write_file", "a.txt", `{"file_path":"a.txt","content":"one\n2\nthree\n"}`, diff},
		{"Gemini CLI edits", "replace", "a.txt", `{"file_path":"a.txt","instruction":"two is 2","old_string":"two","new_string":"2"}`, diff},
		{"an argument that may change what it does", "Write", "a.txt", `{"file_path":"a.txt","content":"x","mode":"append"}`, "an argument that is not known here: mode"},
		{"one in an edit", "MultiEdit", "a.txt", `{"file_path":"a.txt","edits":[{"old_string":"two","new_string":"2","regex":true}]}`, "an argument that is not known here: regex"},
		{"one without a name", "Write", "a.txt", `{"file_path":"a.txt","content":"x","":1}`, "an argument that is not known here"},
		{"no text", "Edit", "a.txt", `{"file_path":"a.txt","old_string":["two"],"new_string":"2"}`, "no old_string and new_string"},
		{"no content", "Write", "a.txt", `{"file_path":"a.txt"}`, "content is no text"},
		{"another member twice", "Write", "a.txt", `{"file_path":"a.txt","content":"x","content":"y"}`, "duplicate"},
	} {
		t.Run(row.why, func(t *testing.T) {
			g := newGround(t)
			call := g.call(row.tool, row.arguments, row.path)
			call.Kind = job.Foreign
			shown, err := clientTools[row.tool].preview(t.Context(), call)
			if shown.Image != "" {
				t.Error("an image that no body compares")
			}
			if got := shown.Text; err == nil && got != row.want || err != nil && !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %q, %v\nwant %q", got, err, row.want)
			}
			if got := g.content("ws/a.txt"); got != "one\ntwo\nthree\n" {
				t.Errorf("the file is %q", got)
			}
		})
	}
}

// Nothing is registered for a client's tool but how it is shown.
func TestAClientsToolHasNoBody(t *testing.T) {
	r := new(job.Registry)
	kit, err := Register(r, Options{Shell: "/bin/sh"})
	if err != nil {
		t.Fatal(err)
	}
	defer kit.Close()
	for name := range clientTools {
		if _, ok := r.Lookup(job.Foreign, name); ok || r.Shows(job.Foreign, name).Body != nil || r.Shows(job.Foreign, name).Preview == nil {
			t.Error(name)
		}
	}
}
