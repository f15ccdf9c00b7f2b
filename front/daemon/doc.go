// Package daemon is the life of the kernel as a process: it finds its place,
// takes the lock, opens the document, the settings, the policies and the
// kernel, serves a socket until it is told to end, and closes all of it in the
// opposite order.
//
// What goes wrong before anybody is served ends the start with an error and
// leaves nothing behind. What goes wrong later is logged and published as
// presence, and never loosens anything: a config.json that is broken leaves
// the last good settings in force.
//
// It decides nothing and has no way to answer a call. Who is connected is told
// by package peer, what is asked by package api.
//
// Start reading at [Run].
package daemon
