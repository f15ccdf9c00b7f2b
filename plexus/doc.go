// Package plexus is the shared document: sessions, their jobs, the fields of
// jobs and the registers of sessions, durable and seen by everybody.
//
// A field is written once. A register has revisions that are only appended,
// and the latest holds. Every row has its place in one order of commits, says
// who wrote it and when, and carries a hash over itself and the row before
// ([Store.Verify]). There is no call that approves anything: a person's answer
// is a field like any other (law §2).
//
// What may be written, and by whom, is the engine's rule and not this
// program's: schema/sqlite.sql has the triggers, and a refusal comes back as
// one of the errors of this package. The document does not know who is
// connected; the identity in a [Writer] is what its caller established. The
// package decides no license and never writes an answer for a person.
//
// Beyond the law's votes the engine has these rules of its own:
//
//   - orchestrationResult names the view it was decided on (Tx.Seen) and is
//     refused with [ErrStale] when a person or a register spoke since.
//   - A true needs policyResult allow, ask or deny and no standing refusal, a
//     false needs approved false, a block, or the classifier's deny;
//     communication of the host (law ruling 1) is only ever true.
//   - outcomeJson comes with completed, in one [Tx] and before it, on a leaf
//     that was orchestrated or cancelled. Nothing of the host follows.
//   - What the floor explains comes in one Tx with policyResult and after it.
//   - An agent mints leaves of kind "" (foreign calls) and nothing else.
//   - A sequence has no votes; a closed one takes no more children.
//   - The mode of an unattended session is written once, by the host.
//
// Start reading at [Store.Apply]; [Store.Watch] is its counterpart.
package plexus
