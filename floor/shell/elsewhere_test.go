package shell_test

import (
	"fmt"
	"os"
	"testing"

	"assent/floor/commands"
	"assent/floor/shell/oracle"
)

// elsewhere are the shells besides bash that may read a text. They are not
// everywhere: a test without one says so.
var elsewhere = []string{"zsh", "dash"}

// by runs a test for each shell besides bash that is here.
func by(t *testing.T, test func(t *testing.T, sh string)) {
	for _, sh := range elsewhere {
		t.Run(sh, func(t *testing.T) {
			bash.once.Do(bash.open)
			if bash.err == nil && !bash.kit.Has(sh) {
				t.Skipf("%s is not installed: what it makes of texts is not checked", sh)
			}
			test(t, sh)
		})
	}
}

// TestOtherShells runs the scripts of testdata/elsewhere by the shells that are
// not bash. Whichever shell a client has, what happens must have been told.
func TestOtherShells(t *testing.T) {
	scripts, err := oracle.Scripts("testdata/elsewhere")
	if err != nil {
		t.Fatal(err)
	}
	know := commands.Default()
	by(t, func(t *testing.T, sh string) {
		var c tally
		t.Run("scripts", func(t *testing.T) {
			for i, s := range scripts {
				if testing.Short() && i%10 > 0 {
					continue
				}
				t.Run(s.Name, func(t *testing.T) {
					t.Parallel()
					w := bash.world(t)
					checkTold(t, w, know, sh, w.Expand(s.Text), &c)
				})
			}
		})
		c.check(t, 80)
	})
}

// TestComposedElsewhere is TestComposed for the other shells, a few scripts each:
// ORACLE_SEEDS asks for more.
func TestComposedElsewhere(t *testing.T) {
	know := commands.Default()
	first, n := seeds(t)
	if os.Getenv("ORACLE_SEEDS") == "" {
		n = min(n, 40)
	}
	by(t, func(t *testing.T, sh string) {
		var c tally
		t.Run("scripts", func(t *testing.T) {
			for seed := first; seed < first+n; seed++ {
				t.Run(fmt.Sprint("seed-", seed), func(t *testing.T) {
					t.Parallel()
					w := bash.world(t)
					checkTold(t, w, know, sh, w.Expand(compose(seed, sh)), &c)
				})
			}
		})
		c.check(t, 70)
	})
}
