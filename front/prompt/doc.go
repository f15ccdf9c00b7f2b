// Package prompt is what a person does who is asked: it shows one card after the
// other, takes keys, and says what is to be read and written. It is a machine:
// things that happen go in with their time, and what is to be done comes out. It
// reads no terminal, no clock and no socket.
//
// It never answers by accident. A key counts only after the input has been quiet
// for a moment since its card came, once the end of the card was seen, and where
// nothing else comes with it: what is pasted, or typed ahead for something else,
// answers nothing. What a person typed is kept until it is sent.
//
// Start reading at [Machine.Step].
package prompt
