package senses

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMounts(t *testing.T) {
	const list = `22 28 0:21 / /proc rw,nosuid - proc proc rw
28 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
101 28 8:17 / /mnt/back\040up rw shared:40 - ext4 /dev/sdb1 rw
102 28 0:50 / /srv/odd\134name\011x/ rw - nfs4 server:/share rw
103 28 0:51 / relative rw - tmpfs tmpfs rw
104 28

105 28 0:52 / /mnt/cut`
	want := []string{"/proc", "/mnt/back up", "/srv/odd\\name\tx"}
	if diff := cmp.Diff(want, mounts([]byte(list))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A home or a workspace that is a link is a fence where it really is.
func TestFencesOfLinks(t *testing.T) {
	root := world(t, map[string]string{"home": "->disk/home", "disk/home/f": "x", "w/f": "x", "gone": "->nowhere"})
	at := func(name string) string { return filepath.Join(root, name) }
	var fences []string
	for _, f := range Fences(at("home"), at("w"), at("gone"), "", "relative") {
		if rel, err := filepath.Rel(root, f); err == nil && filepath.IsLocal(rel) {
			fences = append(fences, rel)
		}
	}
	if want := []string{"disk/home"}; !slices.Equal(fences, want) {
		t.Errorf("got %v, want %v", fences, want)
	}
}
