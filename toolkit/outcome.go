package toolkit

import (
	"errors"
	"fmt"

	"assent/job"
)

// failed is the outcome of a body that could not do what it was asked to.
func failed(err error) (job.Outcome, error) {
	return job.JSON(struct {
		OK   bool   `json:"ok"`
		Text string `json:"text"`
	}{false, err.Error()})
}

// refusal is what a body says of a call that it does not do: its outcome, and
// no error of the host.
func refusal(format string, args ...any) error { return fmt.Errorf(format, args...) }

// errResumed is what a body says that was licensed in an earlier life and may
// have had its effect (law §7).
var errResumed = errors.New("the host was restarted while this ran: it may have had its effect, and was not run again; look at what it did")
