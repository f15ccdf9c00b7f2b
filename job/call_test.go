package job

import (
	"errors"
	"strings"
	"testing"
)

func TestWhatArgumentsAreNot(t *testing.T) {
	for text, want := range map[string]string{"[]": "a list", ` "x"`: "a text", "1": "a number", "true": "true"} {
		err := CheckArguments([]byte(text))
		if !errors.Is(err, ErrArguments) || !strings.Contains(err.Error(), "no object but "+want+":") {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
