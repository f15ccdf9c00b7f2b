package cli

import (
	"context"
	"fmt"
	"os"

	"assent/floor"
	"assent/front/api/wire"
	"assent/front/daemon"
	"assent/front/reach"
	"assent/internal/place"
	"assent/scan"
)

// scanner is the scanner of commands as the kernel has it: whether it was found
// once is read from where the kernel writes it.
func scanner() *scan.Scanner {
	found := ""
	if at, err := findKernel(); err == nil && !at.Shared {
		found = at.ScannerFile()
	}
	return &scan.Scanner{Tirith: scan.Machine(os.Getenv, reach.Home(os.Getenv("HOME"), homeOfUser), found), Found: found}
}

// scannerUnasked is the status of the scanner without a kernel that tells it.
func scannerUnasked(ctx context.Context, policy string) *wire.Scanner {
	var l layers
	l.floor.Operator = l.load(policy, floor.Operator, func(string, ...any) {})
	l.floor.Managed = l.load(place.ManagedPolicy, floor.Managed, func(string, ...any) {})
	w := daemon.WireScanner(scanner().Status(ctx, l.floor.Setting()))
	return &w
}

// scannerLine is the status of the scanner in a line.
func scannerLine(s *wire.Scanner) string {
	version := ""
	if s.Version != "" {
		version = "tirith " + s.Version + ", "
	}
	switch s.State {
	case "ready":
		what := "its daemon answers"
		if s.By == "process" {
			what = "a process for each command (\"tirith daemon start --detach\" is far faster)"
		}
		return version + what
	case "absent":
		return "none is installed; commands are judged without one"
	case "off":
		return "off, by the policy"
	}
	return fmt.Sprintf("every command is refused: %s", s.Why)
}
