package wire

import "strings"

// Code says for programs what was wrong. It is an error, so that errors.Is
// tells whether a [Problem] is of its kind.
type Code string

func (c Code) Error() string { return strings.ReplaceAll(string(c), "-", " ") }

// The codes. Behind each stands its HTTP status.
const (
	// The request itself.
	BadRequest Code = "bad-request"            // 400: a header, a query, a path
	BadJSON    Code = "bad-json"               // 400: not the JSON that belongs there; Problem.At says where
	Browser    Code = "browser"                // 403: it looks like one sent by a web page
	NotFound   Code = "not-found"              // 404: no such path
	Method     Code = "method-not-allowed"     // 405
	MediaType  Code = "unsupported-media-type" // 415
	TooLarge   Code = "too-large"              // 413
	TooMany    Code = "too-many"               // 429: of what is kept open at a time
	Timeout    Code = "timeout"                // 408: the body did not come

	// Who asks.
	Role   Code = "role"   // 403: not for this role, or for nobody
	Other  Code = "other"  // 403: the session belongs to another agent
	Bounds Code = "bounds" // 403: where an agent's session does not work
	Quota  Code = "quota"  // 429: an agent has the most that one may have; a person makes room

	// What is asked of the document.
	NoSession  Code = "no-session"  // 404
	NoJob      Code = "no-job"      // 404
	NoName     Code = "no-name"     // 404: no such field or register
	Value      Code = "value"       // 422: not a value for it
	Geometry   Code = "geometry"    // 422: not on a job of this kind
	Apart      Code = "apart"       // 422: only together with what it belongs to
	Place      Code = "place"       // 422: not an absolute path of a folder
	Mode       Code = "mode"        // 422: plan and act, or manual for nobody who looks
	Written    Code = "written"     // 409: written once, and it was
	Completed  Code = "completed"   // 409
	Cancelled  Code = "cancelled"   // 409
	FloorFirst Code = "floor-first" // 409: a true waits for the floor
	Blocked    Code = "blocked"     // 409: a true never lifts a block
	Stale      Code = "stale"       // 409: somebody spoke since
	Admitted   Code = "admitted"    // 409: an unattended session keeps its mode
	Unlicensed Code = "unlicensed"  // 409
	Undecided  Code = "undecided"   // 409
	NotYours   Code = "not-yours"   // 409: the kernel runs this call itself
	Begun      Code = "begun"       // 409
	Future     Code = "future"      // 409: a rev that is not there yet

	// The document and the kernel themselves.
	Full     Code = "full"      // 507: the disk is full, or nearly: then nothing of agents is taken
	ReadOnly Code = "read-only" // 503
	Disk     Code = "disk"      // 503
	Damaged  Code = "damaged"   // 503: somebody else wrote to the document, or it could not be read
	Busy     Code = "busy"      // 503: also where memory is short
	Closed   Code = "closed"    // 503: the kernel ends
	Internal Code = "internal"  // 500
)

// Problem is an answer that something went wrong (RFC 9457).
type Problem struct {
	Type   string `json:"type"` // always "about:blank"
	Title  string `json:"title"`
	Status int    `json:"status"`
	Code   Code   `json:"code"`
	Detail string `json:"detail"`
	// At is where in the body, as a JSON pointer; Offset the byte.
	At     string `json:"at,omitempty"`
	Offset *int64 `json:"offset,omitempty"`
}

func (p *Problem) Error() string {
	text := p.Detail
	if text == "" {
		text = p.Title
	}
	if p.At != "" {
		text += " (at " + p.At + ")"
	}
	return text
}

// Is reports whether the problem is of the kind that target names.
func (p *Problem) Is(target error) bool {
	code, ok := target.(Code)
	return ok && code == p.Code
}
