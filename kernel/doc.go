// Package kernel is the heart of the daemon: it runs the machines of all
// sessions over the shared document (law §7).
//
// Calls are admitted ([Kernel.Admit]), judged by the floor, licensed, run and
// settled, and each step is a row of the document before the next begins. The
// kernel decides nothing: what is written and what runs, the package session
// says; what a license is, the package approval; who may write what, the
// document itself. It never writes an answer for a person, and it keeps nothing
// that the document does not hold: after a crash, [Open] finds what is
// unsettled and goes on (law ruling 3).
//
// One [owner] works for a session that has anything to do. It is a list of
// things that happened and a goroutine that lives while the list is not empty:
// a session that waits for a person costs no goroutine, and one with nothing
// unsettled costs nothing.
//
// A leaf whose body this process has is run here. Any other is external: its
// client runs it, once the license is in the document, and reports the outcome
// ([Kernel.Begin], [Kernel.Report]); the kernel writes it.
//
// Doubt is never an allow: a floor that panics or does not end is a block
// (law ruling 7), a document that cannot be written refuses calls, a policy
// that cannot be read leaves what it denied in force.
//
// Start reading at [Open], then owner.go.
package kernel
