package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"assent/approval"
	"assent/front/api/wire"
	"assent/job"
	"assent/kernel"
	"assent/plexus"
)

// statuses are the HTTP statuses of the codes.
var statuses = map[wire.Code]int{
	wire.BadRequest: http.StatusBadRequest,
	wire.BadJSON:    http.StatusBadRequest,
	wire.Browser:    http.StatusForbidden,
	wire.NotFound:   http.StatusNotFound,
	wire.Method:     http.StatusMethodNotAllowed,
	wire.MediaType:  http.StatusUnsupportedMediaType,
	wire.TooLarge:   http.StatusRequestEntityTooLarge,
	wire.TooMany:    http.StatusTooManyRequests,
	wire.Timeout:    http.StatusRequestTimeout,
	wire.Role:       http.StatusForbidden,
	wire.Other:      http.StatusForbidden,
	wire.Bounds:     http.StatusForbidden,
	wire.Quota:      http.StatusTooManyRequests,
	wire.NoSession:  http.StatusNotFound,
	wire.NoJob:      http.StatusNotFound,
	wire.NoName:     http.StatusNotFound,
	wire.Value:      http.StatusUnprocessableEntity,
	wire.Geometry:   http.StatusUnprocessableEntity,
	wire.Apart:      http.StatusUnprocessableEntity,
	wire.Place:      http.StatusUnprocessableEntity,
	wire.Mode:       http.StatusUnprocessableEntity,
	wire.Written:    http.StatusConflict,
	wire.Completed:  http.StatusConflict,
	wire.Cancelled:  http.StatusConflict,
	wire.FloorFirst: http.StatusConflict,
	wire.Blocked:    http.StatusConflict,
	wire.Stale:      http.StatusConflict,
	wire.Admitted:   http.StatusConflict,
	wire.Unlicensed: http.StatusConflict,
	wire.Undecided:  http.StatusConflict,
	wire.NotYours:   http.StatusConflict,
	wire.Begun:      http.StatusConflict,
	wire.Future:     http.StatusConflict,
	wire.Full:       http.StatusInsufficientStorage,
	wire.ReadOnly:   http.StatusServiceUnavailable,
	wire.Disk:       http.StatusServiceUnavailable,
	wire.Damaged:    http.StatusServiceUnavailable,
	wire.Busy:       http.StatusServiceUnavailable,
	wire.Closed:     http.StatusServiceUnavailable,
	wire.Internal:   http.StatusInternalServerError,
}

// sentinels are the errors of the document and the kernel as codes. The first
// that an error is counts.
var sentinels = []struct {
	err  error
	code wire.Code
}{
	{kernel.ErrTooLarge, wire.TooLarge},
	{kernel.ErrPlace, wire.Place},
	{kernel.ErrBounds, wire.Bounds},
	{kernel.ErrOther, wire.Other},
	{kernel.ErrQuota, wire.Quota},
	{kernel.ErrTooMany, wire.Quota},
	{kernel.ErrReserve, wire.Full},
	{kernel.ErrBegun, wire.Begun},
	{kernel.ErrNotExternal, wire.NotYours},
	{kernel.ErrNotLicensed, wire.Unlicensed},
	{kernel.ErrClosed, wire.Closed},
	{job.ErrArguments, wire.Value},
	{approval.ErrCatalog, wire.Mode},
	{approval.ErrAdmission, wire.Mode},
	{plexus.ErrRole, wire.Role},
	{plexus.ErrNoSession, wire.NoSession},
	{plexus.ErrNoJob, wire.NoJob},
	{plexus.ErrName, wire.NoName},
	{plexus.ErrValue, wire.Value},
	{plexus.ErrEmpty, wire.Value},
	{plexus.ErrGeometry, wire.Geometry},
	{plexus.ErrApart, wire.Apart},
	{plexus.ErrWritten, wire.Written},
	{plexus.ErrCompleted, wire.Completed},
	{plexus.ErrCancelled, wire.Cancelled},
	{plexus.ErrFloorFirst, wire.FloorFirst},
	{plexus.ErrBlocked, wire.Blocked},
	{plexus.ErrStale, wire.Stale},
	{plexus.ErrAdmitted, wire.Admitted},
	{plexus.ErrUnlicensed, wire.Unlicensed},
	{plexus.ErrUndecided, wire.Undecided},
	{plexus.ErrFull, wire.Full},
	{plexus.ErrReadOnly, wire.ReadOnly},
	{plexus.ErrDisk, wire.Disk},
	{plexus.ErrBusy, wire.Busy},
	{plexus.ErrMemory, wire.Busy},
	{plexus.ErrClosed, wire.Closed},
	{context.DeadlineExceeded, wire.Timeout},
}

// problem makes a problem of a code.
func problem(code wire.Code, format string, args ...any) *wire.Problem {
	status := statuses[code]
	return &wire.Problem{
		Type: "about:blank", Title: http.StatusText(status), Status: status, Code: code, Detail: fmt.Sprintf(format, args...),
	}
}

// problemOf is what is told about an error. What is wrong inside is a
// person's to know.
func problemOf(err error, by plexus.Writer) *wire.Problem {
	if p, ok := errors.AsType[*wire.Problem](err); ok {
		return p
	}
	if errors.Is(err, plexus.ErrTampered) {
		if by.Role == plexus.Human {
			return problem(wire.Damaged, "%s", kernel.Fault(err))
		}
		if errors.Is(err, plexus.ErrMemory) {
			return problem(wire.Damaged, "the kernel had not enough memory to read its document: nothing is allowed until a person has looked (assent status)")
		}
		return problem(wire.Damaged, "the kernel's document is damaged: nothing is allowed until a person has looked (assent status)")
	}
	if errors.Is(err, context.Canceled) { // of the server: who asked is gone otherwise
		return problem(wire.Closed, "the kernel ends")
	}
	for _, s := range sentinels {
		if errors.Is(err, s.err) {
			return problem(s.code, "%v", err)
		}
	}
	if by.Role != plexus.Human {
		return problem(wire.Internal, "something went wrong in the kernel")
	}
	return problem(wire.Internal, "%v", err)
}

// problemOfBody is what is wrong with the body of a request.
func problemOfBody(err error) *wire.Problem {
	if e, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return problem(wire.TooLarge, "the body has more than %d bytes", e.Limit)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return problem(wire.Timeout, "the body did not come in time")
	}
	p := problem(wire.BadJSON, "%v", err)
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		p.At, p.Offset, p.Detail = string(e.JSONPointer), &e.ByteOffset, e.Err.Error()
	} else if e, ok := errors.AsType[*json.SemanticError](err); ok {
		p.At, p.Offset = string(e.JSONPointer), &e.ByteOffset
		p.Detail = "not what belongs there"
		switch {
		case errors.Is(err, json.ErrUnknownName):
			p.Detail = "an unknown member"
		case e.Err != nil:
			p.Detail = e.Err.Error()
		case e.JSONKind != 0 && e.GoType != nil:
			p.Detail = fmt.Sprintf("a %s where a %s belongs", kindName(e.JSONKind), typeName(e.GoType))
		}
	}
	return p
}
