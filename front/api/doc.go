// Package api serves the shared document over HTTP on a unix socket.
//
// There is no call that approves anything. A person writes a field of the
// document, the kernel sees it like any other, and everybody who watches sees
// it too:
//
//	PUT /v1/sessions/S/jobs/J/approved    true
//
// Who may write what is the rule of the document's engine; this package says
// who writes. That it gets from [Options.Role], for each connection and never
// from what a request claims: without a role everything is refused, and what
// is a person's to see and to do is refused to an agent before it is read. An
// agent admits calls, reads the receipts of its own, and reports on them.
//
// Requests are taken strictly. One that a web page could have sent is refused
// (an Origin, a Sec-Fetch header, a Host that is not ours), and so are query
// parameters nobody knows, JSON with a member that is unknown, doubled, null or
// of another type, and bodies of more than what belongs there. An answer that
// something went wrong is application/problem+json and says where.
//
// A person who watches looks, which others are told for as long as it is so
// (looking.go). An agent never does.
//
// It decides nothing and keeps nothing. The forms of what goes over the socket
// are those of package wire, written down for others in openapi.yaml, which is
// served and which tests hold against what the server does.
//
// Start reading at [New], then routes.go.
package api
