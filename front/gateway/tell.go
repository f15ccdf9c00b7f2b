package gateway

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"assent/front/api/client"
	"assent/front/api/wire"
)

// tell tells the client that a call waits for a person, until ctx is done: by the
// progress of the call, where it asked for that, and by a question to its person, where
// it can show one. Whatever they answer there decides nothing. It gives what it knew
// last.
func (g *gateway) tell(ctx context.Context, q *request, p params, l leaf) (last wire.Receipt) {
	asked := ""
	defer func() {
		if asked != "" {
			g.unask(asked)
		}
	}()
	for wait, beat := g.Unheard, 1; ; {
		select {
		case <-ctx.Done():
			return last
		case <-time.After(wait):
		}
		if !last.NeedsHuman {
			c, err := g.kernel.client(false, nil)
			if err != nil {
				return last
			}
			now, err := c.Receipt(ctx, l.session, l.id, client.Now)
			if err != nil || now.OrchestrationResult != nil || now.Cancelled != nil || ctx.Err() != nil {
				continue // what it came to is told by whoever waits for that
			}
			if last = now; !last.NeedsHuman {
				wait = min(2*wait, time.Second)
				continue
			}
			wait = g.Beat
			asked = g.question(q, waitsFor(p, last))
		}
		// It must grow each time, and stay below what the server tells of its own.
		if len(q.Token) > 0 {
			_ = g.say(message{method: "notifications/progress", params: object(struct {
				Token    jsontext.Value `json:"progressToken"`
				Progress float64        `json:"progress"`
				Message  string         `json:"message"`
			}{q.Token, float64(beat) * 1e-6, waitsFor(p, last)})})
			beat++
		}
	}
}

func waitsFor(p params, r wire.Receipt) string {
	why := ""
	if r.PolicyMessage != nil && *r.PolicyMessage != "" {
		why = " " + strings.TrimSpace(*r.PolicyMessage)
	}
	return fmt.Sprintf("assent holds call %d of %s until a person has answered.%s", r.Number, p.Name, why)
}

// question shows a text to the client's person, and gives its id; "" where the client
// cannot, or is shown another yet.
func (g *gateway) question(q *request, text string) string {
	g.mu.Lock()
	if !g.who.elicits || g.who.protocol == "" || g.who.protocol >= stateless || len(g.ours) > 0 || g.asked[q.key] != q {
		g.mu.Unlock()
		return ""
	}
	g.count++
	id := fmt.Sprintf("%s-%d", g.marked, g.count)
	g.ours["s"+id] = true
	g.mu.Unlock()
	type schema struct {
		Type       string   `json:"type"`
		Properties struct{} `json:"properties"`
	}
	_ = g.say(message{id: quoted(id), method: "elicitation/create", params: object(struct {
		Message string `json:"message"`
		Schema  schema `json:"requestedSchema"`
	}{text + " Answer in assent (run \"assent\" in a terminal); what you answer here decides nothing.", schema{Type: "object"}})})
	return id
}

// unask takes a question of ours back.
func (g *gateway) unask(id string) {
	g.mu.Lock()
	open := g.ours["s"+id]
	delete(g.ours, "s"+id)
	g.mu.Unlock()
	if open {
		_ = g.say(cancelled(quoted(id), "the call waits no more"))
	}
}
