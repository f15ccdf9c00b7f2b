package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"assent/front/api/client"
	"assent/front/api/wire"
	"assent/front/hook"
)

// call is a call of a tool on its way.
type call struct {
	meta
	ctx    context.Context
	cancel context.CancelCauseFunc
	answer chan message // the server's
}

func newCall(m meta) *call {
	c := &call{meta: m, answer: make(chan message, 1)}
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	return c
}

// params are what is held of a request.
type params struct {
	Name      string         // the tool
	Arguments jsontext.Value // that are judged
	// forward is what goes on, with those arguments as they were judged.
	forward func(judged jsontext.Value) jsontext.Value
}

// readParams reads what is to be judged.
func readParams(m message) (params, error) {
	switch m.method {
	case methodCall:
		p, err := readToolParams(m.params)
		return params{p.Name, p.Arguments, p.forward}, err
	case methodListen:
		uris, err := listenedTo(m.params)
		return params{readResource, object(struct {
			URIs []string `json:"uris"`
		}{uris}), func(jsontext.Value) jsontext.Value { return m.params }}, err
	}
	p, err := readResourceParams(m.params)
	return params{readResource, object(struct {
		URI string `json:"uri"`
	}{p.URI}), func(jsontext.Value) jsontext.Value { return p.forward() }}, err
}

// readResource is what reading a resource of a server is judged as, here as where a
// client's own tool does it: a tool of that server.
const readResource = "read_resource"

// resourceParams are those of reading a resource, or being told of its changes.
type resourceParams struct {
	URI    string         `json:"uri"`
	Meta   jsontext.Value `json:"_meta"`
	Inputs jsontext.Value `json:"inputResponses"`
	State  jsontext.Value `json:"requestState"`
}

func readResourceParams(text jsontext.Value) (p resourceParams, err error) {
	if err := json.Unmarshal(text, &p, json.RejectUnknownMembers(true)); err != nil {
		return p, fmt.Errorf("what is to be read cannot be told: %w", err)
	}
	if p.URI == "" {
		return p, errors.New("no resource is named")
	}
	return p, nil
}

func (p resourceParams) forward() jsontext.Value {
	return with(append(jsontext.Value(`{"uri":`), quoted(p.URI)...), []member{{"_meta", p.Meta}, {"inputResponses", p.Inputs}, {"requestState", p.State}})
}

// listenParams are those of being told of changes.
type listenParams struct {
	Meta          jsontext.Value `json:"_meta"`
	Notifications struct {
		Tools     bool     `json:"toolsListChanged"`
		Prompts   bool     `json:"promptsListChanged"`
		Resources bool     `json:"resourcesListChanged"`
		URIs      []string `json:"resourceSubscriptions"`
	} `json:"notifications"`
}

// listenedTo are the resources of whose changes a client wants to hear.
func listenedTo(text jsontext.Value) ([]string, error) {
	var p listenParams
	if err := json.Unmarshal(text, &p, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("what is to be told cannot be read: %w", err)
	}
	return p.Notifications.URIs, nil
}

// listensToLists: it is surely about no resource.
func listensToLists(text jsontext.Value) bool {
	uris, err := listenedTo(text)
	return err == nil && len(uris) == 0
}

// toolParams are those of a call. One that is not known could change what the call means, and so
// could the same name in another case.
type toolParams struct {
	Name      string         `json:"name"`
	Arguments jsontext.Value `json:"arguments"`
	Meta      jsontext.Value `json:"_meta"`
	Task      jsontext.Value `json:"task"`
	// Inputs and State are of a call that is made again with what the server asked for.
	Inputs jsontext.Value `json:"inputResponses"`
	State  jsontext.Value `json:"requestState"`
}

// readToolParams reads what is to be called.
func readToolParams(text jsontext.Value) (p toolParams, err error) {
	if err := json.Unmarshal(text, &p, json.RejectUnknownMembers(true)); err != nil {
		return p, fmt.Errorf("the call cannot be read: %w", err)
	}
	switch {
	case !plainName(p.Name):
		return p, errors.New("the tool's name has something else than the printable characters of ASCII, or more than 128 of them")
	case p.Arguments.Kind() == 'n':
		p.Arguments = nil
	case len(p.Arguments) > 0 && p.Arguments.Kind() != '{':
		return p, errors.New("the arguments are no object")
	}
	return p, nil
}

// forward is the call as it goes on, with the arguments that were judged.
func (p toolParams) forward(judged jsontext.Value) jsontext.Value {
	return with(append(jsontext.Value(`{"name":`), quoted(p.Name)...),
		[]member{{"arguments", judged}, {"_meta", p.Meta}, {"task", p.Task}, {"inputResponses", p.Inputs}, {"requestState", p.State}})
}

type member struct {
	name  string
	value jsontext.Value
}

// with ends an object that was begun with those members that there are.
func with(b jsontext.Value, members []member) jsontext.Value {
	for _, m := range members {
		if len(m.value) > 0 {
			b = append(append(append(b, `,"`...), m.name...), `":`...)
			b = append(b, m.value...)
		}
	}
	return append(b, '}')
}

// leaf is a call as the kernel has it.
type leaf struct {
	session, id string
	judged      jsontext.Value // its arguments
}

// hold is the way of a call: admitted, decided, claimed, passed on, settled.
func (g *gateway) hold(q *request) {
	defer q.call.cancel(nil)
	p, err := readParams(q.message)
	if err != nil {
		_ = g.refuse(q, err.Error())
		return
	}
	l, receipt, err := g.licensed(q, p)
	switch {
	case errors.Is(err, hook.ErrDeadline) && receipt.Number != 0:
		g.leave(l)
		_ = g.refuse(q, hook.Ticket(receipt))
		return
	case err != nil && q.call.ctx.Err() != nil:
		_ = g.refuse(q, context.Cause(q.call.ctx).Error()) // to nobody, where the client did it
		g.giveUp(l)
		return
	case err != nil:
		g.leave(l) // the same call made again takes up what it waited for
		_ = g.refuse(q, problem(err)+"; the call has not run")
		return
	case receipt.OrchestrationResult == nil:
		_ = g.refuse(q, cancelledBefore[receipt.CancelledBy != nil && *receipt.CancelledBy == "human"])
		return
	case !*receipt.OrchestrationResult:
		_ = g.refuse(q, hook.Why(receipt))
		return
	}
	g.run(q, p, l, receipt)
}

// cancelledBefore says of a call that it was cancelled before it ran: by a person or not.
var cancelledBefore = map[bool]string{true: "a person cancelled the call; it has not run", false: "the call was cancelled; it has not run"}

// giveUp cancels a call for which nobody waits any more.
func (g *gateway) giveUp(l leaf) {
	if l.id == "" {
		return
	}
	err := g.kernel.settle(func(ctx context.Context, c *client.Client) error { return c.Cancel(ctx, l.session, l.id) })
	if err != nil && !errors.Is(err, wire.Completed) && !errors.Is(err, wire.Cancelled) {
		g.Log("cancelling a call: " + err.Error())
	}
}

// leave keeps in mind that a call waits without anybody: made again, it gets the
// answer that came since.
func (g *gateway) leave(l leaf) {
	if l.id == "" {
		return
	}
	if err := g.kernel.settle(func(ctx context.Context, c *client.Client) error { return c.Leave(ctx, l.session, l.id) }); err != nil {
		g.Log("leaving a call: " + err.Error())
	}
	g.opening.Lock()
	defer g.opening.Unlock()
	if l.session != g.session {
		return
	}
	if g.left = append(g.left, l); len(g.left) > maxAsked {
		g.left = g.left[1:]
	}
}

// licensed admits the call, or takes the same one up again, waits until it is decided
// and claims a yes. The leaf is there also with an error, where there is one.
func (g *gateway) licensed(q *request, p params) (l leaf, receipt wire.Receipt, err error) {
	within := g.within
	if within == nil {
		within = func(ctx context.Context) (context.Context, context.CancelFunc) { return hook.Within(ctx, g.patience()) }
	}
	ctx, stop := within(q.call.ctx)
	defer stop()
	defer func() {
		if err != nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
	}()
	for takeUp := true; ; takeUp = false {
		if l, err = g.admitted(ctx, p, takeUp); err != nil {
			return l, receipt, err
		}
		if receipt, err = g.decided(ctx, q, p, l); err != nil {
			return l, receipt, err
		}
		if receipt.OrchestrationResult == nil || !*receipt.OrchestrationResult {
			return l, receipt, nil
		}
		err = g.kernel.ask(func(c *client.Client) error { return c.Begin(ctx, l.session, l.id) })
		if !errors.Is(err, wire.Begun) {
			return l, receipt, err
		}
	}
}

// patience is how long a call is held: a little less than its client is known to
// wait, where nobody said.
func (g *gateway) patience() time.Duration {
	if g.Deadline > 0 {
		return g.Deadline
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.who.name == "claude-code": // it waits for more than a day
		return time.Hour
	case strings.HasPrefix(g.who.name, "gemini-cli"): // 10 min
		return 9*time.Minute + 30*time.Second
	}
	return 50 * time.Second // Codex and the protocol's library for TypeScript wait for 60 s
}

// admitted is the leaf of the call.
func (g *gateway) admitted(ctx context.Context, p params, takeUp bool) (l leaf, err error) {
	name := "mcp__" + g.Name + "__" + p.Name
	unknown := ""
	for again := true; ; again = false {
		if l.session, err = g.open(ctx, unknown); err != nil {
			return l, err
		}
		if takeUp {
			if known, err := g.takenUp(ctx, l.session, name, p.Arguments); known.id != "" || err != nil {
				return known, err
			}
		}
		var row wire.JobRow
		err = g.kernel.ask(func(c *client.Client) (err error) {
			row, err = c.Admit(ctx, l.session, wire.NewJob{Name: name, Arguments: p.Arguments})
			return err
		})
		if !errors.Is(err, wire.NoSession) || !again {
			l.id, l.judged = row.ID, row.Arguments
			if l.judged.Kind() == 'n' {
				l.judged = nil
			}
			if len(l.judged) == 0 && len(p.Arguments) > 0 { // to the kernel an empty object is none
				l.judged = jsontext.Value("{}")
			}
			return l, err
		}
		unknown = l.session // of another document
	}
}

// takenUp is a leaf of ours that asked for the very same, was not answered in its
// time, and for which nobody waits; none is no leaf.
func (g *gateway) takenUp(ctx context.Context, session, name string, arguments jsontext.Value) (l leaf, err error) {
	g.opening.Lock()
	none := len(g.left) == 0
	g.opening.Unlock()
	if none {
		return leaf{}, nil
	}
	var same wire.SameCalls
	err = g.kernel.ask(func(c *client.Client) (err error) {
		same, err = c.Same(ctx, session, wire.Same{Name: name, Arguments: arguments})
		return err
	})
	if errors.Is(err, wire.NoSession) {
		return leaf{}, nil
	}
	if err != nil {
		return leaf{}, err
	}
	l, refused := g.oneLeft(session, same.Calls)
	if refused { // a no is told once
		err = g.kernel.ask(func(c *client.Client) error { return c.Heard(ctx, l.session, l.id) })
		if errors.Is(err, wire.Begun) {
			return leaf{}, nil
		}
	}
	return l, err
}

// oneLeft is the first of some calls that was left here and may be taken up.
func (g *gateway) oneLeft(session string, calls []wire.SameCall) (l leaf, refused bool) {
	g.opening.Lock()
	defer g.opening.Unlock()
	for _, s := range calls {
		i := slices.IndexFunc(g.left, func(l leaf) bool { return l.id == s.ID && l.session == session })
		if i >= 0 && s.TakeUp {
			l := g.left[i]
			g.left = slices.Delete(g.left, i, i+1) // one waits for it
			return l, s.OrchestrationResult != nil && !*s.OrchestrationResult
		}
	}
	return leaf{}, false
}

// decided waits for what becomes of a call, and tells that it waits.
func (g *gateway) decided(ctx context.Context, q *request, p params, l leaf) (receipt wire.Receipt, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	told := make(chan wire.Receipt, 1)
	go func() { told <- g.tell(ctx, q, p, l) }()
	err = g.kernel.ask(func(c *client.Client) (err error) {
		receipt, err = c.Receipt(ctx, l.session, l.id, client.Decided)
		return err
	})
	stop()
	last := <-told
	if err != nil {
		last.Number = cmp.Or(last.Number, receipt.Number)
		return g.numbered(l, last), err
	}
	return receipt, nil
}

// numbered is what is known of a call that is not decided: its number at least, by
// which a person names it.
func (g *gateway) numbered(l leaf, known wire.Receipt) wire.Receipt {
	if known.Number != 0 {
		return known
	}
	ctx, cancel := context.WithTimeout(context.Background(), moment)
	defer cancel()
	if c, err := g.kernel.client(false, nil); err == nil {
		if now, err := c.Receipt(ctx, l.session, l.id, client.Now); err == nil {
			return now
		}
	}
	return known
}

// Why a call that runs is told to its client as cancelled, by whom.
var cancelledWhy = map[string]string{"human": "a person cancelled the call while it ran", "": "the call was cancelled while it ran"}

// run passes on a call that is licensed and claimed, and settles it.
func (g *gateway) run(q *request, p params, l leaf, receipt wire.Receipt) {
	g.mu.Lock()
	wanted := g.asked[q.key] == q && g.over == nil
	q.at = wanted
	g.mu.Unlock()
	if !wanted {
		_ = g.refuse(q, "nobody waits for it any more; the call has not run")
		g.giveUp(l)
		return
	}
	if q.method == methodListen { // it has no answer until it ends
		g.mu.Lock()
		q.call.cancel(nil)
		q.call = nil
		g.mu.Unlock()
		_ = g.pass(q.message)
		g.report(l, outcome{OK: true, Text: "passed on"})
		return
	}
	watch, stop := context.WithCancel(q.call.ctx)
	defer stop()
	stopped := make(chan string, 1)
	go func() {
		if by, yes := g.kernel.cancelledBy(watch, l.session, l.id); yes {
			stopped <- by
		}
	}()
	err := g.server.write(message{id: q.id, method: q.method, params: p.forward(l.judged)})
	if err != nil {
		err = fmt.Errorf("the server did not take the call: %w", err)
		_ = g.refuse(q, err.Error())
		g.report(l, outcome{Text: err.Error()})
		return
	}
	select {
	case a := <-q.answer:
		g.settle(q, l, receipt, a)
		return
	case by := <-stopped:
		_ = g.pass(cancelled(q.id, "cancelled by "+cmp.Or(by, "somebody else")))
		_ = g.refuse(q, cmp.Or(cancelledWhy[by], cancelledWhy[""])+": the server was told; whether it stopped is not known")
		return
	case <-q.call.ctx.Done():
	}
	select {
	case a := <-q.answer: // it came before what ended
		g.settle(q, l, receipt, a)
		return
	default:
	}
	cause := context.Cause(q.call.ctx)
	if w, ok := errors.AsType[*withdrawal](cause); ok {
		_ = g.pass(cancelled(q.id, w.reason))
		g.giveUp(l)
		return
	}
	why := cause.Error() + " before the call was answered: it may have had its effect"
	_ = g.refuse(q, why)
	g.report(l, outcome{Text: why})
}

// settle gives the client its answer, and tells the kernel.
func (g *gateway) settle(q *request, l leaf, receipt wire.Receipt, a message) {
	a.id = q.id
	out := outcomeOf(a)
	if receipt.ApprovalComment != nil && *receipt.ApprovalComment != "" && a.fault == nil {
		a.result = withNote(a.result, "assent: the person who allowed this call says: "+*receipt.ApprovalComment)
	}
	if err := g.say(a); err != nil {
		g.Log("answering the client: " + err.Error())
	}
	g.report(l, out)
}

// report tells the kernel what became of a call that ran.
func (g *gateway) report(l leaf, o outcome) {
	err := g.kernel.settle(func(ctx context.Context, c *client.Client) error { return c.Report(ctx, l.session, l.id, object(o)) })
	if err != nil && !errors.Is(err, wire.Completed) && !errors.Is(err, wire.Cancelled) {
		g.Log("telling the kernel what became of a call: " + err.Error())
	}
}

// refuse answers a call that was not passed on, or has no answer, as a tool that
// failed does: so the model reads why. A call that its client cancelled gets none.
func (g *gateway) refuse(q *request, why string) error {
	g.mu.Lock()
	waits := g.asked[q.key] == q
	if waits {
		if q.at {
			g.forget(q) // the server may answer yet
		} else {
			delete(g.asked, q.key)
		}
	}
	g.mu.Unlock()
	if !waits {
		return nil
	}
	if q.method != methodCall { // its result has no place for a reason
		return g.say(refusal(q.id, broken, "%s", why))
	}
	type content struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	result := struct {
		Content []content `json:"content"`
		IsError bool      `json:"isError"`
		Type    string    `json:"resultType,omitzero"`
	}{Content: []content{{"text", "assent: " + why}}, IsError: true}
	if q.Protocol >= stateless {
		result.Type = "complete"
	}
	return g.say(message{id: q.id, reply: true, result: object(result)})
}

// outcome is what the kernel keeps of a call that ran.
type outcome struct {
	OK   bool   `json:"ok"`
	Text string `json:"text"`
}

// outcomeOf is what a server answered, as text.
func outcomeOf(a message) (o outcome) {
	var fault struct {
		Code    jsontext.Value `json:"code"`
		Message string         `json:"message"`
	}
	var result struct {
		Content []struct {
			Type     string `json:"type"`
			Text     string `json:"text"`
			MIMEType string `json:"mimeType"`
			URI      string `json:"uri"`
		} `json:"content"`
		IsError bool `json:"isError"`
	}
	switch {
	case a.fault != nil:
		if json.Unmarshal(a.fault, &fault, lax) != nil {
			fault.Message = string(a.fault)
		}
		o.Text = "the server refused: " + fault.Message
	case json.Unmarshal(a.result, &result, lax) != nil || len(result.Content) == 0:
		o = outcome{!result.IsError, string(a.result)}
	default:
		o.OK = !result.IsError
		var parts []string
		for _, c := range result.Content {
			if c.Type != "text" {
				c.Text = "[" + strings.Join(strings.Fields(cmp.Or(c.Type, "something")+" "+c.MIMEType+" "+c.URI), " ") + "]"
			}
			parts = append(parts, c.Text)
		}
		o.Text = strings.Join(parts, "\n")
	}
	o.Text = strings.ToValidUTF8(o.Text, "\uFFFD")
	if len(o.Text) > maxOutcome {
		o.Text = strings.ToValidUTF8(o.Text[:maxOutcome], "") + fmt.Sprintf(" [%d bytes left out]", len(o.Text)-maxOutcome)
	}
	return o
}

// withNote is a result with one text more at the end of its content; the rest stays
// as it is. A result without content has no place for it.
func withNote(result jsontext.Value, note string) jsontext.Value {
	d := jsontext.NewDecoder(strings.NewReader(string(result)), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return result
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return result
		}
		wanted := name.String() == "content" && d.PeekKind() == '['
		v, err := d.ReadValue()
		if err != nil {
			return result
		}
		if !wanted {
			continue
		}
		end := d.InputOffset() - 1 // of the bracket
		added := []byte(`{"type":"text","text":` + string(quoted(strings.ToValidUTF8(note, "\uFFFD"))) + `}`)
		if strings.TrimSpace(string(v[1:len(v)-1])) != "" {
			added = append([]byte(","), added...)
		}
		out := append(jsontext.Value(nil), result[:end]...)
		return append(append(out, added...), result[end:]...)
	}
	return result
}
