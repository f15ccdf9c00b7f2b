// Package agent goes through the turns of agents: it asks the model, has the kernel make
// the calls, and waits for them. What is to be done next, package turn says.
//
// An agent has no way around the law. Its calls are leaves like any others, minted
// by the host (law §8): the floor judges them, people and the classifier answer, and the
// kernel runs their bodies. Nothing in here reads a vote or writes one.
//
// What goes through a turn may end at any moment and begins anew in the next life of
// the kernel. Start reading at [Agent.Run], which is registered as what goes through
// the sequences called [turn.Name].
package agent
