package kernel

import (
	"context"
	"errors"
	"strings"

	"assent/approval"
	"assent/floor"
	"assent/job"
	"assent/plexus"
)

// Contact says whether a call that runs may contact an address that was not
// judged with it, such as the end of a redirection: nil when the floor, asked
// about a look at that address from the call's session, allows it. No grant, no
// mode and no person is asked: their answers were for the call as it stood.
func (k *Kernel) Contact(ctx context.Context, call job.Call, address string) error {
	if !k.enter() {
		return ErrClosed
	}
	defer k.leave()
	v, _, err := k.evaluate(ctx, floor.Call{
		Name: "web_extract", Arguments: []byte(`{"url":` + plexus.Text(address) + `}`),
		Workspace: call.Workspace, Cwd: call.Cwd, Home: call.Home, Vars: k.Vars,
	}, lies{call.RealWorkspace, call.RealCwd})
	switch {
	case err != nil:
		return err
	case v.Result != approval.Allow:
		return errors.New(strings.TrimSpace("that was not judged with this call, and is not allowed by itself. " + v.Message))
	}
	return nil
}

// Opens says whether a call that was licensed to open a folder may open a file
// below it: nil when nothing is against reading that file but that it lies
// outside the workspace, which the license for the folder answers. No grant, no
// mode and no person is asked.
func (k *Kernel) Opens(ctx context.Context, call job.Call, path string) error {
	if !k.enter() {
		return ErrClosed
	}
	defer k.leave()
	v, _, err := k.evaluate(ctx, floor.Call{
		Name: "read", Arguments: []byte(`{"path":` + plexus.Text(path) + `}`),
		Workspace: call.Workspace, Cwd: call.Cwd, Home: call.Home, Vars: k.Vars,
	}, lies{call.RealWorkspace, call.RealCwd})
	switch {
	case err != nil:
		return err
	case v.Result == approval.Block, v.Result != approval.Allow && v.Ruled:
		return errors.New(strings.TrimSpace("reading it is not allowed by itself. " + v.Message))
	}
	return nil
}
