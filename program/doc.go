// Package program runs the programs of agents: texts in Scheme whose procedures are the
// tools of the host (law §8).
//
// A program is a sequence, a ProgrammaticJob of the name [Name], with its text in the
// arguments: {"expr": TEXT}. It is never approved, and has no effect: it computes in the
// sandbox of package scheme, within limits, and all else that it can do is to call a
// tool. Each call is a leaf in the sequence that is judged, answered, licensed and run
// like any other, and the program goes on when it is settled. A call that did not do
// what was asked, because it was refused, cancelled or failed, raises a condition.
//
// Programs are not kept half way. A restart runs one from its beginning; it computes the
// same, so it asks for the same calls in the same order, and each that was made before
// gives what became of it. Nothing is done twice.
//
// Start reading at [Register], then run.go.
package program
