// Package session is the state machine of one session: which leaves want the
// floor, the classifier or a body, what the host writes, and when (law §7).
//
// It decides what a host does next, and does none of it. It has no clock, no
// goroutine and no I/O, never writes what a person writes, and holds no vote
// that the document does not hold: everything it remembers beside the
// document (an answer that is not saved yet, what runs) may be lost in a crash
// and comes again. What a license is, the package approval says.
//
// A host opens a [Machine] on the rows of a session ([Open]), hands it every
// [Event] and does what each [Ready] says:
//
//	SAVES MAY BE APPLIED IN ANY ORDER AND TOGETHER; EACH IS ONE TRANSACTION,
//	WRITTEN WHOLE OR NOT AT ALL, AND ANSWERED BY Saved OR Refused.
//
//	START RELIES ON COMMITTED ROWS ONLY. A BODY IS STARTED BY THE MACHINE AND BY
//	NOTHING ELSE, AFTER IT HAS SEEN orchestrationResult=true COMMITTED. SO
//	WHAT IS IN START MAY RUN AT ONCE, ALSO BEFORE THE SAVES BESIDE IT.
//
//	A SAVE WITH Seen MUST BE REFUSED AS STALE WHEN A PERSON'S FIELD OR cancelled
//	OF ITS JOB, OR A REGISTER OF THE SESSION OR OF THE KERNEL, IS NEWER THAN Seen:
//	A LICENSE IS NEVER STORED ON A VIEW THAT NO LONGER HOLDS.
//
//	A SAVE WITH Until MUST BE REFUSED AS ENDED WHEN IT IS NOT WRITTEN BEFORE THAT. A
//	HOST SAYS WHAT THE TIME IS (Time) BEFORE EVERY OTHER EVENT AND AT Ends.
//
//	WHAT WAS STOPPED MAY STILL ANSWER. A BODY THAT WAS STOPPED MUST: A LEAF IS NOT
//	SETTLED WHILE ITS BODY RUNS.
//
// There is at most one save outstanding for a leaf. A step that touches one
// leaf costs no more in a session of ten thousand, but for a binary search in
// the queue; a change of mode looks at every open leaf once.
//
// After a crash a machine opened on the rows asks for exactly what is missing
// (law §7, ruling 3): a licensed leaf gets its body again, and the body is told
// that it is resumed; a torn refusal gets its receipt; a cancelled leaf is
// settled; any other asks for its floor, its classifier or a person.
//
// Start reading at [Machine.Step], then decide.go: one function says what is
// written for a leaf, one what runs.
package session
