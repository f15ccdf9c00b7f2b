// Package offspring starts programs and sees to it that nothing of them is left.
//
// A [Child] leads a session of its own, so that it has no terminal of whoever started
// the kernel, and carries a mark of its own in its environment. When it ends, or its
// context does, everything that it started is ended with it: what is in its session,
// what descends from it, what carries its mark, and, in a process that adopts orphans
// ([Adopt]), what has left all three and therefore lies with the kernel. That is looked
// for until nothing is found, and what could not be ended is told ([Left]).
//
// A [Book] has what runs written down, so that the life after a kernel that was killed
// ends what that one left.
//
// Only Linux tells enough of processes. Elsewhere the process group of a child ends
// with it, and what left that is not found.
package offspring
