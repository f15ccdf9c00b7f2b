// Package config reads and edits config.json, what a person sets for the whole
// kernel (law §6).
//
// [Parse] reads a text strictly: a key nobody knows, a key twice, a value of
// the wrong type and anything after the end are errors that say where, and what
// was probably meant. Comments (// and /* */) and a comma after the last member
// are fine. [Set] changes one value of a text and leaves all else as it was
// written, comments included. [Open] looks after a file: what it holds is in
// force as soon as it is saved, and while it is broken the last good stays.
//
// The zero [Config] is the strictest there is: a person answers, nothing is
// granted, denials are covered. It is what holds without a file, and where
// nothing good is known.
//
// The package decides nothing by these values. Registers of a session (its
// standing policy, its overlays, its grants) are in the document and not here.
//
// Start reading at [Parse].
package config
