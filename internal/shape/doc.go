// Package shape holds the tests that guard the shape of the tree itself: which
// package may import which, and that what must be pure stays pure. It reads
// the sources, not the build's idea of them, so that a cached answer cannot
// hide a new arrow.
//
// Nothing imports it. Start reading at arrows_test.go.
package shape
