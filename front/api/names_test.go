package api_test

import (
	"testing"

	"assent/front/api/wire"
	"assent/kernel"
)

// Programs that speak the wire know by this text that nothing is wrong.
func TestNoOperatorPolicyIsTheKernels(t *testing.T) {
	if wire.NoOperatorPolicy != kernel.NoOperatorPolicy {
		t.Errorf("got %q, want %q", wire.NoOperatorPolicy, kernel.NoOperatorPolicy)
	}
}

// A watch knows by this name that a call ran in another way than it was licensed.
func TestTheRegisterOfRunsIsTheKernels(t *testing.T) {
	if wire.RunsRegister != kernel.Ran {
		t.Errorf("got %q, want %q", wire.RunsRegister, kernel.Ran)
	}
}
