// Package peer says who is at the other end of a unix socket, and which role
// that gives.
//
// An agent usually runs as the same user as the person it works for, so the
// user id proves nothing. [Of] reads what the system knows about the process
// that connected: its user, its ancestors with the time each was started, its
// terminal session, its control group, marks it inherited in its environment.
// [RoleOf] is a function of those facts and of the agents that are [Known]: a
// connection that descends from a body or from an agent has the agent role
// whatever it presents; what shows no trace of an agent has the human role if
// it stands in a terminal session of its own or holds a paired token; all else,
// every doubt included, is an agent. The host is the kernel itself and no
// connection ever has its role.
//
// # What it cannot stop
//
// These facts make it hard to be taken for a person by accident, or by a simple
// trick. They are no wall between two processes of one user, because the system
// has none there. A process that wants to get away can
//
//   - ask a service that is older than it to start something: the user's
//     service manager, cron, at, a container daemon, a login over the network to
//     its own machine. What is started descends from that service, with a
//     clean environment, a control group of its own and, if it likes, a terminal;
//   - leave its parents (a double fork), its session, its group and its
//     environment at once, where the agent was not started by the kernel and has
//     no control group of its own, and then open a pseudo-terminal;
//   - type into a person's terminal through a multiplexer or a debugger, load
//     code into a person's programs, or change the files a person's shell reads
//     when it starts.
//
// Against bodies the second one fails: the kernel adopts its orphans
// ([AdoptOrphans]), so they never stop descending from it. Known.OwnLogin closes
// it for agents of other programs where the system keeps a login session's
// number (the audit session), at the price that a person has to log in apart
// from the agent. Whoever needs more than that runs the kernel as another user
// and answers with a token from a machine the agent is not on.
//
// Facts are of the moment they were read. Ask again before a human write: the
// list of agents may have grown, and the process may have lost its terminal.
//
// On systems other than Linux nothing is known but the user, so everybody is an
// agent.
//
// Start reading at [RoleOf].
package peer
