// Package remainder is the classifier of mode auto: what the floor left open
// and no grant answers, a program decides with the help of a model (law §9).
//
// It reaches a model through the port [Model] and nothing else: there is no
// other I/O here, no clock and no randomness.
package remainder
