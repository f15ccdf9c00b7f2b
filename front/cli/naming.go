package cli

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"assent/front/api/client"
	"assent/front/api/wire"
)

// callName names a call of a session.
type callName struct{ session, job string }

func (n callName) String() string { return n.session + "/" + n.job }

// The number of a call is the rev of its row: the kernel gives it, and no other
// call ever gets it. Ids are for whoever mints a call to choose. An agent knows
// those of its own calls that a person may be looking at; it could cancel such a
// call and mint another whose id begins the same, or is what a list shows of it.
// So a person's yes takes a number, or an id and its session that are whole:
// those name one call, now and for ever.

// callNumber is the number that a text is.
func callNumber(text string) (wire.Rev, bool) {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && n > 0
}

// numbered is the call with a number.
func numbered(ctx context.Context, c *client.Client, number wire.Rev, session string) (callName, error) {
	row, ok, err := c.Row(ctx, number)
	switch {
	case err != nil:
		return callName{}, err
	case !ok || row.Job == nil || session != "" && row.Job.Session != session:
		return callName{}, usagef("no call has the number %d; see: assent queue", number)
	}
	return callName{row.Job.Session, row.Job.ID}, nil
}

// meantCall is the call that waits for a person and that a text means beyond
// doubt.
func meantCall(ctx context.Context, c *client.Client, text, session string) (callName, error) {
	session, err := findSession(ctx, c, session)
	if err != nil {
		return callName{}, err
	}
	name := callName{}
	if number, ok := callNumber(text); ok {
		name, err = numbered(ctx, c, number, session)
	} else {
		name, err = wholeCall(ctx, c, text, session)
	}
	if err == nil && name == (callName{}) {
		// Whatever it may mean, a person has not said it.
		if name, err = waitingCall(ctx, c, text, session); err != nil {
			return callName{}, err
		}
		job, err := c.Job(ctx, name.session, name.job)
		if err != nil {
			return callName{}, err
		}
		return callName{}, usagef("%q may be another call by now than the one that you saw; the one that waits is number %d: %s %s",
			oneLine(text, maxTarget), job.Stamp.Rev, oneLine(job.Name, maxTarget), oneLine(whatOf(job.Arguments), 4*maxFull))
	}
	if err != nil {
		return callName{}, err
	}
	return name, stillWaits(ctx, c, name)
}

// stillWaits says why a call waits for no person, if it does not.
func stillWaits(ctx context.Context, c *client.Client, name callName) error {
	job, err := c.Job(ctx, name.session, name.job)
	if err == nil && (job.Leaf == nil || !job.Leaf.NeedsHuman) {
		err = notWaiting(job)
	}
	return err
}

// deniedCall is the call that a person says no to. A no does no harm to another
// call than the one that was meant, so how an id begins is enough.
func deniedCall(ctx context.Context, c *client.Client, text, session string) (callName, error) {
	if number, ok := callNumber(text); ok {
		in, err := findSession(ctx, c, session)
		if err != nil {
			return callName{}, err
		}
		if name, err := numbered(ctx, c, number, in); err == nil {
			return name, stillWaits(ctx, c, name)
		}
	}
	return waitingCall(ctx, c, text, session)
}

// wholeCall is the call of a session and an id, or of SESSION/ID. Both may have
// strokes in them: where two calls would be meant, none is.
func wholeCall(ctx context.Context, c *client.Client, text, session string) (found callName, err error) {
	var names []callName
	if session != "" {
		names = append(names, callName{session, text})
	}
	for i, r := range text {
		if r == '/' && (session == "" || session == text[:i]) {
			names = append(names, callName{text[:i], text[i+1:]})
		}
	}
	for _, name := range names {
		if name.session == "" || name.job == "" {
			continue
		}
		_, err := c.Job(ctx, name.session, name.job)
		switch {
		case errors.Is(err, wire.NoSession), errors.Is(err, wire.NoJob):
		case err != nil:
			return callName{}, err
		case found != (callName{}):
			return callName{}, usagef("2 calls are meant by %q; name one by its number, see: assent queue", oneLine(text, maxTarget))
		default:
			found = name
		}
	}
	return found, nil
}

// waitingCall is the call that waits for a person and that a text means: by its
// number, its id or SESSION/ID, or how either begins.
func waitingCall(ctx context.Context, c *client.Client, text, session string) (callName, error) {
	name, err := inQueue(ctx, c, text, session)
	if err == nil && name == (callName{}) {
		err = noCall(ctx, c, text, "no call that waits for a person begins with %q; see: assent queue")
	}
	return name, err
}

func inQueue(ctx context.Context, c *client.Client, text, session string) (callName, error) {
	session, err := findSession(ctx, c, session)
	if err != nil {
		return callName{}, err
	}
	queue, err := c.Queue(ctx, session)
	if err != nil {
		return callName{}, err
	}
	number, isNumber := callNumber(text)
	var names []callName
	for _, job := range queue.Queue {
		name := callName{job.Session, job.ID}
		if isNumber && job.Stamp.Rev == number {
			return name, nil
		}
		names = append(names, name)
	}
	return oneCall(text, names)
}

// findCall is the call that a text means. Its number comes first: an agent chooses
// ids, and could give one that is the number of another call. Then come those that
// wait for a person.
func findCall(ctx context.Context, c *client.Client, text, session string) (callName, error) {
	session, err := findSession(ctx, c, session)
	if err != nil {
		return callName{}, err
	}
	if number, ok := callNumber(text); ok {
		if name, err := numbered(ctx, c, number, session); err == nil {
			return name, nil
		}
	}
	name, err := inQueue(ctx, c, text, session)
	if err != nil || name != (callName{}) {
		return name, err
	}
	calls, err := c.Calls(ctx, client.CallFilter{Session: session, Limit: 10_000})
	if err != nil {
		return callName{}, err
	}
	var names []callName
	for _, call := range calls.Calls {
		names = append(names, callName{call.Session, call.Job})
	}
	if name, err = oneCall(text, names); err == nil && name == (callName{}) {
		err = noCall(ctx, c, text, "there is no call %q; see: assent log")
	}
	return name, err
}

// noCall says that a text means no call, and whether it means a session.
func noCall(ctx context.Context, c *client.Client, text, format string) error {
	if list, err := c.Sessions(ctx, client.SessionFilter{Begins: text, Limit: 1}); err == nil && text != "" && len(list.Sessions) == 1 {
		session := oneLine(list.Sessions[0].ID, maxTarget)
		return usagef("%q is a session and no call; its calls: assent queue --session %s, or assent log --session %s", oneLine(text, maxTarget), session, session)
	}
	return usagef(format, oneLine(text, maxTarget))
}

// begins says whether a text is how the id of a call begins, or its SESSION/ID,
// both begun. A session alone means no call, however few there are in it.
func begins(n callName, text string) bool {
	if text != "" && strings.HasPrefix(n.job, text) {
		return true
	}
	for i, r := range text {
		if r == '/' && i > 0 && text[i+1:] != "" && strings.HasPrefix(n.session, text[:i]) && strings.HasPrefix(n.job, text[i+1:]) {
			return true
		}
	}
	return false
}

// oneCall is the one of the calls that a text means, none when it means none.
func oneCall(text string, names []callName) (callName, error) {
	var exact, begun []callName
	for _, n := range names {
		switch {
		case n.job == text, n.String() == text:
			exact = append(exact, n)
		case begins(n, text):
			begun = append(begun, n)
		}
	}
	if len(exact) > 0 {
		begun = exact
	}
	switch len(begun) {
	case 0:
		return callName{}, nil
	case 1:
		return begun[0], nil
	}
	return callName{}, usagef("%d calls are meant by %q; write SESSION/CALL, or more of it", len(begun), oneLine(text, maxTarget))
}

// completed is how many calls are proposed at most.
const completed = 100

// completeCalls are the calls that wait, for completion: by their numbers, as
// what an agent calls them is not put onto a person's command line.
func completeCalls(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	c, ctx, end, ok := dialForCompletion(cmd)
	if !ok {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer end()
	queue, err := c.QueuePage(ctx, "", 0, completed)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, job := range queue.Queue {
		if number := strconv.FormatInt(job.Stamp.Rev, 10); strings.HasPrefix(number, begun) {
			names = append(names, number+"\t"+oneLine(job.Name+" "+whatOf(job.Arguments), maxTarget))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
