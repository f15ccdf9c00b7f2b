// Package scan has the scanner of this machine look at the commands of a call
// before the floor judges it (law §11), and knows whether there is one: where
// none was ever found none takes part, and one that was found once must run
// (law ruling 16).
//
// What the scanner says becomes data of the call; what follows from it is the
// floor's work. Package tirith knows how the scanner is asked.
//
// Start reading at [Scanner.Add].
package scan
