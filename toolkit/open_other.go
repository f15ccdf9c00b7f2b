//go:build !unix

package toolkit

const nonblock = 0
