package api_test

import (
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"assent/front/api"
	"assent/front/api/client"
	"assent/front/api/wire"
	"assent/plexus"
)

// A token is told once, holds until it is revoked, also over a restart, and is
// nowhere in the document.
func TestTokens(t *testing.T) {
	w := newWorld(t, api.Options{})
	made, err := w.client.Pair(t.Context(), "phone")
	if err != nil || made.Name != "phone" || made.By != "human:ada" || len(made.Secret) < 40 {
		t.Fatalf("paired: %+v, %v", made, err)
	}
	other, err := w.client.Pair(t.Context(), "editor")
	if err != nil || other.Secret == made.Secret {
		t.Fatalf("another: %+v, %v", other, err)
	}
	holds := func(secret, want string) {
		t.Helper()
		tokens, err := api.OpenTokens(t.Context(), w.doc)
		if err != nil {
			t.Fatal(err)
		}
		if name, ok := tokens.Holds(secret); name != want || ok != (want != "") {
			t.Errorf("%s: got %q, want %q", secret, name, want)
		}
	}
	holds(made.Secret, "phone")
	holds(other.Secret, "editor")
	for _, wrong := range []string{"", "assent-", made.Secret[:len(made.Secret)-1], made.Secret + "A", strings.ToLower(made.Secret)} {
		holds(wrong, "")
	}
	list, err := w.client.Tokens(t.Context())
	if err != nil || len(list.Tokens) != 2 || list.Tokens[0] != made.Token {
		t.Errorf("list: %+v, %v", list, err)
	}
	if _, err := w.client.Revoke(t.Context(), "phone"); err != nil {
		t.Fatal(err)
	}
	holds(made.Secret, "")
	holds(other.Secret, "editor")
	if _, err := w.client.Revoke(t.Context(), "phone"); !errors.Is(err, wire.NoName) {
		t.Errorf("revoked again: %v", err)
	}
	rows, err := w.doc.Since(t.Context(), 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if r, ok := row.(plexus.Register); ok && strings.Contains(r.Value, strings.TrimPrefix(made.Secret, "assent-")) {
			t.Errorf("the document has a token: %s", r.Value)
		}
	}
}

// Who makes tokens: a person, and nobody who has but a token.
func TestWhoPairs(t *testing.T) {
	var secret atomic.Value
	secret.Store("")
	w := newWorld(t, api.Options{Role: func(conn net.Conn) api.Caller {
		return func(claim api.Claim) (plexus.Writer, error) {
			if claim.Token == secret.Load() {
				return ada, nil
			}
			return role(conn)(claim)
		}
	}})
	if _, err := w.agent.Pair(t.Context(), "mine"); !errors.Is(err, wire.Role) {
		t.Errorf("an agent: %v", err)
	}
	if _, err := w.agent.Tokens(t.Context()); !errors.Is(err, wire.Role) {
		t.Errorf("an agent lists: %v", err)
	}
	for _, name := range []string{"", "a b", "ä", "a\nb", strings.Repeat("x", 41), "a/b"} {
		if _, err := w.client.Pair(t.Context(), name); !errors.Is(err, wire.Value) {
			t.Errorf("%q: %v", name, err)
		}
	}
	made, err := w.client.Pair(t.Context(), "phone")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.client.Pair(t.Context(), "phone"); !errors.Is(err, wire.Written) {
		t.Errorf("of the same name: %v", err)
	}
	secret.Store(made.Secret)
	phone := client.New(w.socket, client.Options{Token: made.Secret})
	defer phone.Close()
	if _, err := phone.Status(t.Context()); err != nil {
		t.Errorf("by a token: %v", err)
	}
	if _, err := phone.Pair(t.Context(), "more"); !errors.Is(err, wire.Role) {
		t.Errorf("a token pairs: %v", err)
	}
	if _, err := phone.Revoke(t.Context(), "phone"); !errors.Is(err, wire.Role) {
		t.Errorf("a token revokes: %v", err)
	}
}

// What the register holds and nobody can read keeps a server from starting.
func TestTokensNobodyReads(t *testing.T) {
	w := newWorld(t, api.Options{})
	_, err := w.doc.Apply(t.Context(), plexus.Tx{Writer: plexus.Writer{Role: plexus.Host, Name: "kernel"},
		Writes: []plexus.Row{plexus.Register{Name: plexus.HostRegister("tokens"), Value: `{}`}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := api.OpenTokens(t.Context(), w.doc); err == nil {
		t.Error("it was taken for none")
	}
}
