// Package model asks language models: Anthropic's messages, and chat completions
// of OpenAI and of servers that speak the same, such as a local one. Both go
// through the official libraries.
//
// A connection goes where the settings say and nowhere else: no variable of the
// environment moves it, no redirection is followed, and a proxy is one that the
// settings name. Whoever starts a kernel has a say in its environment, and the
// classifier's model has one in what is allowed. A key comes from a variable or
// from the key ring of the system when it is needed; it is in no error and in no
// log.
//
// [Connections.Connect] gives a model that answers once, for the classifier;
// [Connections.Chat] one that is given tools and says what it says as a stream, for
// turns.
//
// Nothing is tried again here (law §9 has its own schedule), an answer has a bound
// in bytes, and one that is not what its API says is an error, never an empty text.
package model
