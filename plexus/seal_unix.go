//go:build unix

package plexus

import "golang.org/x/sys/unix"

// stateOf is what the system says of a regular file.
func stateOf(path string) (fileState, bool) {
	var st unix.Stat_t
	if unix.Lstat(path, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return fileState{}, false
	}
	return fileState{
		Device: uint64(st.Dev), Inode: uint64(st.Ino), Size: int64(st.Size),
		Written: st.Mtim.Nano(), Changed: st.Ctim.Nano(),
	}, true
}
