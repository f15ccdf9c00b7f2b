package api

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"assent/approval"
	"assent/front/api/wire"
	"assent/job"
	"assent/kernel"
	"assent/plexus"
)

var person = plexus.Writer{Role: plexus.Human, Name: "ada"}

func TestStatusOfErrors(t *testing.T) {
	tests := []struct {
		err    error
		status int
		code   wire.Code
	}{
		{kernel.ErrTooLarge, 413, wire.TooLarge},
		{kernel.ErrPlace, 422, wire.Place},
		{kernel.ErrBounds, 403, wire.Bounds},
		{kernel.ErrOther, 403, wire.Other},
		{kernel.ErrQuota, 429, wire.Quota},
		{kernel.ErrTooMany, 429, wire.Quota},
		{kernel.ErrReserve, 507, wire.Full},
		{kernel.ErrBegun, 409, wire.Begun},
		{kernel.ErrNotExternal, 409, wire.NotYours},
		{kernel.ErrNotLicensed, 409, wire.Unlicensed},
		{kernel.ErrClosed, 503, wire.Closed},
		{job.ErrArguments, 422, wire.Value},
		{approval.ErrCatalog, 422, wire.Mode},
		{approval.ErrAdmission, 422, wire.Mode},
		{plexus.ErrRole, 403, wire.Role},
		{plexus.ErrNoSession, 404, wire.NoSession},
		{plexus.ErrNoJob, 404, wire.NoJob},
		{plexus.ErrName, 404, wire.NoName},
		{plexus.ErrValue, 422, wire.Value},
		{plexus.ErrEmpty, 422, wire.Value},
		{plexus.ErrGeometry, 422, wire.Geometry},
		{plexus.ErrApart, 422, wire.Apart},
		{plexus.ErrWritten, 409, wire.Written},
		{plexus.ErrCompleted, 409, wire.Completed},
		{plexus.ErrCancelled, 409, wire.Cancelled},
		{plexus.ErrFloorFirst, 409, wire.FloorFirst},
		{plexus.ErrBlocked, 409, wire.Blocked},
		{plexus.ErrStale, 409, wire.Stale},
		{plexus.ErrAdmitted, 409, wire.Admitted},
		{plexus.ErrUnlicensed, 409, wire.Unlicensed},
		{plexus.ErrUndecided, 409, wire.Undecided},
		{plexus.ErrFull, 507, wire.Full},
		{plexus.ErrReadOnly, 503, wire.ReadOnly},
		{plexus.ErrDisk, 503, wire.Disk},
		{&plexus.Damage{Rev: 7, What: "the row is missing"}, 503, wire.Damaged},
		{plexus.ErrBusy, 503, wire.Busy},
		{plexus.ErrMemory, 503, wire.Busy},
		{plexus.ErrClosed, 503, wire.Closed},
		{context.Canceled, 503, wire.Closed},
		{context.DeadlineExceeded, 408, wire.Timeout},
		{plexus.ErrImmutable, 500, wire.Internal},
		{plexus.ErrOrder, 500, wire.Internal},
		{errors.New("something else"), 500, wire.Internal},
	}
	seen := make(map[error]bool)
	for _, test := range tests {
		seen[test.err] = true
		p := problemOf(fmt.Errorf("doing it: %w", test.err), person)
		if p.Status != test.status || p.Code != test.code || !errors.Is(p, test.code) || p.Detail == "" {
			t.Errorf("%v: got %d %s, want %d %s", test.err, p.Status, p.Code, test.status, test.code)
		}
	}
	for _, s := range sentinels {
		if !seen[s.err] {
			t.Errorf("%v is not in the table", s.err)
		}
	}
}

// What is wrong inside is not told to agents.
func TestInsidesAreAPersonsToKnow(t *testing.T) {
	err := errors.New("open /home/ada/secret: no such file")
	if p := problemOf(err, plexus.Writer{Role: plexus.Agent, Name: "hook"}); strings.Contains(p.Detail, "secret") {
		t.Errorf("an agent is told %q", p.Detail)
	}
	if p := problemOf(err, person); !strings.Contains(p.Detail, "secret") {
		t.Errorf("a person is told %q", p.Detail)
	}
}

// Every code has a status, and every status a code that wire declares.
func TestEveryCodeHasAStatus(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "wire/problem.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	declared := 0
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if id, ok := spec.Type.(*ast.Ident); !ok || id.Name != "Code" {
			return true
		}
		declared++
		code := wire.Code(strings.Trim(spec.Values[0].(*ast.BasicLit).Value, `"`))
		if statuses[code] < 400 {
			t.Errorf("%s has no status", code)
		}
		return true
	})
	if declared == 0 || declared != len(statuses) {
		t.Errorf("%d codes are declared, %d have a status", declared, len(statuses))
	}
}
