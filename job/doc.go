// Package job is what a leaf is made of beside its votes: its kind, the body
// that runs it, and a guard of its own.
//
// A [Registry] says which body runs a call. [Registry.RegisterExecutor] takes
// two functions and never one (law §7): the guard, which is heard before the
// law decides, and the body, which runs after orchestrationResult is true in
// the document and not before. A kind without a body in this process is
// external: whoever made the call runs it, and tells how it ended.
//
// A [Starter] runs bodies and never waits for one. It starts nothing by
// itself: what it runs was asked for by package session, which has seen the
// license committed. The package writes nothing into a document and knows of
// no policy; that a guard returns true allows nothing.
//
// Start reading at [Registry.RegisterExecutor]; the package example is a whole
// program with a tool of its own.
package job
