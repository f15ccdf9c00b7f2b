// Package tirith asks Tirith, a scanner of shell commands that is installed
// beside assent, what it says to a command (law §11).
//
// It asks the scanner's daemon on its unix socket first, and a process of the
// scanner where the daemon does not answer as it should. Both are asked
// offline, and nothing is asked of the network. What comes back is read
// strictly: an answer that is late, cut, too long, contradicts itself or is
// none is an error, never a silent "nothing found". Before either is believed
// for the first time it must refuse a command that is known to be bad; another
// version might read the question as something else, and allow anything.
//
// It decides nothing: which findings block a call is the floor's work. It never
// uses a shell, never starts a daemon, and sends no command to a socket of
// another user.
//
// Start reading at [Tirith.Scan].
package tirith
