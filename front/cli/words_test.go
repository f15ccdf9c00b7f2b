package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Every flag that takes a value, and that a person is told of, says what, in a word of its own and not as
// "string".
func TestFlagsSayWhatTheyTake(t *testing.T) {
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Value.Type() != "bool" && !f.Hidden && strings.Count(f.Usage, "`") != 2 {
				t.Errorf("%s --%s: %q names no value in backquotes", cmd.CommandPath(), f.Name, f.Usage)
			}
		})
		for _, c := range cmd.Commands() {
			visit(c)
		}
	}
	visit(newRoot())
}
