package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"assent/front/api/client"
	"assent/front/api/wire"
	"assent/front/card"
	"assent/front/daemon"
)

// dialer is how commands reach the daemon.
type dialer struct {
	socket string
	json   bool
	idle   bool        // no daemon is started
	at     string      // the socket it dials
	heard  atomic.Bool // the daemon has taken what was asked, and may take its time
}

// flags are those of all commands that ask the daemon.
func (d *dialer) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&d.socket, "socket", "", "the kernel's socket, for one that runs elsewhere: its `path`")
	cmd.Flags().BoolVar(&d.json, "json", false, "write the kernel's answer as JSON")
}

// dial is a client of the daemon. It connects when it is used, and starts a
// daemon when there is none and nobody named a socket.
func (d *dialer) dial() (*client.Client, error) {
	word, err := token()
	if err != nil {
		return nil, err
	}
	if d.socket != "" {
		abs, err := absolute(d.socket)
		if err != nil {
			return nil, err
		}
		d.at = abs
		return client.New(abs, client.Options{Token: word}), nil
	}
	at, err := findKernel()
	if err != nil {
		return nil, err
	}
	if err := at.Trusted(); err != nil {
		return nil, err
	}
	opts := client.Options{Token: word, Verify: at.verify}
	if !d.idle {
		opts.Start = at.start
	}
	d.at = at.Socket
	return client.New(at.Socket, opts), nil
}

func absolute(path string) (string, error) {
	if strings.HasPrefix(path, "/") {
		return path, nil
	}
	here, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("finding the present folder: %w", err)
	}
	return here + "/" + path, nil
}

// asking makes a command that asks the daemon out of what it does with it.
func (d *dialer) asking(do func(cmd *cobra.Command, c *client.Client, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := isText(cmd, args); err != nil {
			return err
		}
		c, err := d.dial()
		if err != nil {
			return err
		}
		defer c.Close()
		return hinted(listening(cmd.Context(), d.at, &d.heard, func(ctx context.Context) error {
			cmd.SetContext(ctx)
			return do(cmd, c, args)
		}))
	}
}

// longestWord is more than anything has that is named by a word: ids, tools, clients.
const longestWord = 4096

// isText refuses what the kernel could not keep: it keeps text. Files may be called
// what they like where only this program opens them.
func isText(cmd *cobra.Command, args []string) (err error) {
	for _, arg := range args {
		if !utf8.ValidString(arg) {
			return usagef("%s holds bytes that are no UTF-8, and the kernel keeps only text", oneLine(arg, maxTarget))
		}
		if len(arg) > longestWord && cmd.Name() != "call" {
			return usagef("%s is longer than anything that could be meant", middle(oneLine(arg, maxTarget), maxTarget))
		}
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch f.Name {
		case "socket", "file", "output":
		case "session", "tool", "id", "mode", "name":
			if len(f.Value.String()) > longestWord {
				err = usagef("--%s %s is longer than anything that could be meant", f.Name, middle(oneLine(f.Value.String(), maxTarget), maxTarget))
			}
			fallthrough
		default:
			if !utf8.ValidString(f.Value.String()) {
				err = usagef("--%s %s holds bytes that are no UTF-8, and the kernel keeps only text", f.Name, oneLine(f.Value.String(), maxTarget))
			}
		}
	})
	return err
}

// hearing is how long an answer may take before it is looked whether the kernel
// says anything at all, and how long between two looks.
const hearing = time.Second

// listening does what asks the kernel on a socket, and ends it with the reason
// when the kernel is there and says nothing. Once it was heard it may take its
// time: a person's answer may take days.
func listening(ctx context.Context, socket string, heard *atomic.Bool, do func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		tick := time.NewTicker(hearing)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if heard.Load() {
				return
			}
			if err := daemon.Listen(ctx, socket); err != nil && !heard.Load() {
				cancel(err)
				return
			}
		}
	}()
	err := do(ctx)
	if silent, ok := errors.AsType[*daemon.Silent](context.Cause(ctx)); ok && err != nil {
		return silent
	}
	return err
}

// hinted says what to do about an error of the daemon.
func hinted(err error) error {
	hint := ""
	switch {
	case err == nil:
		return nil
	case isSilent(err):
		silent, _ := errors.AsType[*daemon.Silent](err)
		hint = silent.Hint()
	case errors.Is(err, client.ErrNoDaemon):
		hint = "start it with: assent up"
	case errors.Is(err, wire.Role):
		hint = "people ask from a terminal of their own; what an agent started is the agent (\"assent status\" says why you count as one)"
	case errors.Is(err, wire.Other):
		hint = "an agent asks in sessions of its own; a person gives it one with: assent sessions give"
	case errors.Is(err, wire.Bounds):
		hint = "a person makes the session with: assent sessions new"
	case errors.Is(err, wire.Stale):
		hint = "somebody changed it meanwhile; look again and repeat"
	case errors.Is(err, wire.Full) && !strings.Contains(err.Error(), "make room"):
		hint = "make room where the document is (\"assent status\" says where), and repeat"
	case errors.Is(err, wire.Admitted):
		hint = "nobody who looks on changes it"
	}
	if p, ok := errors.AsType[*wire.Problem](err); ok && p.At != "" {
		// Where in the body it was, which is this program's and not the person's.
		err = plainError{err, strings.ReplaceAll(err.Error(), " (at "+p.At+")", "")}
	}
	if hint == "" {
		return err
	}
	return hintedError{err, hint}
}

func isSilent(err error) bool {
	_, ok := errors.AsType[*daemon.Silent](err)
	return ok
}

// plainError is an error in other words.
type plainError struct {
	error
	text string
}

func (e plainError) Error() string { return e.text }

func (e plainError) Unwrap() error { return e.error }

type hintedError struct {
	error
	hint string
}

func (e hintedError) Error() string { return e.error.Error() + "\n" + e.hint }

func (e hintedError) Unwrap() error { return e.error }

// find is the one id that a text means: the id itself, or its beginning. An id
// that is also what a list shows of a longer one means neither: whoever chose it
// may have meant to be taken for that one. A stroke behind it says that it is
// whole.
func find(what, text string, ids []string) (string, error) {
	var found []string
	for _, id := range ids {
		if strings.HasPrefix(id, text) && text != "" {
			found = append(found, id)
		}
	}
	if whole, ok := strings.CutSuffix(text, "/"); ok && len(found) == 0 && slices.Contains(ids, whole) {
		return whole, nil
	}
	if slices.Contains(found, text) && !slices.ContainsFunc(found, func(id string) bool { return id != text && len(id) > idWhole }) {
		return text, nil
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", usagef("there is no %s %q%s", what, oneLine(text, maxTarget), meant(text, ids))
	}
	more := "write more of it"
	if slices.Contains(found, text) {
		more = fmt.Sprintf("%s/ is the one that is called so", oneLine(text, maxTarget))
	}
	return "", usagef("%d %ss begin with %q; %s", len(found), what, oneLine(text, maxTarget), more)
}

// findSession is the id of the session that a text means; none, "", is none.
func findSession(ctx context.Context, c *client.Client, text string) (string, error) {
	if text == "" {
		return "", nil
	}
	// Whole with its stroke it means that one, whatever else begins so.
	if whole, ok := strings.CutSuffix(text, "/"); ok && whole != "" {
		if _, err := c.Summary(ctx, whole); !errors.Is(err, wire.NoSession) {
			return whole, err
		}
	}
	list, err := c.Sessions(ctx, client.SessionFilter{Begins: text, Limit: 10_000})
	if err == nil && list.More { // the one that is meant may be among those that are left out
		return "", usagef("more than %d sessions begin with %q; write the whole id and / behind it", len(list.Sessions), oneLine(text, maxTarget))
	}
	if err == nil && len(list.Sessions) == 0 {
		list, err = c.Sessions(ctx, client.SessionFilter{}) // for the hint
	}
	if err != nil {
		return "", err
	}
	ids := make([]string, len(list.Sessions))
	for i, s := range list.Sessions {
		ids[i] = s.ID
	}
	return find("session", text, ids)
}

// completeSessions are the sessions for completion. A daemon is not started
// for that.
func completeSessions(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	c, ctx, end, ok := dialForCompletion(cmd)
	if !ok {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer end()
	list, err := c.Sessions(ctx, client.SessionFilter{Begins: begun})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, s := range list.Sessions {
		if strings.HasPrefix(s.ID, begun) && card.Bare(s.ID) {
			names = append(names, s.ID+"\t"+oneLine(s.Client+" "+s.Workspace, maxTarget))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// keystroke is how long whoever completes a word waits for the kernel.
const keystroke = time.Second

// dialForCompletion is a client for completion, which starts no daemon and does
// not wait for one; end lets go of it.
func dialForCompletion(cmd *cobra.Command) (c *client.Client, ctx context.Context, end func(), ok bool) {
	d := dialer{idle: true}
	if f := cmd.Flag("socket"); f != nil {
		d.socket = f.Value.String()
	}
	c, err := d.dial()
	if err != nil {
		return nil, nil, nil, false
	}
	ctx = cmd.Context()
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, keystroke)
	return c, ctx, func() { cancel(); c.Close() }, true
}
