// Package approval is the law: given the votes on a tool call and a view of
// its session it says whether the call may run, must not run or waits, and
// whether a person is asked meanwhile.
//
// Everything here is a function of values. The package does no I/O, keeps no
// state, starts nothing, and never writes an answer for a person. Sections
// named in comments ("law §4", "law ruling 8") are those of the law of
// approval. The zero value of every type is the safe answer: not evaluated,
// nobody answered, manual, wait.
//
// Start reading at [LicenseDecision]; the words it uses are [AutoRemainder],
// [AutoAllowSkip], [Granted] and [Allowlisted], and [NeedsHuman] is its
// counterpart for the prompt.
package approval
