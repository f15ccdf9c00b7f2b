// Package turn says how the turn of an agent goes on: which model is asked what, which
// of its calls become jobs, and in which order. It does none of it.
//
// A turn goes in rounds. In each the model is asked, its calls become leaves of the
// turn (law §8), those that do not depend on each other at once, and what became of
// them stands in the question of the next round, in the order of the calls. A turn ends
// with a round that has no calls.
//
// Everything that a turn is stands in the document: the turn and its leaves are jobs,
// what a model said is a [Round], a register of the host's that is written once,
// with all that it was told beside the results. A [State] is made of committed
// rows alone, so a turn that a crash interrupted goes on from those. No call is
// made twice: its id follows from its turn, its round and its place, and the document
// takes each id once. A completion that nobody wrote down is asked for again.
//
// Whether a call may run is none of its business: that a turn plans ([Settings]) takes
// tools from the model and is no part of any license (law §5).
//
// Start reading at [State.Next].
package turn
