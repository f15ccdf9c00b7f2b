// Package imports makes a policy of the permission rules that a client has.
//
// What is allowed by the policy is never more than what the client allowed for
// the same call: what cannot be said as narrowly is left out, and so asked
// about, and everything that is left out, dead or narrower is listed. A client's
// deny becomes a block: the client asks nobody about it either.
//
// Texts go in, a text comes out; [Find] alone reads files. Start reading at
// [Read].
package imports
