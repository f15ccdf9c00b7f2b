//go:build linux || darwin

package plexus

import (
	"math"
	"path/filepath"
	"syscall"
)

// Free is how many bytes are free, for others than root, on the disk that holds
// the document; known is false where the system does not tell.
func (s *Store) Free() (bytes int64, known bool) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(filepath.Dir(s.path), &fs); err != nil || fs.Bsize <= 0 {
		return 0, false
	}
	each := uint64(fs.Bsize)
	return int64(min(fs.Bavail, math.MaxInt64/each) * each), true
}
