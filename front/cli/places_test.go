package cli

import (
	"testing"

	"assent/front/reach"
)

func TestHomeFolder(t *testing.T) {
	known := func() string { return "/home/of/database" }
	none := func() string { return "" }
	for _, test := range []struct {
		name, env string
		current   func() string
		want      string
	}{
		{"environment", "/home/me/", known, "/home/me"},
		{"unset", "", known, "/home/of/database"},
		{"relative", "me", known, "/home/of/database"},
		{"user without a home", "", none, ""},
	} {
		if got := reach.Home(test.env, test.current); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}
