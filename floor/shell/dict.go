package shell

import (
	"iter"
	"math/bits"
)

// dict is a table by name that is never changed: put and del make another one, which
// shares with it all but the way to that name. A text may have thousands of variables
// and take a course of its own at each of them; with tables that are copied the
// work would grow with the square of the text.
//
// It is a treap in the order of the names whose priorities are sums of the
// names: the same names always make the same tree, so that two tables are
// compared by what they do not share. The zero value is the empty table.
type dict[V entry[V]] struct{ root *node[V] }

// entry is what a table may hold. The sum of equal values is equal.
type entry[V any] interface {
	equal(V) bool
	sum() uint64
}

type node[V entry[V]] struct {
	name        string
	value       V
	priority    uint64
	all         uint64 // sum of everything here and below
	left, right *node[V]
}

// sumOf is a sum of a text (FNV-1a).
func sumOf(text string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	return h
}

// mixed spreads a sum over all its bits.
func mixed(h uint64) uint64 {
	h ^= h >> 32
	h *= 0xd6e8feb86659fd93
	return h ^ h>>32
}

func newNode[V entry[V]](name string, v V, priority uint64, left, right *node[V]) *node[V] {
	n := &node[V]{name: name, value: v, priority: priority, left: left, right: right}
	n.all = mixed(priority ^ bits.RotateLeft64(v.sum(), 17))
	if left != nil {
		n.all += left.all
	}
	if right != nil {
		n.all += right.all
	}
	return n
}

// with is the node with other tables below it.
func (n *node[V]) with(left, right *node[V]) *node[V] {
	if left == n.left && right == n.right {
		return n
	}
	c := *n
	if n.left != nil {
		c.all -= n.left.all
	}
	if n.right != nil {
		c.all -= n.right.all
	}
	if left != nil {
		c.all += left.all
	}
	if right != nil {
		c.all += right.all
	}
	c.left, c.right = left, right
	return &c
}

// above reports whether a node stands above one of another name.
func (n *node[V]) above(o *node[V]) bool {
	return n.priority > o.priority || n.priority == o.priority && n.name > o.name
}

func (d dict[V]) get(name string) (v V, has bool) {
	for n := d.root; n != nil; {
		switch {
		case name < n.name:
			n = n.left
		case name > n.name:
			n = n.right
		default:
			return n.value, true
		}
	}
	return v, false
}

// at is get without whether it is there.
func (d dict[V]) at(name string) V {
	v, _ := d.get(name)
	return v
}

func (d dict[V]) has(name string) bool {
	_, has := d.get(name)
	return has
}

func (d dict[V]) put(name string, v V) dict[V] {
	return dict[V]{d.root.put(newNode(name, v, mixed(sumOf(name)), nil, nil))}
}

func (n *node[V]) put(one *node[V]) *node[V] {
	switch {
	case n == nil:
		return one
	case n.name == one.name:
		return newNode(one.name, one.value, one.priority, n.left, n.right)
	case one.above(n):
		left, right := n.split(one.name)
		return one.with(left, right)
	case one.name < n.name:
		return n.with(n.left.put(one), n.right)
	}
	return n.with(n.left, n.right.put(one))
}

// split takes a tree apart at a name that is not in it.
func (n *node[V]) split(name string) (left, right *node[V]) {
	if n == nil {
		return nil, nil
	}
	if name < n.name {
		left, right = n.left.split(name)
		return left, n.with(right, n.right)
	}
	left, right = n.right.split(name)
	return n.with(n.left, left), right
}

// melded joins two trees of which the names of one are all before those of the other.
func melded[V entry[V]](a, b *node[V]) *node[V] {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case a.above(b):
		return a.with(a.left, melded(a.right, b))
	}
	return b.with(melded(a, b.left), b.right)
}

func (d dict[V]) del(name string) dict[V] {
	if !d.has(name) {
		return d
	}
	return dict[V]{d.root.del(name)}
}

func (n *node[V]) del(name string) *node[V] {
	switch {
	case name < n.name:
		return n.with(n.left.del(name), n.right)
	case name > n.name:
		return n.with(n.left, n.right.del(name))
	}
	return melded(n.left, n.right)
}

// all are the entries in the order of their names.
func (d dict[V]) all() iter.Seq2[string, V] {
	return func(yield func(string, V) bool) { d.root.each(yield) }
}

func (n *node[V]) each(yield func(string, V) bool) bool {
	return n == nil || n.left.each(yield) && yield(n.name, n.value) && n.right.each(yield)
}

// equal reports whether two tables hold the same.
func (d dict[V]) equal(o dict[V]) bool { return d.root.equal(o.root) }

func (n *node[V]) equal(o *node[V]) bool {
	if n == o {
		return true
	}
	return n != nil && o != nil && n.all == o.all && n.name == o.name && n.value.equal(o.value) && n.left.equal(o.left) && n.right.equal(o.right)
}

// pair is what two tables hold of a name.
type pair[V any] struct {
	a, b     V
	inA, inB bool
}

// differing are the names of which two tables do not hold the same, in order. What
// they share is not looked at.
func (d dict[V]) differing(o dict[V]) iter.Seq2[string, pair[V]] {
	return func(yield func(string, pair[V]) bool) { d.root.differing(o.root, yield) }
}

func (n *node[V]) differing(o *node[V], yield func(string, pair[V]) bool) bool {
	switch {
	case n == o:
		return true
	case n != nil && o != nil && n.name == o.name:
		return n.left.differing(o.left, yield) &&
			(n.value.equal(o.value) || yield(n.name, pair[V]{n.value, o.value, true, true})) &&
			n.right.differing(o.right, yield)
	case o == nil || n != nil && n.above(o):
		left, right := o.split(n.name)
		return n.left.differing(left, yield) && yield(n.name, pair[V]{a: n.value, inA: true}) && n.right.differing(right, yield)
	}
	left, right := n.split(o.name)
	return left.differing(o.left, yield) && yield(o.name, pair[V]{b: o.value, inB: true}) && right.differing(o.right, yield)
}

// filter is the table of what keep returns for each entry and says to keep.
func (d dict[V]) filter(keep func(string, V) (V, bool)) dict[V] { return dict[V]{d.root.filter(keep)} }

func (n *node[V]) filter(keep func(string, V) (V, bool)) *node[V] {
	if n == nil {
		return nil
	}
	left, right := n.left.filter(keep), n.right.filter(keep)
	switch v, kept := keep(n.name, n.value); {
	case !kept:
		return melded(left, right)
	case v.equal(n.value):
		return n.with(left, right)
	default:
		return newNode(n.name, v, n.priority, left, right)
	}
}
