// Package card is what a person sees of a call who is asked about it: the whole
// call, what it would do and by which rule each part of that was judged, what
// the scanner and the classifier say, who asks and from where.
//
// A card shows everything that there is of a call, and nothing of the call
// reaches a terminal as it came: what steers a terminal, is not seen, turns the
// direction of text or looks like another character stands there as a mark that
// says so. What a call says stands behind a line at the left, so that it cannot
// look like what the card says.
//
// It reads nothing and has no clock. Start reading at [Of] and [Card.Lines].
package card
