package api

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"assent/front/api/wire"
	"assent/plexus"
)

// Tokens are the paired ones: what a person's client presents that no terminal
// speaks for. The document has their hashes, and who paired them when; a token
// itself is told once and kept nowhere. Methods may be called at once.
type Tokens struct {
	document *plexus.Store
	now      func() time.Time

	mu   sync.Mutex
	list []paired
}

// paired is a token as the document has it.
type paired struct {
	wire.Token
	Hash string `json:"hash"` // SHA-256, in hex; a token is long and random enough for that
}

// tokensRegister is the register of the kernel that has them.
var tokensRegister = plexus.HostRegister("tokens")

// OpenTokens are those of a document. What the register holds and cannot be
// read is an error: nobody knows then which were revoked.
func OpenTokens(ctx context.Context, document *plexus.Store) (*Tokens, error) {
	t := &Tokens{document: document, now: time.Now}
	latest, err := document.Latest(ctx, "")
	if err != nil && !errors.Is(err, plexus.ErrTampered) { // then none holds
		return nil, fmt.Errorf("paired tokens: %w", err)
	}
	if r, ok := latest[tokensRegister]; ok {
		if err := json.Unmarshal([]byte(r.Value), &t.list); err != nil {
			return nil, fmt.Errorf("paired tokens: %w", err)
		}
	}
	return t, nil
}

// Holds says whether a token is paired, and under which name. That waits until
// the document is known to be whole; none holds of one that is not.
func (t *Tokens) Holds(token string) (name string, ok bool) {
	if t.document.Trusted(context.Background()) != nil {
		return "", false
	}
	hash := []byte(hashOf(token))
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.list {
		if subtle.ConstantTimeCompare(hash, []byte(p.Hash)) == 1 {
			name, ok = p.Name, true
		}
	}
	return name, ok
}

func hashOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// tokensMost is how many there may be.
const tokensMost = 64

// Pair makes a token.
func (t *Tokens) Pair(ctx context.Context, name string, by plexus.Writer) (wire.NewToken, error) {
	if !tokenName(name) {
		return wire.NewToken{}, at("/name", problem(wire.Value, "the name of a client has letters, digits, dots and dashes, 40 at most"))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case slices.ContainsFunc(t.list, func(p paired) bool { return p.Name == name }):
		return wire.NewToken{}, at("/name", problem(wire.Written, "there is a token of that name; revoke it, or take another name"))
	case len(t.list) >= tokensMost:
		return wire.NewToken{}, problem(wire.TooMany, "%d tokens are the most; revoke one", tokensMost)
	}
	made := wire.NewToken{Token: wire.Token{Name: name, By: by.String(), At: t.now().UTC()}, Secret: "assent-" + rand.Text() + rand.Text()}
	if err := t.keep(ctx, append(slices.Clone(t.list), paired{made.Token, hashOf(made.Secret)})); err != nil {
		return wire.NewToken{}, err
	}
	return made, nil
}

func tokenName(name string) bool {
	return name != "" && len(name) <= 40 && !strings.ContainsFunc(name, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("._-", r))
	})
}

// List are the tokens that hold.
func (t *Tokens) List() []wire.Token {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := make([]wire.Token, len(t.list))
	for i, p := range t.list {
		list[i] = p.Token
	}
	return list
}

// Revoke takes a token back: the next request that presents it is refused.
func (t *Tokens) Revoke(ctx context.Context, name string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	left := slices.DeleteFunc(slices.Clone(t.list), func(p paired) bool { return p.Name == name })
	if len(left) == len(t.list) {
		return problem(wire.NoName, "there is no token %q", cut(name))
	}
	return t.keep(ctx, left)
}

// keep writes the tokens down. It needs mu.
func (t *Tokens) keep(ctx context.Context, list []paired) error {
	host := plexus.Writer{Role: plexus.Host, Name: "kernel"}
	_, err := t.document.Apply(ctx, plexus.Tx{Writer: host, Writes: []plexus.Row{plexus.Register{Name: tokensRegister, Value: plexus.Value(list)}}})
	if err == nil {
		t.list = list
	}
	return err
}

// pairing is refused where there are no tokens, and to a token: whoever has one
// does not make itself more, nor take others away.
func (s *Server) pairing(c *call) error {
	claim, p := claimOf(c.r)
	switch {
	case p != nil:
		return p
	case s.opts.Tokens == nil:
		return problem(wire.NotFound, "no tokens are paired here")
	}
	if _, paired := s.opts.Tokens.Holds(claim.Token); paired {
		return problem(wire.Role, "a token pairs and revokes none: do it from a terminal of your own")
	}
	return nil
}

func getTokens(s *Server, c *call) error {
	if s.opts.Tokens == nil {
		return problem(wire.NotFound, "no tokens are paired here")
	}
	c.answer = wire.Tokens{Tokens: s.opts.Tokens.List()}
	return nil
}

func postToken(s *Server, c *call) error {
	var in wire.Pair
	if err := c.in(&in); err != nil {
		return err
	}
	if err := s.pairing(c); err != nil {
		return err
	}
	made, err := s.opts.Tokens.Pair(c, in.Name, c.by)
	c.answer = made
	return err
}

func deleteToken(s *Server, c *call) error {
	if err := s.pairing(c); err != nil {
		return err
	}
	if err := s.opts.Tokens.Revoke(c, c.r.PathValue("name")); err != nil {
		return err
	}
	return s.wrote(c)
}
