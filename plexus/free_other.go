//go:build !linux && !darwin

package plexus

// Free is not told by the system here.
func (s *Store) Free() (bytes int64, known bool) { return 0, false }
