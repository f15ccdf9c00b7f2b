package toolkit

import "errors"

// What a server may send. More is an error of that server: its connection ends,
// and what it sent is not kept.
const (
	maxMessage = 4 << 20 // bytes of one message; the same that the protocol's library takes as a server
	maxAsked   = 64      // requests of a server that have no answer yet, and requests to it under way over HTTP
)

// What a server may list. A server that lists more is not used: the tools that
// were left out could have the names of others.
const (
	maxPages  = 100
	maxTools  = 1000
	maxListed = 8 << 20 // bytes of all names, descriptions and schemas
)

// What one tool may say of itself. One that says more is left out.
const (
	maxToolName    = 128       // bytes; what the protocol recommends
	maxDescription = 16 << 10  // bytes
	maxSchema      = 256 << 10 // bytes, as JSON
)

var (
	errTooLong = errors.New("a message of the server has more than 4 MiB")
	errAsks    = errors.New("the server asks more at once than it is answered")
)

// toolName reports whether a name is one that the protocol recommends: then
// people read it as it is, and no other name looks the same.
func toolName(name string) bool {
	if name == "" || len(name) > maxToolName {
		return false
	}
	for _, c := range []byte(name) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-', c == '.', c == '/':
		default:
			return false
		}
	}
	return true
}
