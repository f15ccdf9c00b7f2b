// Package remainder is the classifier of mode auto: what the floor left open
// and no grant answers, a program decides with the help of a model (law §9).
//
// A [Program] is Scheme, run in a sandbox. It votes by itself, or it makes of a
// question what a model is asked; the host asks ([Ask]), reads the answer strictly
// ([Read]), gives more evidence where that is wanted, and withholds an allow that
// is too uncertain for what is at stake. Whatever goes wrong is a failed attempt
// and never a vote.
//
// Text that the user did not write cannot pass for the user's: it stands in the
// prompt as JSON on one line, between marks that it cannot hold (prompt.go).
//
// A model is reached through the port [Model] and nothing else: there is no other
// I/O here, no clock and no randomness. The schedule of attempts is
// [approval.RetryAfter].
//
// Start reading at [Ask].
package remainder
