package cli

import "testing"

func TestWhatOf(t *testing.T) {
	for arguments, want := range map[string]string{
		`{"command":"make && ls"}`:                     "make && ls",
		`{"command":["make","-j4","all"]}`:             "make -j4 all",
		`{"command":["bash","-c","rm *; it's"],"x":1}`: `bash -c 'rm *; it'\''s'`,
		`{"command":["touch",""]}`:                     "touch ''",
		`{"command":[]}`:                               `{"command":[]}`,
		`{"command":[1]}`:                              `{"command":[1]}`,
		`{"file_path":"/a","content":""}`:              "/a (with content)",
		`{}`:                                           "-",
		`{"x":1}`:                                      `{"x":1}`,
	} {
		if got := whatOf([]byte(arguments)); got != want {
			t.Errorf("%s: %q, want %q", arguments, got, want)
		}
	}
}
