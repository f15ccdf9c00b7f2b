package approval_test

import (
	"path"
	"slices"
	"strings"
	"testing"

	"assent/approval"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var home = approval.Session{Workspace: "/home/u/work/app", Home: "/data/people/u", Volumes: []string{"/scratch/disk1"}}

func TestAllowlisted(t *testing.T) {
	for _, row := range []struct {
		name  string
		keys  []string
		paths []approval.Path
		want  bool
	}{
		{"the key itself", []string{"/opt/sdk/a"}, []approval.Path{"/opt/sdk/a"}, true},
		{"under the key", []string{"/opt/sdk"}, []approval.Path{"/opt/sdk/x/y"}, true},
		{"key with a slash at its end", []string{"/opt/sdk/"}, []approval.Path{"/opt/sdk/x"}, true},
		{"every path covered", []string{"/opt/sdk", "/srv/b/c"}, []approval.Path{"/opt/sdk/x", "/srv/b/c"}, true},
		{"no key", nil, []approval.Path{"/opt/sdk/a"}, false},
		{"no path", []string{"/opt/sdk"}, nil, false},
		{"name that only starts alike", []string{"/opt/sdk"}, []approval.Path{"/opt/sdk2"}, false},
		{"above the key", []string{"/opt/sdk/a"}, []approval.Path{"/opt/sdk"}, false},
		{"one path not covered", []string{"/opt/sdk"}, []approval.Path{"/opt/sdk/x", "/opt/other"}, false},
		{"one path in the workspace", []string{"/opt/sdk"}, []approval.Path{"/opt/sdk/x", "src/a"}, false},
		{"path that cannot be told", []string{"/opt/sdk"}, []approval.Path{"/opt/sdk/x", ""}, false},
		{"path that was not prepared", []string{"/opt/sdk"}, []approval.Path{"/opt/sdk/../other"}, false},
		{"relative key", []string{"src"}, []approval.Path{"src/a"}, false},
		{"workspace as key", []string{"."}, []approval.Path{"src/a"}, false},
		{"climbing key", []string{"/opt/sdk/../other"}, []approval.Path{"/opt/other/a"}, false},
		{"empty key", []string{""}, []approval.Path{"/opt/sdk/a"}, false},
		// A fence as key opens itself and nothing under it.
		{"root itself", []string{"/"}, []approval.Path{"/"}, true},
		{"under the root", []string{"/"}, []approval.Path{"/etc/hosts"}, false},
		{"one segment itself", []string{"/tmp"}, []approval.Path{"/tmp"}, true},
		{"under one segment", []string{"/tmp"}, []approval.Path{"/tmp/a"}, false},
		{"under a home", []string{"/home/x"}, []approval.Path{"/home/x/.ssh/id"}, false},
		{"under the workspace's parent", []string{"/home/u/work"}, []approval.Path{"/home/u/work/other"}, false},
		{"under the real home", []string{"/data/people/u"}, []approval.Path{"/data/people/u/a"}, false},
		{"under a volume", []string{"/Volumes/usb"}, []approval.Path{"/Volumes/usb/a"}, false},
		{"under a mounted disk", []string{"/scratch/disk1"}, []approval.Path{"/scratch/disk1/a"}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			session := home
			session.ReadAllowlist = row.keys
			for _, floor := range []approval.PolicyResult{approval.Allow, approval.Ask, approval.Deny} {
				leaf := approval.Leaf{Name: "Read", PolicyResult: floor, Paths: row.paths}
				if got := approval.Allowlisted(leaf, session); got != row.want {
					t.Errorf("floor %v: got %v, want %v", floor, got, row.want)
				}
			}
			for _, leaf := range []approval.Leaf{
				{Name: "Read", PolicyResult: approval.Block, Paths: row.paths},
				{Name: "Read", PolicyResult: approval.None, Paths: row.paths},
				{Name: "Read", PolicyResult: approval.Deny, Ruled: true, Paths: row.paths},
				{Name: "Read", PolicyResult: approval.Ask, Ruled: true, Paths: row.paths},
				{Name: "Write", PolicyResult: approval.Deny, Paths: row.paths},
				{Name: "Bash", PolicyResult: approval.Deny, Paths: row.paths},
				{Name: "mcp__x__read_file", PolicyResult: approval.Deny, Paths: row.paths},
			} {
				if approval.Allowlisted(leaf, session) {
					t.Errorf("%s with floor %v is allowlisted", leaf.Name, leaf.PolicyResult)
				}
			}
		})
	}
}

func TestFileReadParent(t *testing.T) {
	for _, row := range []struct {
		name       string
		path, want approval.Path
	}{
		{"folder", "/opt/sdk/a", "/opt/sdk"},
		{"deeper", "/srv/data/x/y", "/srv/data/x"},
		{"folder in a home", "/home/x/docs/a", "/home/x/docs"},
		{"folder on a volume", "/Volumes/usb/photos/a", "/Volumes/usb/photos"},
		{"deeper on macOS", "/private/tmp/a/b", "/private/tmp/a"},
		{"a name that only starts alike", "/privateer/x/a", "/privateer/x"},
		{"beside the workspace, deeper", "/home/u/work/lib/a", "/home/u/work/lib"},

		{"root", "/etc", ""},
		{"root of root", "/", ""},
		{"one segment", "/tmp/a", ""},
		{"what macOS links to", "/private/a", ""},
		{"one segment of macOS", "/private/tmp/a", ""},
		{"what holds homes", "/Users/x", ""},
		{"a home", "/home/x/a", ""},
		{"a home of macOS", "/Users/x/a", ""},
		{"a home where /home points", "/var/home/x/a", ""},
		{"a home on another volume", "/mnt/c/Users/x/a", ""},
		{"the real home", "/data/people/u/a", ""},
		{"above the real home", "/data/people/other", ""},
		{"above the workspace", "/home/u/work/a", ""},
		{"volume", "/Volumes/usb/a", ""},
		{"drive of WSL", "/mnt/c/a", ""},
		{"removable", "/media/u/usb/a", ""},
		{"removable, newer", "/run/media/u/usb/a", ""},
		{"mounted disk", "/scratch/disk1/a", ""},
		{"relative", "src/a", ""},
		{"workspace", ".", ""},
		{"cannot be told", "", ""},
		{"not prepared", "/opt/sdk/../x/y", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, ok := approval.FileReadParent(row.path, home)
			if got != row.want || ok != (row.want != "") {
				t.Errorf("FileReadParent(%q) = %q, %v; want %q", row.path, got, ok, row.want)
			}
		})
	}
}

func asked(paths ...approval.Path) approval.Leaf {
	return approval.Leaf{Name: "Read", PolicyResult: approval.Deny, Paths: paths}
}

func TestOffer(t *testing.T) {
	refused := asked("/opt/sdk/b")
	refused.Approved = approval.No
	settled := asked("/opt/sdk/b")
	settled.Completed = true
	blocked := asked("/opt/sdk/b")
	blocked.PolicyResult = approval.Block
	listing := asked("/opt/sdk/b")
	listing.Names = listing.Paths
	ruled := asked("/opt/sdk/b")
	ruled.Ruled = true
	write := asked("/opt/sdk/b")
	write.Name = "Write"
	for _, row := range []struct {
		name    string
		leaf    approval.Leaf
		keys    []string
		waiting []approval.Leaf
		want    approval.Path
	}{
		{"sibling among the keys", asked("/opt/sdk/a"), []string{"/opt/sdk/b"}, nil, "/opt/sdk"},
		{"sibling folder among the keys", asked("/opt/sdk/a"), []string{"/opt/sdk/b/"}, nil, "/opt/sdk"},
		{"sibling waits too", asked("/opt/sdk/a"), nil, []approval.Leaf{asked("/opt/sdk/a"), asked("/opt/sdk/b")}, "/opt/sdk"},
		{"several paths, one parent, and a sibling", asked("/opt/sdk/a", "/opt/sdk/b"), []string{"/opt/sdk/c"}, nil, "/opt/sdk"},

		{"a listing is no evidence", asked("/opt/sdk/a"), nil, []approval.Leaf{listing}, ""},
		{"a listing offers nothing", listing, []string{"/opt/sdk/c"}, nil, ""},
		{"what a rule is against is no evidence", asked("/opt/sdk/a"), nil, []approval.Leaf{ruled}, ""},
		{"what a rule is against offers nothing", ruled, []string{"/opt/sdk/c"}, nil, ""},
		{"lone file", asked("/opt/sdk/a"), nil, nil, ""},
		{"itself in the queue", asked("/opt/sdk/a"), nil, []approval.Leaf{asked("/opt/sdk/a")}, ""},
		{"the same file twice", asked("/opt/sdk/a"), nil, []approval.Leaf{asked("/opt/sdk/a"), asked("/opt/sdk/a")}, ""},
		{"its own paths are no evidence", asked("/opt/sdk/a", "/opt/sdk/b"), nil, []approval.Leaf{asked("/opt/sdk/a", "/opt/sdk/b")}, ""},
		{"cousin", asked("/opt/sdk/a"), []string{"/opt/sdk/x/b"}, nil, ""},
		{"uncle", asked("/opt/sdk/x/a"), []string{"/opt/sdk/b"}, nil, ""},
		{"refused sibling", asked("/opt/sdk/a"), nil, []approval.Leaf{refused}, ""},
		{"settled sibling", asked("/opt/sdk/a"), nil, []approval.Leaf{settled}, ""},
		{"blocked sibling", asked("/opt/sdk/a"), nil, []approval.Leaf{blocked}, ""},
		{"written sibling", asked("/opt/sdk/a"), nil, []approval.Leaf{write}, ""},
		{"several paths, several parents", asked("/opt/sdk/a", "/opt/lib/a"), []string{"/opt/sdk/b", "/opt/lib/b"}, nil, ""},
		{"a path that cannot be told", asked("/opt/sdk/a", ""), []string{"/opt/sdk/b"}, nil, ""},
		{"in the workspace", asked("src/a"), []string{"src/b"}, nil, ""},
		{"fence", asked("/tmp/a"), []string{"/tmp/b"}, nil, ""},
		{"home", asked("/home/x/a"), []string{"/home/x/b"}, nil, ""},
		{"a write", write, []string{"/opt/sdk/a"}, nil, ""},
		{"nobody is asked", blocked, []string{"/opt/sdk/a"}, nil, ""},
		{"no paths", asked(), []string{"/opt/sdk/a"}, nil, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			session := home
			session.ReadAllowlist = row.keys
			got, ok := approval.Offer(row.leaf, row.waiting, session)
			if got != row.want || ok != (row.want != "") {
				t.Errorf("got %q, %v; want %q", got, ok, row.want)
			}
		})
	}
}

func TestMayRemember(t *testing.T) {
	allowed := func(change func(*approval.Leaf)) approval.Leaf {
		leaf := asked("/opt/sdk/a", "/srv/b/c")
		leaf.Approved = approval.Yes
		change(&leaf)
		return leaf
	}
	for _, row := range []struct {
		name string
		leaf approval.Leaf
		want []approval.Path
	}{
		{"each path", allowed(func(*approval.Leaf) {}), []approval.Path{"/opt/sdk/a", "/srv/b/c"}},
		{"floor asked", allowed(func(l *approval.Leaf) { l.PolicyResult = approval.Ask }), []approval.Path{"/opt/sdk/a", "/srv/b/c"}},
		{"a path twice", allowed(func(l *approval.Leaf) { l.Paths = []approval.Path{"/a/b", "/a/b"} }), []approval.Path{"/a/b"}},
		{"a fence, for itself", allowed(func(l *approval.Leaf) { l.Paths = []approval.Path{"/tmp"} }), []approval.Path{"/tmp"}},
		{"inside is not stored", allowed(func(l *approval.Leaf) { l.Paths = []approval.Path{"src/a", "/a/b"} }), []approval.Path{"/a/b"}},
		{"covered already", allowed(func(l *approval.Leaf) { l.Paths = []approval.Path{"/listed/x/a", "/a/b"} }), []approval.Path{"/a/b"}},

		{"what was read beside names", allowed(func(l *approval.Leaf) { l.Names = l.Paths[1:] }), []approval.Path{"/opt/sdk/a"}},

		{"names alone", allowed(func(l *approval.Leaf) { l.Names = l.Paths }), nil},
		{"a rule is against it", allowed(func(l *approval.Leaf) { l.Ruled = true }), nil},
		{"not answered", asked("/opt/sdk/a"), nil},
		{"refused", allowed(func(l *approval.Leaf) { l.Approved = approval.No }), nil},
		{"with a comment", allowed(func(l *approval.Leaf) { l.ApprovalComment = approval.Written("once") }), nil},
		{"floor allowed", allowed(func(l *approval.Leaf) { l.PolicyResult = approval.Allow }), nil},
		{"blocked", allowed(func(l *approval.Leaf) { l.PolicyResult = approval.Block }), nil},
		{"not evaluated", allowed(func(l *approval.Leaf) { l.PolicyResult = approval.None }), nil},
		{"write", allowed(func(l *approval.Leaf) { l.Name = "Write" }), nil},
		{"bash", allowed(func(l *approval.Leaf) { l.Name = "Bash" }), nil},
		{"a path that cannot be told", allowed(func(l *approval.Leaf) { l.Paths = append(l.Paths, "") }), nil},
		{"a path that was not prepared", allowed(func(l *approval.Leaf) { l.Paths = append(l.Paths, "/a/../b") }), nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			session := home
			session.ReadAllowlist = []string{"/listed/x"}
			if diff := cmp.Diff(row.want, approval.MayRemember(row.leaf, session)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			var opened []approval.Path
			for _, o := range approval.Opens(row.leaf, session) {
				opened = append(opened, o.Path)
				if o.Below != (o.Path != "/tmp") {
					t.Errorf("%s opens what is under it: %v", o.Path, o.Below)
				}
			}
			if diff := cmp.Diff(row.want, opened); row.leaf.Approved == approval.Yes && !row.leaf.ApprovalComment.Written && diff != "" {
				t.Errorf("said to open (-want +got)\n%s", diff)
			}
		})
	}
}

// segment draws from a few names so that paths meet, fences among them.
func anyPath(t *rapid.T, label string) string {
	segments := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "home", "Users", "u", "tmp", "work", "app", "mnt", "c", "Volumes", "data", "people"}), 0, 5).Draw(t, label)
	return "/" + strings.Join(segments, "/")
}

// TestFences holds for every path: what is offered is the parent, one level
// up, and never one of the folders law §10 and ruling 8 name.
func TestFences(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		session := approval.Session{Workspace: anyPath(t, "workspace"), Home: anyPath(t, "home")}
		p := approval.Path(anyPath(t, "path"))
		parent, ok := approval.FileReadParent(p, session)
		if !ok {
			return
		}
		text := string(parent)
		if path.Dir(string(p)) != text {
			t.Fatalf("%s offers %s, which is not its parent", p, parent)
		}
		segments := strings.Split(text, "/")[1:]
		switch {
		case text == "." || text == "/" || len(segments) < 2:
			t.Fatalf("%s offers %s, which is too short", p, parent)
		case len(segments) == 2 && slices.Contains([]string{"home", "Users", "Volumes"}, segments[0]):
			t.Fatalf("%s offers the home or volume %s", p, parent)
		}
		for _, kept := range []string{session.Workspace, session.Home} {
			if kept == text || strings.HasPrefix(kept, text+"/") {
				t.Fatalf("%s offers %s, which holds %s", p, parent, kept)
			}
		}
	})
}

// TestOneAllowOpensNoFence plays a session: whatever reads a person allows,
// no key opens anything beside the paths that were shown and what lies under
// them, and nothing under a fence.
func TestOneAllowOpensNoFence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		session := approval.Session{Workspace: "/home/u/work", Home: "/data/people/u"}
		var shown []string
		for range rapid.IntRange(1, 5).Draw(t, "reads") {
			p := anyPath(t, "shown")
			leaf := asked(approval.Path(p))
			leaf.Approved = approval.Yes
			for _, key := range approval.MayRemember(leaf, session) {
				session.ReadAllowlist = append(session.ReadAllowlist, string(key))
			}
			shown = append(shown, p)
		}
		other := anyPath(t, "other")
		if !approval.Allowlisted(asked(approval.Path(other)), session) {
			return
		}
		for _, p := range shown {
			if other == p {
				return
			}
			_, wide := approval.FileReadParent(approval.Path(p+"/x"), session)
			if wide && strings.HasPrefix(other, p+"/") {
				return
			}
		}
		t.Fatalf("%s is allowlisted after %v (keys %v)", other, shown, session.ReadAllowlist)
	})
}
