// Package wire is the form of the document on the socket: the values that the
// server of package api writes and its client reads, version 1.
//
// Names are those of the law: what a leaf has is called as law §2 calls it, and
// a field that nobody has written is null. It decides nothing and knows neither
// the kernel nor the database, so that a small program can speak it too.
//
// Start reading at [Leaf] and [Problem].
package wire

// Version is in the first segment of every path: "/v1/...". It changes when a
// client of the version before would misread what it gets.
const Version = "v1"

// Host is what a request must name in its Host header: the socket belongs to
// one program, and whoever reached it by the name of something else was sent.
const Host = "assent"

// RoleHeader of a request says "agent" when it is an agent's, whatever its
// process looks like. Nothing else can be claimed.
const RoleHeader = "Assent-Role"

// The media types of bodies.
const (
	JSON        = "application/json"
	ProblemJSON = "application/problem+json"
	JSONLines   = "application/x-ndjson"
	EventStream = "text/event-stream"
)
