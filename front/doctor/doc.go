// Package doctor says whether assent really stands in front of a client: it looks
// at the client's own configuration, and drives the hook that stands there as the
// client would, with calls that must be refused, with nobody who answers, with a
// hook that dies and a kernel that cannot be reached. What a client makes of what
// its hook did is told by what was seen of the clients (effect.go).
//
// The cases have a kernel of their own in a scratch folder, which the hook itself
// starts: nothing waits in the person's queue, no call of them is run, and the
// terminal of whoever asks is not taken for an agent's.
//
// It changes nothing, and decides nothing about a call. Start reading at [Examine].
package doctor
