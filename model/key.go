package model

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/zalando/go-keyring"
	"golang.org/x/sync/singleflight"
)

// Keys are where keys come from.
type Keys struct {
	// Env looks up a variable, as [os.LookupEnv].
	Env func(name string) (string, bool)
	// Ring looks up a name in the key ring; one that is not there is
	// [ErrNoKey]. With nil there is no key ring.
	Ring func(name string) (string, error)
}

// ErrNoKey: the key ring has none of that name.
var ErrNoKey = errors.New("the key ring has no such key")

// service is what our keys are called in a key ring.
const service = "assent"

// Ring looks up a key in the key ring of the system: the Secret Service, the
// keychain of macOS, the credentials of Windows. It may ask the person to unlock
// it, and wait for that.
func Ring(name string) (string, error) {
	key, err := keyring.Get(service, name)
	if errors.Is(err, keyring.ErrNotFound) {
		return "", ErrNoKey
	}
	return key, err
}

// Keep puts a key into the key ring of the system.
func Keep(name, key string) error { return keyring.Set(service, name, key) }

// Forget takes a key out of the key ring of the system; one that is not there is
// [ErrNoKey].
func Forget(name string) error {
	err := keyring.Delete(service, name)
	if errors.Is(err, keyring.ErrNotFound) {
		return ErrNoKey
	}
	return err
}

// key is the key of a connection, "" for one that needs none. An error never has
// a part of it.
func (c *Connections) key(ctx context.Context, one *connected) (string, error) {
	own := one.URL == ""
	switch {
	case one.KeyEnv != "":
		return c.env(one.KeyEnv)
	case one.KeyRing != "":
		return c.ring(ctx, one.KeyRing)
	case !own:
		return "", nil
	}
	variable := defaults[one.API].env
	if key, err := c.env(variable); err == nil {
		return key, nil
	}
	key, err := c.ring(ctx, one.name)
	if errors.Is(err, ErrNoKey) || errors.Is(err, errNoRing) {
		return "", fmt.Errorf(`no key: the key ring has none under %q ("assent model key %[1]s" puts one there), and the kernel has no variable %s: %s`, one.name, variable, unkept)
	}
	return key, err
}

// unkept is why a variable that is set somewhere is not there.
const unkept = `it has what was set where a person started it ("assent down", then "assent up --detach"), and nothing where a command or a hook did`

func (c *Connections) env(name string) (string, error) {
	if c.keys.Env != nil {
		if key, ok := c.keys.Env(name); ok && strings.TrimSpace(key) != "" {
			return whole(strings.TrimSpace(key), "the variable "+name)
		}
	}
	return "", fmt.Errorf("the kernel has no variable %s: %s", name, unkept)
}

var errNoRing = errors.New("there is no key ring here")

// asking lets many who need the same key ask the ring once.
var asking singleflight.Group

func (c *Connections) ring(ctx context.Context, name string) (string, error) {
	if c.keys.Ring == nil {
		return "", errNoRing
	}
	found := asking.DoChan(fmt.Sprintf("%p %s", c, name), func() (any, error) { return c.keys.Ring(name) })
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case got := <-found:
		if errors.Is(got.Err, ErrNoKey) {
			return "", fmt.Errorf("%w: %q", ErrNoKey, name)
		}
		if got.Err != nil {
			return "", fmt.Errorf("%w: %v", errNoRing, got.Err)
		}
		return whole(got.Val.(string), "the key ring")
	}
}

// whole refuses what cannot stand in a header.
func whole(key, from string) (string, error) {
	for _, r := range key {
		if r <= ' ' || r > '~' {
			return "", fmt.Errorf("what %s has is no key: it has blanks or signs that no key has", from)
		}
	}
	if key == "" {
		return "", fmt.Errorf("what %s has is empty", from)
	}
	return key, nil
}
