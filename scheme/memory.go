package scheme

import (
	"fmt"
	"math/big"
)

// tracer counts what can be reached. It keeps its own stack and marks what it
// was at with the number of the count.
type tracer struct {
	m    *Machine
	size int64
	todo []any
	bigs map[any]bool
}

func (t *tracer) live() int64 {
	m := t.m
	m.epoch++
	t.size = m.fixed
	for _, c := range m.globals {
		t.value(c.value)
	}
	t.value(m.val)
	t.values(m.stack)
	t.scope(m.env)
	t.kont(m.k)
	t.handlers(m.hs)
	t.winds(m.winds)
	t.bindings(m.ps)
	return t.count()
}

// count counts all that was found and what can be reached from it.
func (t *tracer) count() int64 {
	for len(t.todo) > 0 {
		at := t.todo[len(t.todo)-1]
		t.todo = t.todo[:len(t.todo)-1]
		t.inside(at)
	}
	return t.size
}

// fresh marks an object and tells whether it was not marked before.
func (t *tracer) fresh(mark *uint32, size int) bool {
	if *mark == t.m.epoch {
		return false
	}
	*mark = t.m.epoch
	t.size += int64(size)
	return true
}

func (t *tracer) values(vs []Value) {
	for _, v := range vs {
		t.value(v)
	}
}

func (t *tracer) value(v Value) {
	switch x := v.(type) {
	case nil, bool, int64, Char, *Symbol, *primitive, empty, unspecified:
	case float64:
		t.size += 8
	case *Pair:
		if t.fresh(&x.mark, sizePair) {
			t.todo = append(t.todo, x)
		}
	case *String:
		t.fresh(&x.mark, sizeObject+4*cap(x.runes))
	case *Bytes:
		t.fresh(&x.mark, sizeObject+cap(x.b))
	case *Vector:
		if t.fresh(&x.mark, sizeObject+sizeValue*len(x.items)) {
			t.todo = append(t.todo, x)
		}
	case *big.Int, *big.Rat:
		// Long ones once; a short one that is shared is counted too often.
		n := 8 * words(x)
		if n > 1024 {
			if t.bigs[x] {
				return
			}
			if t.bigs == nil {
				t.bigs = make(map[any]bool)
			}
			t.bigs[x] = true
		}
		t.size += int64(sizeObject + n)
	case *closure:
		if t.fresh(&x.mark, sizeClosure) {
			t.todo = append(t.todo, x)
		}
	case *choice:
		if t.fresh(&x.mark, sizeObject) {
			for _, c := range x.all {
				t.value(c)
			}
		}
	case *continuation:
		if t.fresh(&x.mark, sizeObject) {
			t.todo = append(t.todo, x)
		}
	case *parameter:
		if t.fresh(&x.mark, sizeObject) {
			t.todo = append(t.todo, x)
		}
	case *promise:
		if t.fresh(&x.mark, sizeObject) {
			t.todo = append(t.todo, x)
		}
	case *record:
		if t.fresh(&x.mark, sizeObject+sizeValue*len(x.fields)) {
			t.todo = append(t.todo, x)
		}
	case *recordType:
		t.fresh(&x.mark, sizeObject+8*len(x.fields))
	case *multiple:
		if t.fresh(&x.mark, sizeObject+sizeValue*len(x.items)) {
			t.todo = append(t.todo, x)
		}
	case *Condition:
		if t.fresh(&x.mark, sizeObject+len(x.Message)+sizeValue*len(x.Irritants)) {
			t.todo = append(t.todo, x)
		}
	case *port:
		t.fresh(&x.mark, sizeObject+4*cap(x.runes)+cap(x.bytes))
	case *ident:
		if t.fresh(&x.mark, 48) {
			t.value(x.name)
		}
	}
}

func (t *tracer) scope(s *scope) {
	if s != nil && t.fresh(&s.mark, sizeScope+sizeValue*len(s.vars)) {
		t.todo = append(t.todo, s)
	}
}

func (t *tracer) kont(k *kont) {
	if k != nil && t.fresh(&k.mark, sizeKont+sizeValue*len(k.vals)) {
		t.todo = append(t.todo, k)
	}
}

func (t *tracer) handlers(h *handlers) {
	for ; h != nil && t.fresh(&h.mark, sizeObject); h = h.up {
		t.value(h.proc)
	}
}

func (t *tracer) winds(w *wind) {
	for ; w != nil && t.fresh(&w.mark, 2*sizeObject); w = w.up {
		t.value(w.before)
		t.value(w.after)
		t.handlers(w.hs)
		t.bindings(w.ps)
	}
}

func (t *tracer) bindings(b *bindings) {
	for ; b != nil && t.fresh(&b.mark, sizeObject); b = b.up {
		t.value(b.p)
		t.value(b.value)
	}
}

func (t *tracer) code(l *lambda) {
	if l == nil || !t.fresh(&l.mark, sizeObject+sizeNode*l.nodes) {
		return
	}
	t.values(l.consts)
	for _, in := range l.inner {
		t.todo = append(t.todo, in)
	}
}

// inside counts what an object that was counted holds.
func (t *tracer) inside(at any) {
	switch x := at.(type) {
	case *Pair:
		t.value(x.Car)
		t.value(x.Cdr)
	case *Vector:
		t.values(x.items)
	case *closure:
		t.scope(x.env)
		t.code(x.lambda)
	case *continuation:
		t.kont(x.k)
		t.winds(x.winds)
		t.handlers(x.hs)
		t.bindings(x.ps)
	case *parameter:
		t.value(x.value)
		t.value(x.converter)
	case *promise:
		if t.fresh(&x.box.mark, 32) {
			t.value(x.box.value)
		}
	case *record:
		t.values(x.fields)
		t.value(x.of)
	case *multiple:
		t.values(x.items)
	case *Condition:
		t.values(x.Irritants)
	case *scope:
		t.values(x.vars)
		t.scope(x.up)
		t.code(x.of)
	case *lambda:
		t.code(x)
	case *kont:
		t.values(x.vals)
		t.scope(x.env)
		t.kont(x.next)
		switch op := x.op.(type) {
		case *restoreHandlers:
			t.handlers(op.hs)
		case *restoreBindings:
			t.bindings(op.ps)
		case inWind:
			t.winds(op.w)
		case outOfWind:
			t.winds(op.w)
		case *rewinding:
			t.value(op.to)
			t.value(op.v)
		case entered:
			t.winds(op.w)
			t.value(op.r.to)
			t.value(op.r.v)
		}
	default:
		panic(fmt.Sprintf("scheme: %T is not counted", at))
	}
}
