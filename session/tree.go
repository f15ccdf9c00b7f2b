package session

import (
	"cmp"
	"slices"
)

// node is a job that is not settled, or a sequence. Leaves that are settled
// leave the tree.
type node struct {
	id     JobID
	parent *node // nil for the session itself
	depth  int
	ord    int64
	n      int64 // the order in which rows came
	kind   Kind

	children []*node
	at       int // its place among its parent's children
	open     int // unsettled leaves under it

	cancelled bool   // of a sequence
	outcome   bool   // of a sequence: it has one
	completed bool   // of a sequence
	cancel    bool   // of a sequence: somebody asked, and it is not written
	canceller string // who asked first to cancel it, in this life
	leaf      *leaf

	save    SaveID // the outstanding one
	rest    rest   // why it does not save
	restRev Rev
	touched bool
}

// rest is why a node waits before it saves.
type rest uint8

const (
	ready   rest = iota
	newer        // until rows newer than restRev were seen
	turn         // until another register is written
	retries      // until Retry
)

func (n *node) attach(parent *node) {
	n.parent, n.depth = parent, parent.depth+1
	n.at = len(parent.children)
	parent.children = append(parent.children, n)
	if n.leaf != nil {
		n.count(1)
	}
}

// detach takes a settled leaf out. Its parent forgets it; it still knows its
// parent, for its place in an order.
func (n *node) detach() {
	siblings := n.parent.children
	last := siblings[len(siblings)-1]
	siblings[n.at], last.at = last, n.at
	siblings[len(siblings)-1] = nil
	n.parent.children = siblings[:len(siblings)-1]
	if n.leaf != nil {
		n.count(-1)
	}
}

func (n *node) count(d int) {
	for p := n.parent; p != nil; p = p.parent {
		p.open += d
	}
}

// under reports whether n is top or lies under it.
func (n *node) under(top *node) bool {
	for n.depth > top.depth {
		n = n.parent
	}
	return n == top
}

// overCancelled reports whether a sequence above is cancelled; n then has the same
// canceller.
func (n *node) overCancelled() bool {
	for p := n.parent; p != nil; p = p.parent {
		if p.cancelled || p.cancel {
			n.canceller = p.canceller
			return true
		}
	}
	return false
}

// walk visits n and all under it, in no order.
func (n *node) walk(visit func(*node)) {
	visit(n)
	for _, child := range n.children {
		child.walk(visit)
	}
}

// before is the tree order: a sequence stands before what it holds.
func before(a, b *node) int {
	x, y := a, b
	for x.depth > y.depth {
		x = x.parent
	}
	for y.depth > x.depth {
		y = y.parent
	}
	if x == y {
		return cmp.Compare(a.depth, b.depth)
	}
	for x.parent != y.parent {
		x, y = x.parent, y.parent
	}
	if c := cmp.Compare(x.ord, y.ord); c != 0 {
		return c
	}
	return cmp.Compare(x.n, y.n)
}

// queue holds nodes in tree order.
type queue []*node

func (q *queue) add(n *node) {
	i, found := slices.BinarySearchFunc(*q, n, before)
	if !found {
		*q = slices.Insert(*q, i, n)
	}
}

func (q *queue) remove(n *node) {
	if i, found := slices.BinarySearchFunc(*q, n, before); found {
		*q = slices.Delete(*q, i, i+1)
	}
}
