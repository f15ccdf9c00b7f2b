package gateway

import "errors"

const (
	// maxMessage is how many bytes a message may have; the same that the protocol's
	// library takes of a line. The kernel takes less of a call, and says so.
	maxMessage = 16 << 20
	// maxCalls is how many calls are held or run at a time: each has a connection to
	// the kernel, which gives an agent 128.
	maxCalls = 64
	// maxAsked is how many requests of either side have no answer at a time, calls
	// among them.
	maxAsked = 256
	// maxEnded is how many ids of cancelled requests are remembered: their server may
	// answer yet.
	maxEnded = 1024
	// maxOutcome is how much of a tool's answer the kernel is told, in bytes.
	maxOutcome = 64 << 10
	// maxToolName is what the protocol recommends, in bytes.
	maxToolName = 128
)

var errTooLong = errors.New("a message has more than 16 MiB")

// plainName reports whether a tool's name is one that a person reads as it is and
// takes for no other. The protocol recommends less, and its own examples have more.
func plainName(name string) bool {
	if name == "" || len(name) > maxToolName || name[0] == ' ' || name[len(name)-1] == ' ' {
		return false
	}
	for _, c := range []byte(name) {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}
