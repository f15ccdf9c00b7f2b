// Package gateway stands between a client and a server of MCP tools. The client
// starts it in the server's place; it passes on what they say to each other, and
// holds each call of a tool until the kernel has licensed it.
//
// It decides nothing. A call goes on as the kernel kept it: the very bytes that
// were judged. Whatever goes wrong (no kernel, a message that can be read in two
// ways, a method that is not known, a time that is over) is answered to the client
// and reaches no server. Answering the client's own question of a person decides
// nothing either: it only tells them that a call waits.
//
// Start reading at [Run]; call.go has the way of a call.
package gateway
