// Package connect puts assent's hook into the configuration of a client, and
// takes it out again: the text of a configuration goes in, a text comes out.
//
// It changes nothing but its own entries: comments, order and what others have
// written stay as they are, byte for byte. A text that it cannot read it refuses
// to change. It never decides anything about a call.
//
// Start reading at [Clients]; [Apply] is what writes files.
package connect
