// Package scheme runs small programs that nobody has to trust: the ask
// program of the classifier and the programs of an agent (law §9).
//
// The language is R7RS-small without libraries of one's own, complex numbers
// and anything outside the program: proper tail calls, closures, first-class
// continuations, dynamic-wind, conditions, records, syntax-rules, strings,
// characters, vectors, bytevectors, exact integers without bound, rationals
// and floats. What a program may do besides computing are the procedures its
// host defines ([Machine.Define]); there is no file, clock, network or
// randomness of its own.
//
// A program cannot take more than its [Limits]: every step, every nested call
// and every byte that can still be reached is counted, and passing a limit
// ends the program; it can neither catch that nor clean up after it. A
// cancelled context ends it in the same way.
//
// Start reading at [Machine.Run]; the machine is in machine.go, what it runs
// is made in compile.go, macros are in macro.go.
package scheme
