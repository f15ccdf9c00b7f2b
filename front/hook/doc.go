// Package hook is what stands between a client's agent and the tool it is about
// to call: the program that the client starts before each call, and after it.
// It hands the call to the kernel, waits for the license, and answers as that
// client understands it; a client's dialect is one file.
//
// It decides nothing. Whatever goes wrong (no kernel, a payload that cannot be
// read, a panic, a time that is over) it refuses, in the form that was seen to
// stop the tool: nothing on standard output, the reason on standard error, exit
// code 2. Standard output is written once, whole, and last.
//
// Start reading at [Run].
package hook
