package cli

import (
	"errors"
	"os/user"
	"testing"

	"assent/front/reach"
)

func TestHomeFolder(t *testing.T) {
	known := func() (*user.User, error) { return &user.User{HomeDir: "/home/of/database"}, nil }
	none := func() (*user.User, error) { return &user.User{}, nil }
	unknown := func() (*user.User, error) { return nil, errors.New("no such user") }
	for _, test := range []struct {
		name, env string
		current   func() (*user.User, error)
		want      string
	}{
		{"environment", "/home/me/", known, "/home/me"},
		{"unset", "", known, "/home/of/database"},
		{"relative", "me", known, "/home/of/database"},
		{"user without a home", "", none, ""},
		{"no such user", "", unknown, ""},
	} {
		if got := reach.Home(test.env, test.current); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}
