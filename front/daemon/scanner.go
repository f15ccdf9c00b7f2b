package daemon

import (
	"cmp"
	"context"
	"os"

	"assent/front/api/wire"
	"assent/kernel"
	"assent/scan"
	"assent/tirith"
)

// scannerOf is the scanner that the kernel asks, and remembers when it was found.
func scannerOf(o Options) *scan.Scanner {
	t := o.scanner
	if t == nil {
		t = scan.Machine(os.Getenv, cmp.Or(o.Home, os.Getenv("HOME")), o.Place.ScannerFile())
	}
	return &scan.Scanner{Tirith: t, Found: o.Place.ScannerFile(), Keep: true}
}

// scannerStatus is how the scanner is, by the policies of the machine: those of
// a workspace can require it besides.
func scannerStatus(ctx context.Context, s *scan.Scanner, policies *kernel.Files) wire.Scanner {
	layers := policies.Layers("")
	return WireScanner(s.Status(ctx, layers.Floor.Setting()))
}

// WireScanner is the status of a scanner as it is told.
func WireScanner(st scan.Status) wire.Scanner {
	w := wire.Scanner{
		Setting: st.Setting.String(), State: st.State.String(),
		Version: st.Version, Program: st.Program, Socket: st.Socket, Why: st.Why,
	}
	if st.By != tirith.ByNobody {
		w.By = st.By.String()
	}
	return w
}
