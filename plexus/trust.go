package plexus

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Nobody but the store writes to a document that is open: it holds the lock.
// So what a reader finds at the end of the document must be a head the store
// put there itself, and what was found when it was opened must be a chain.
// Until that is known for all of it, nothing is licensed and nothing that was
// found is told; once it is known not to be so, nothing is written any more.
//
// Five things are looked at:
//   - every transaction looks whether the file that was opened still lies at its
//     path (held.go);
//   - every reading transaction looks whether the head is one of the store's;
//   - every writing transaction looks whether somebody else has committed
//     since the last one, and then reads the chain and the rules anew;
//   - opening has the whole chain read, beside whatever else goes on. Only a
//     file that is still the one that was sealed (seal.go) is relied on before,
//     as long as nobody touches it;
//   - what is read again for a decision is compared with what is known of it
//     (known.go).
type trust struct {
	sealed *fileState // the file that is relied on until it was read; nil where it is not

	opened  head          // where the document ended when it was opened
	checked chan struct{} // closed when what was found then is known to be right, or wrong
	read    chan struct{} // closed when it was read whole
	damaged chan struct{} // closed when it is wrong

	mu     sync.Mutex
	damage error  // a *Damage, or why it cannot be told; it stays
	good   head   // the last that was committed
	heads  []head // put there by the store, the newest last
}

// headsMost is how many commits may pass while a reader begins.
const headsMost = 1024

func newTrust(opened head) *trust {
	return &trust{opened: opened, good: opened, heads: []head{opened},
		checked: make(chan struct{}), read: make(chan struct{}), damaged: make(chan struct{})}
}

// expect says that the store is about to put its head there.
func (t *trust) expect(h head) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.heads) >= 2*headsMost {
		t.heads = append(t.heads[:0], t.heads[len(t.heads)-headsMost:]...)
	}
	t.heads = append(t.heads, h)
}

// committed says that it is there.
func (t *trust) committed(h head) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.good = h
}

// ours reports whether the store put this head there.
func (t *trust) ours(rev Rev, hash Hash) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := len(t.heads) - 1; i >= 0; i-- {
		if t.heads[i].rev == rev && t.heads[i].hash == hash {
			return true
		}
	}
	return false
}

// last is the head up to which the document is the store's.
func (t *trust) last() head {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.good
}

// err is why the document cannot be relied on.
func (t *trust) err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.damage
}

// lose says that it cannot. The first reason stays.
func (t *trust) lose(why error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.damage == nil {
		t.damage = why
		close(t.damaged)
	}
	return t.damage
}

// Trusted waits until the document as it was found is known to be a chain
// without damage, and says what is wrong with it otherwise. Licenses, bodies and
// readers of what was found wait for that by themselves.
func (s *Store) Trusted(ctx context.Context) error {
	known := s.trust.checked
	if s.touched() {
		known = s.trust.read
	}
	select {
	case <-known:
		return s.trust.err()
	default:
	}
	select {
	case <-known:
		return s.trust.err()
	case <-ctx.Done():
		return ctx.Err()
	case <-s.closing:
		return ErrClosed
	}
}

// touched reports whether a sealed file is not any more what it was, and not read
// whole yet. Until then the store itself writes to its log alone (checkpoints).
func (s *Store) touched() bool {
	if s.trust.sealed == nil {
		return false
	}
	select {
	case <-s.trust.read:
		return false
	default:
	}
	now, ok := stateOfOpen(s.held.file)
	return !ok || now != *s.trust.sealed
}

// checkFound reads all that was there when the document was opened. A sealed
// one is relied on meanwhile.
func (s *Store) checkFound(ctx context.Context) {
	defer close(s.trust.read)
	if s.trust.sealed == nil {
		defer close(s.trust.checked)
	}
	found := newKnown(head{})
	found.key = s.known.key
	last, err := s.verify(ctx, nil, func(v view, end head) (head, error) { return s.learnAll(ctx, v, end, found) })
	if err == nil {
		last, err = s.catchUp(ctx, found, last)
	}
	if err == nil {
		err = s.between(func() error { return s.adopt(ctx, found, last) })
	}
	switch {
	case err == nil:
		s.stored.foundAll()
	case ctx.Err() == nil && !errors.Is(err, ErrClosed):
		s.trust.lose(distrust(err))
	}
}

// catchUp reads what was written since.
func (s *Store) catchUp(ctx context.Context, found *known, last head) (head, error) {
	err := s.view(ctx, func(v view) (err error) {
		if last, err = v.follow(last, nil, found.learn); err == nil && (last.rev != v.rev || last.hash != v.hash) {
			err = &Damage{Rev: last.rev, What: otherHead}
		}
		return err
	})
	return last, err
}

// adopt takes over what was found, while nothing is written. From here on the
// store knows what it reads.
func (s *Store) adopt(ctx context.Context, found *known, last head) error {
	last, err := s.catchUp(ctx, found, last)
	if err != nil {
		return err
	}
	if last != s.trust.last() {
		return &Damage{Rev: last.rev, What: otherHead}
	}
	s.known.adopt(found)
	return s.conn.checkpoints(true)
}

// whole follows all rows.
func whole(v view, _ head) (head, error) { return v.follow(head{}, nil, nil) }

// unread is why a document is not relied on of which nothing bad is known: it could
// not be read. What is not relied on is treated as one that was tampered with, and is
// not called that.
type unread struct{ why error }

func (u *unread) Error() string   { return "the document could not be read: " + u.why.Error() }
func (u *unread) Unwrap() []error { return []error{ErrTampered, u.why} }

// distrust is an error as the reason why a document is not relied on.
func distrust(err error) error {
	if errors.Is(err, ErrTampered) {
		return err
	}
	if errors.Is(err, ErrMemory) {
		return &unread{err}
	}
	return fmt.Errorf("%w: it cannot be read whole: %w", ErrTampered, err)
}

// distrusted is an error of reading: damage stays.
func (s *Store) distrusted(err error) error {
	if errors.Is(err, ErrTampered) {
		return s.trust.lose(err)
	}
	return err
}

// foreign is the damage of a document that ends with rows which are not the
// store's.
func (v view) foreign(good head) error {
	last, err := v.follow(good, nil, nil)
	switch {
	case err != nil:
		return distrust(err)
	case last.rev > good.rev:
		return &Damage{Rev: good.rev + 1, What: "it was written past the kernel, while that was running"}
	}
	return &Damage{Rev: good.rev, What: otherHead}
}

// others looks whether somebody else has committed to the file since the last
// time; if so all of the document is looked at, while nobody can write to it.
// What only moved its pages about has changed nothing.
func (s *Store) others() error {
	if err := s.still(); err != nil {
		return err
	}
	c := s.conn
	version, err := c.otherCommits()
	if err != nil || version == c.version {
		return err
	}
	ctx := context.Background()
	if err := compareSchema(ctx, c.conn); err != nil {
		if errors.Is(err, ErrSchema) {
			err = s.trust.lose(&Damage{Rev: s.trust.last().rev, What: err.Error()})
		}
		return err
	}
	if _, err := s.verify(ctx, nil, whole); err != nil {
		return err
	}
	c.version = version
	return nil
}
