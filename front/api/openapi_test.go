package api_test

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"assent/front/api"
	"assent/front/api/wire"
	"assent/plexus"
)

func openAPI(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(api.OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return doc
}

// plain is the path of a route as OpenAPI writes it.
func plain(path string) string { return strings.ReplaceAll(path, "...}", "}") }

// Whatever may be asked is written down, and nothing else is.
func TestOpenAPIHasTheRoutes(t *testing.T) {
	doc := openAPI(t)
	var got, want []string
	line := func(method, path string, agents, body bool, status string, query []string) string {
		slices.Sort(query)
		return fmt.Sprintf("%s %s agents=%t body=%t status=%s query=%s", method, path, agents, body, status, query)
	}
	for _, r := range api.Routes() {
		want = append(want, line(r.Method, plain(r.Path), r.Agents, r.Body, fmt.Sprint(r.Status), slices.Clone(r.Query)))
	}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			var query []string
			for _, p := range op.Parameters {
				if p.Value.In == openapi3.ParameterInQuery {
					query = append(query, p.Value.Name)
				}
			}
			status := ""
			for code := range op.Responses.Map() {
				if code[0] == '2' {
					status += code
				}
			}
			roles, _ := op.Extensions["x-roles"].([]any)
			got = append(got, line(method, path, slices.Contains(roles, any("agent")), op.RequestBody != nil, status, query))
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("routes (-) and openapi.yaml (+):\n%s", diff)
	}
}

// Its schemas have the members of the Go types, and require those that are
// always there.
func TestOpenAPIHasTheForms(t *testing.T) {
	doc := openAPI(t)
	forms := []any{
		wire.Problem{}, wire.Stamp{}, wire.You{}, wire.Status{}, wire.Kernel{}, wire.NewSession{}, wire.Session{}, wire.Summary{},
		wire.Sessions{}, wire.Grants{}, wire.View{}, wire.Document{}, wire.Register{}, wire.RegisterLine{}, wire.Registers{}, wire.NewJob{}, wire.Same{}, wire.SameCalls{}, wire.SameCall{}, wire.Hold{}, wire.Held{}, wire.Report{}, wire.Reported{}, wire.Run{},
		wire.JobRow{}, wire.Job{}, wire.Leaf{}, wire.Opened{}, wire.Judging{}, wire.Receipt{}, wire.Queue{}, wire.Call{}, wire.Calls{}, wire.Assign{}, wire.Assigned{}, wire.Write{},
		wire.Writes{}, wire.Wrote{}, wire.Row{}, wire.Field{}, wire.Rows{}, wire.Head{}, wire.Verify{}, wire.Verified{}, wire.Damage{},
		wire.PresenceOf{}, wire.Pair{}, wire.Token{}, wire.NewToken{}, wire.Tokens{}, wire.Give{}, wire.Given{}, wire.Looker{}, wire.Scanner{}, wire.Server{}, wire.ServerTools{}, wire.ServerTool{}, wire.Servers{}, wire.Watching{},
		wire.Storage{}, wire.AgentStorage{},
		wire.Grant{}, wire.GrantLine{}, wire.GrantList{},
	}
	others := []string{"Rev", "Writer", "Hash", "Kind", "Value", "Outcome", "Presence"}
	for _, form := range forms {
		typ := reflect.TypeOf(form)
		others = append(others, typ.Name())
		schema := doc.Components.Schemas[typ.Name()]
		if schema == nil {
			t.Errorf("%s is missing", typ.Name())
			continue
		}
		var want, required []string
		members(typ, &want, &required)
		var got []string
		for name := range schema.Value.Properties {
			got = append(got, name)
		}
		needs := slices.Clone(schema.Value.Required)
		for _, list := range [][]string{got, want, needs, required} {
			slices.Sort(list)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: members of the type (-) and the schema (+):\n%s", typ.Name(), diff)
		}
		if strings.Join(needs, " ") != strings.Join(required, " ") {
			t.Errorf("%s requires %q, the type writes always %q", typ.Name(), needs, required)
		}
	}
	for name := range doc.Components.Schemas {
		if !slices.Contains(others, name) {
			t.Errorf("schema %s is of no type", name)
		}
	}
	codes := doc.Components.Schemas["Problem"].Value.Properties["code"].Value.Enum
	for code := range api.Statuses {
		if !slices.Contains(codes, any(string(code))) {
			t.Errorf("code %s is missing", code)
		}
	}
	if len(codes) != len(api.Statuses) {
		t.Errorf("%d codes, want %d", len(codes), len(api.Statuses))
	}
}

// members are the names of a struct's members as JSON, embedded ones among
// them.
func members(t reflect.Type, all, required *[]string) {
	for f := range t.Fields() {
		if f.Anonymous {
			members(f.Type, all, required)
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		*all = append(*all, name)
		if !strings.Contains(options, "omitempty") {
			*required = append(*required, name)
		}
	}
}

// What the server really answers is what is written down: every status of
// every operation is brought about, and every body held against its schema.
func TestOpenAPIIsWhatTheServerAnswers(t *testing.T) {
	doc := openAPI(t)
	w := newWorld(t, api.Options{Limits: api.Limits{Wait: time.Millisecond}, Servers: func(_ context.Context, ask bool) []wire.ServerTools {
		if !ask {
			return []wire.ServerTools{{Name: "x", Over: "http", State: "failed", Why: "gone", Tools: []wire.ServerTool{}}}
		}
		return []wire.ServerTools{{Name: "x", Over: "stdio", State: "ready", Tools: []wire.ServerTool{{Name: "mcp__x__get_y", Cluster: "mcp", LookUp: true, Hints: []string{"readOnly"}}}, LeftOut: []string{"z"}}}
	}})
	w.session("s", "manual")
	w.session("a", "auto")
	if _, err := w.client.CreateSession(t.Context(), wire.NewSession{ID: "u", Mode: "yolo", Seat: wire.Unattended, Workspace: w.dir}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.client.Admit(t.Context(), "s", wire.NewJob{ID: "turn", Kind: plexus.SessionTurn, Facts: []byte(`{"round":1}`)}); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"let it", "never ever", "other", "no way"} {
		w.admit("s", strings.Fields(command)[0], command)
		w.until("s", strings.Fields(command)[0], plexus.PolicyResult)
	}
	w.until("s", "let", plexus.OrchestrationResult)
	if _, err := w.client.Admit(t.Context(), "a", wire.NewJob{ID: "auto", Name: "Bash", Arguments: bash("other")}); err != nil {
		t.Fatal(err)
	}
	w.until("a", "auto", plexus.JudgeFail(1))
	if _, err := w.client.Admit(t.Context(), "s", wire.NewJob{ID: "here", Parent: "turn", Kind: "SystemToolJob", Name: "Bash", Arguments: bash("let it")}); err != nil {
		t.Fatal(err)
	}
	w.until("s", "here", plexus.Completed)

	seen := make(map[string]bool)
	ask := func(token, method, path, body string) {
		t.Helper()
		headers := []string{"Authorization: Bearer " + token}
		status, text := w.raw(request(method, path, body, headers...))
		route := routeOf(t, method, path)
		op := doc.Paths.Find(plain(route.Path)).GetOperation(method)
		key := fmt.Sprintf("%s %s %d", method, plain(route.Path), status)
		seen[key] = true
		response := op.Responses.Status(status)
		if response == nil {
			t.Errorf("%s: %s %s %s is not written down\n%s", key, token, path, body, text)
			return
		}
		for kind, media := range response.Value.Content {
			if kind == "application/yaml" || kind == wire.EventStream {
				continue
			}
			valid(t, key, media.Schema.Value, text)
		}
	}
	const none = "/v1/sessions/none"
	// What every operation refuses.
	for _, r := range api.Routes() {
		path := plain(r.Path)
		for name, value := range map[string]string{"session": "s", "job": "let", "name": "approved", "watch": "none"} {
			path = strings.ReplaceAll(path, "{"+name+"}", value)
		}
		body := ""
		if r.Body {
			body = "true"
		}
		ask("mallory", r.Method, path, body)
		ask("ada", r.Method, path+"?nonsense=1", body)
		if !r.Agents {
			ask("hook", r.Method, path, body)
		}
	}
	for _, path := range []string{"", "/queue", "/registers", "/presence", "/watch", "/jobs/j", "/jobs/j/receipt"} {
		ask("ada", "GET", none+path, "")
	}
	// What comes of what is asked rightly, and what the document refuses.
	for _, a := range []struct{ token, method, path, body string }{
		{"ada", "GET", "/v1/status", ""},
		{"hook", "GET", "/v1/status", ""},
		{"hook", "GET", "/v1/openapi.yaml", ""},
		{"ada", "GET", "/v1/sessions", ""},
		{"ada", "GET", "/v1/sessions?limit=1&open=true&begins=s", ""},
		{"hook", "POST", "/v1/sessions", `{"workspace":"/","facts":{"a":1}}`},
		{"hook", "POST", "/v1/sessions", `{"workspace":"/usr/lib","facts":{"a":1}}`},
		{"spy", "POST", "/v1/sessions", `{"workspace":"/usr/lib","parent":"s"}`},
		{"ada", "POST", "/v1/sessions", `{"workspace":"/","parent":"none"}`},
		{"ada", "POST", "/v1/sessions", `{"workspace":"/","id":"s"}`},
		{"ada", "POST", "/v1/sessions", `{"workspace":"x"}`},
		{"ada", "GET", "/v1/sessions/s", ""},
		{"ada", "GET", "/v1/sessions/a", ""},
		{"ada", "GET", "/v1/sessions/s?limit=1", ""},
		{"ada", "GET", "/v1/sessions/s?after=1", ""},
		{"ada", "GET", "/v1/sessions/s/registers?limit=1&after=1", ""},
		{"ada", "PUT", "/v1/sessions/s/mode", `{"mode":"auto"}`},
		{"ada", "PUT", "/v1/sessions/s/mode", `{"mode":"manual","remember":true}`},
		{"ada", "PUT", "/v1/sessions/u/mode", `{"mode":"auto"}`},
		{"ada", "PUT", "/v1/sessions/a/agent", `{"process":7}`},
		{"ada", "PUT", "/v1/sessions/a/agent", `{"process":8}`},
		{"ada", "PUT", none + "/agent", `{"process":7}`},
		{"ada", "PUT", "/v1/sessions/s/mode", `{"mode":"act"}`},
		{"ada", "PUT", none + "/mode", `{"mode":"auto"}`},
		{"ada", "GET", "/v1/sessions/s/queue", ""},
		{"ada", "GET", "/v1/sessions/s/queue?under=turn", ""},
		{"ada", "GET", "/v1/queue", ""},
		{"ada", "GET", "/v1/queue?limit=1&skip=1", ""},
		{"ada", "GET", "/v1/queue?limit=1", ""},
		{"ada", "GET", "/v1/queue?after=none.0", ""},
		{"ada", "GET", "/v1/sessions/s/queue?after=none.0", ""},
		{"ada", "GET", "/v1/sessions/s/registers", ""},
		{"ada", "PUT", "/v1/sessions/s/registers/autoAllow", `{"bash":true}`},
		{"ada", "PUT", "/v1/sessions/s/registers/overlay/turn", `"yolo"`},
		{"ada", "PUT", "/v1/sessions/s/registers/overlay%2Fturn", `"manual"`},
		{"ada", "PUT", "/v1/sessions/s/registers/none", "1"},
		{"ada", "PUT", "/v1/sessions/s/registers/autoAllow", "1"},
		{"ada", "PUT", "/v1/sessions/u/registers/standingPolicy", `"manual"`},
		{"ada", "PUT", "/v1/sessions/a/registers/autoAllow", `{"bash":"2999-01-01T00:00:00Z"}`},
		{"ada", "PUT", "/v1/sessions/a/registers/autoAllow", `{"bash":"soon"}`},
		{"ada", "GET", "/v1/sessions/a/jobs/auto", ""},
		{"ada", "GET", "/v1/grants", ""},
		{"ada", "GET", "/v1/grants?session=s", ""},
		{"ada", "GET", "/v1/grants?session=none", ""},
		{"ada", "GET", "/v1/registers", ""},
		{"ada", "PUT", "/v1/registers/standingAutoAllow", `{"write":true}`},
		{"ada", "PUT", "/v1/registers/autoCoverDeny", "false"},
		{"ada", "PUT", "/v1/registers/defaultPolicy", `"auto"`},
		{"ada", "PUT", "/v1/registers/defaultPolicy?seen=1", `"manual"`},
		{"ada", "PUT", "/v1/registers/none", "1"},
		{"ada", "PUT", "/v1/registers/defaultPolicy", "1"},
		{"ada", "GET", "/v1/sessions/s/presence", ""},
		{"ada", "GET", "/v1/presence", ""},
		{"ada", "GET", "/v1/tools", ""},
		{"ada", "POST", "/v1/tools", ""},
		{"hook", "POST", "/v1/tools", ""},
		{"ada", "GET", "/v1/sessions/s/watch?after=1000000", ""},
		{"ada", "GET", "/v1/watch?after=1000000", ""},
		{"hook", "POST", "/v1/sessions/s/jobs", `{"name":"Read","arguments":{"file_path":"x"},"facts":{}}`},
		{"hook", "POST", "/v1/sessions/s/jobs", `{"name":"Read","id":"let"}`},
		{"hook", "POST", "/v1/sessions/s/jobs", `{"name":""}`},
		{"hook", "POST", none + "/jobs", `{"name":"Read"}`},
		{"ada", "GET", "/v1/sessions/s/jobs/turn", ""},
		{"ada", "GET", "/v1/sessions/s/jobs/let", ""},
		{"ada", "GET", "/v1/sessions/s/jobs/never", ""},
		{"ada", "GET", "/v1/sessions/s/jobs/here", ""},
		{"ada", "GET", "/v1/sessions/a/jobs/auto", ""},
		{"hook", "GET", "/v1/sessions/s/jobs/let/receipt?wait=settled", ""},
		{"hook", "GET", "/v1/sessions/s/jobs/never/receipt?wait=decided", ""},
		{"ada", "GET", "/v1/sessions/s/jobs/turn/receipt", ""},
		{"hook", "POST", "/v1/sessions/s/same", `{"name":"Read","arguments":{"file_path":"x"}}`},
		{"ada", "POST", "/v1/sessions/s/same", `{"name":"Read"}`},
		{"hook", "POST", "/v1/sessions/s/same", `{"name":"Read","arguments":1}`},
		{"hook", "POST", "/v1/sessions/s/same", `{"names":"Read"}`},
		{"hook", "POST", none + "/same", `{"name":"Read"}`},
		{"hook", "POST", "/v1/sessions/s/ran", `{"name":"Bash","arguments":{"command":"let run"},"ok":true}`},
		{"hook", "POST", "/v1/sessions/s/ran", `{"name":"Bash","arguments":{"command":"let run"},"ok":true,"unasked":true}`},
		{"hook", "POST", "/v1/sessions/s/ran", `{"name":"","ok":true,"unasked":true}`},
		{"hook", "POST", "/v1/sessions/s/hold", `{"name":"Read","arguments":1}`},
		{"hook", "POST", "/v1/sessions/s/hold", `{"names":"Read"}`},
		{"hook", "POST", none + "/hold", `{"name":"Read"}`},
		{"hook", "POST", "/v1/sessions/s/hold", `{"id":"held","name":"Bash","arguments":{"command":"let it be held"}}`},
		{"hook", "POST", "/v1/sessions/s/jobs/let/heard", ""},
		{"hook", "POST", "/v1/sessions/s/jobs/let/leave", ""},
		{"hook", "POST", "/v1/sessions/s/jobs/let/heard", ""},
		{"hook", "POST", "/v1/sessions/s/jobs/none/leave", ""},
		{"hook", "POST", "/v1/sessions/s/jobs/none/heard", ""},
		{"hook", "POST", "/v1/sessions/s/jobs/let/begin", ""},
		{"hook", "POST", "/v1/sessions/s/jobs/let/begin", ""},
		{"hook", "POST", "/v1/sessions/s/jobs/none/begin", ""},
		{"hook", "POST", "/v1/sessions/s/jobs/let/report", "null"},
		{"hook", "POST", "/v1/sessions/s/jobs/let/report", `{"ok":true,"text":"two\nlines"}`},
		{"hook", "POST", "/v1/sessions/s/jobs/let/report", "{}"},
		{"hook", "POST", "/v1/sessions/s/jobs/none/report", "{}"},
		{"hook", "GET", "/v1/sessions/s/jobs/let/receipt?wait=settled", ""},
		{"ada", "PUT", "/v1/sessions/s/jobs/other/approvalComment", `"no\u00e9"`},
		{"ada", "PUT", "/v1/sessions/s/jobs/other/approvalComment", `"again"`},
		{"ada", "PUT", "/v1/sessions/s/jobs/other/none", `1`},
		{"ada", "PUT", "/v1/sessions/s/jobs/other/approved", `1`},
		{"ada", "POST", "/v1/sessions/s/writes", `{"writes":[{"job":"other","name":"approved","value":true},{"name":"autoCoverDeny","value":false}]}`},
		{"ada", "POST", "/v1/sessions/s/writes", `{"writes":[{"job":"other","name":"approved","value":true}]}`},
		{"ada", "POST", "/v1/sessions/s/writes", `{"writes":[{"job":"none","name":"approved","value":true}]}`},
		{"ada", "POST", "/v1/sessions/s/writes", `{"seen":999999999,"writes":[{"name":"autoCoverDeny","value":false}]}`},
		{"ada", "POST", "/v1/sessions/s/writes", `{"seen":-1,"writes":[{"name":"autoCoverDeny","value":false}]}`},
		{"ada", "PUT", "/v1/registers/defaultPolicy?seen=999999999", `"manual"`},
		{"ada", "POST", "/v1/sessions/s/writes", `{"writes":[]}`},
		{"hook", "POST", "/v1/sessions/s/jobs/no/cancel", ""},
		{"hook", "POST", "/v1/sessions/s/jobs/no/cancel", ""},
		{"hook", "POST", "/v1/sessions/s/jobs/none/cancel", ""},
		{"ada", "POST", "/v1/sessions/s/cancel", ""},
		{"ada", "POST", none + "/cancel", ""},
		{"hook", "POST", "/v1/sessions/s/hold", `{"name":"Bash","arguments":{"command":"let it be"}}`},
		{"ada", "GET", "/v1/calls", ""},
		{"ada", "GET", "/v1/calls?session=s&since=2020-01-01T00:00:00Z&until=2100-01-01T00:00:00Z&result=allow&tool=bash&limit=1", ""},
		{"ada", "GET", "/v1/calls?session=none", ""},
		{"ada", "GET", "/v1/rows", ""},
		{"ada", "GET", "/v1/rows?session=s&after=3&limit=2", ""},
		{"ada", "GET", "/v1/rows?after=1000000", ""},
		{"ada", "POST", "/v1/tokens", `{"name":"phone"}`},
		{"ada", "POST", "/v1/tokens", `{"name":"phone"}`},
		{"ada", "POST", "/v1/tokens", `{"name":"a phone"}`},
		{"ada", "GET", "/v1/tokens", ""},
		{"ada", "DELETE", "/v1/tokens/phone", ""},
		{"ada", "DELETE", "/v1/tokens/phone", ""},
		{"ada", "POST", "/v1/verify", "{}"},
		{"ada", "POST", "/v1/verify", `{"heads":[{"rev":1,"hash":"` + strings.Repeat("0", 64) + `"}]}`},
		{"ada", "POST", "/v1/verify", `{"heads":[{"rev":1,"hash":"x"}]}`},
	} {
		ask(a.token, a.method, a.path, a.body)
	}
	// A watch that stands, and its sign of life.
	watching := w.watch("ada", "/v1/watch")
	ask("ada", "POST", "/v1/watches/"+watching.id, "")
	ask("ada", "POST", "/v1/watches/none", "")
	ask("ada", "GET", "/v1/status", "")
	// The events of the watches.
	for path, session := range map[string]string{"/v1/watch": "", ofSession: "s"} {
		seen["GET "+path+" 200"] = true
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		rows, presence := false, false
		for e, err := range w.client.Watch(ctx, session, 0) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Presence != nil {
				presence = true
				text, _ := json.Marshal(e.Presence)
				valid(t, path, doc.Components.Schemas["PresenceOf"].Value, string(text))
			}
			for _, row := range e.Rows {
				rows = true
				text, _ := json.Marshal(row)
				valid(t, path, doc.Components.Schemas["Row"].Value, string(text))
			}
			if rows && presence {
				break
			}
		}
	}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			for status := range op.Responses.Map() {
				if key := method + " " + path + " " + status; status != "default" && !seen[key] {
					t.Errorf("%s is written down, and was never answered", key)
				}
			}
		}
	}
}

const ofSession = "/v1/sessions/{session}/watch"

// routeOf is the route that a path is for.
func routeOf(t *testing.T, method, path string) (found api.Route) {
	t.Helper()
	path, _, _ = strings.Cut(path, "?")
	mux := http.NewServeMux()
	for _, r := range api.Routes() {
		if r.Method == method {
			mux.HandleFunc(r.Path, func(http.ResponseWriter, *http.Request) { found = r })
		}
	}
	req, err := http.NewRequest(method, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	h, _ := mux.Handler(req)
	h.ServeHTTP(nil, req)
	return found
}

func valid(t *testing.T, what string, schema *openapi3.Schema, text string) {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Errorf("%s: %v\n%s", what, err, text)
		return
	}
	if err := schema.VisitJSON(v, openapi3.MultiErrors()); err != nil {
		t.Errorf("%s: %v\n%s", what, err, text)
	}
}
