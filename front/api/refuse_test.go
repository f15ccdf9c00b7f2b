package api_test

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"assent/front/api"
	"assent/front/api/wire"
	"assent/plexus"
)

// Requests that nobody's client sends, and what is asked by whom it is not for.
// None of them may change anything.
func TestRefused(t *testing.T) {
	w := newWorld(t, api.Options{})
	w.session("s", "manual")
	w.admit("s", "j", "other")
	w.admit("s", "open", "other")
	w.until("s", "j", plexus.PolicyResult)
	w.until("s", "open", plexus.PolicyResult)
	if _, err := w.client.Admit(t.Context(), "s", wire.NewJob{ID: "turn", Kind: plexus.SessionTurn}); err != nil {
		t.Fatal(err)
	}
	if err := w.client.Cancel(t.Context(), "s", "j"); err != nil { // settled from here on
		t.Fatal(err)
	}
	before, err := w.doc.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	const approved = "/v1/sessions/s/jobs/open/approved"
	get := func(path string, headers ...string) string { return request("GET", path, "", headers...) }
	put := func(path, body string, headers ...string) string { return request("PUT", path, body, headers...) }
	post := func(path, body string, headers ...string) string { return request("POST", path, body, headers...) }
	as := func(token string) string { return "Authorization: Bearer " + token }
	deep := strings.Repeat("[", 20_000)
	tests := []struct {
		why, request string
		want         int
		code         wire.Code
	}{
		// Who asks.
		{"a stranger", get("/v1/status", as("mallory")), 403, wire.Role},
		{"nobody", get("/v1/status", as("nobody")), 403, wire.Role},
		{"a person without a name", get("/v1/status", as("nameless")), 403, wire.Role},
		{"somebody who says that it is the host", get("/v1/status", as("host")), 403, wire.Role},
		{"a stranger learns no paths", get("/v1/none", as("mallory")), 403, wire.Role},
		{"two tokens", get("/v1/status", as("hook"), as("ada")), 400, wire.BadRequest},
		{"two tokens in one header", get("/v1/status", "Authorization: Bearer hook, Bearer ada"), 400, wire.BadRequest},
		{"a token of another sort", get("/v1/status", "Authorization: Basic YWRhOg=="), 400, wire.BadRequest},
		{"an empty token", get("/v1/status", "Authorization: Bearer "), 400, wire.BadRequest},
		{"a role that is claimed", put(approved, "true", as("hook"), "X-Role: human", "X-Forwarded-User: ada"), 403, wire.Role},
		{"an agent answers", put(approved, "true", as("hook")), 403, wire.Role},
		{"an agent comments", put("/v1/sessions/s/jobs/open/approvalComment", `"yes"`, as("hook")), 403, wire.Role},
		{"an agent answers by writes", post("/v1/sessions/s/writes", `{"writes":[{"job":"open","name":"approved","value":true}]}`, as("hook")), 403, wire.Role},
		{"an agent sets the mode", put("/v1/sessions/s/mode", `{"mode":"yolo"}`, as("hook")), 403, wire.Role},
		{"an agent grants", put("/v1/sessions/s/registers/autoAllow", `{"bash":true}`, as("hook")), 403, wire.Role},
		{"an agent grants to all", put("/v1/registers/standingAutoAllow", `{"bash":true}`, as("hook")), 403, wire.Role},
		{"an agent reads the log", get("/v1/rows", as("hook")), 403, wire.Role},
		{"an agent watches", get("/v1/watch", as("hook")), 403, wire.Role},
		{"an agent reads a session", get("/v1/sessions/s", as("hook")), 403, wire.Role},
		{"an agent reads a leaf", get("/v1/sessions/s/jobs/open", as("hook")), 403, wire.Role},
		{"an agent reads the receipt of another", get("/v1/sessions/s/jobs/open/receipt", as("spy")), 404, wire.NoJob},
		{"an agent cancels the call of another", post("/v1/sessions/s/jobs/open/cancel", "", as("spy")), 404, wire.NoJob},
		{"an agent reports on the call of another", post("/v1/sessions/s/jobs/open/report", "{}", as("spy")), 404, wire.NoJob},
		{"an agent begins the call of another", post("/v1/sessions/s/jobs/open/begin", "", as("spy")), 404, wire.NoJob},
		{"to an agent no session is as no job", get("/v1/sessions/none/jobs/j/receipt", as("spy")), 404, wire.NoJob},
		{"an agent cancels a session", post("/v1/sessions/s/cancel", "", as("hook")), 403, wire.Role},
		{"an agent mints communication", post("/v1/sessions/s/jobs", `{"kind":"AgentMessageJob","name":"agent_message"}`, as("hook")), 403, wire.Role},
		{"an agent mints a turn", post("/v1/sessions/s/jobs", `{"kind":"SessionTurn"}`, as("hook")), 403, wire.Role},
		{"an agent chooses its mode", post("/v1/sessions", `{"workspace":"/","mode":"yolo"}`, as("hook")), 403, wire.Role},
		{"an agent is unattended", post("/v1/sessions", `{"workspace":"/","seat":"unattended"}`, as("hook")), 403, wire.Role},
		{"a person writes a vote of the host", put("/v1/sessions/s/jobs/open/policyResult", `"allow"`), 403, wire.Role},
		{"a person orchestrates", put("/v1/sessions/s/jobs/open/orchestrationResult", "true"), 403, wire.Role},
		{"a person completes", put("/v1/sessions/s/jobs/open/completed", "true"), 403, wire.Role},
		{"a person writes for the host", put("/v1/registers/host%2Fx", "1"), 403, wire.Role},

		// Web pages.
		{"a page", get("/v1/status", "Origin: https://example.com"), 403, wire.Browser},
		{"a page of nowhere", get("/v1/status", "Origin: null"), 403, wire.Browser},
		{"an empty origin", get("/v1/status", "Origin:"), 403, wire.Browser},
		{"a browser", get("/v1/status", "Sec-Fetch-Site: none"), 403, wire.Browser},
		{"a browser in capitals", get("/v1/status", "SEC-FETCH-MODE: no-cors"), 403, wire.Browser},
		{"a preflight", request("OPTIONS", approved, "", "Access-Control-Request-Method: PUT"), 403, wire.Browser},
		{"a name that was rebound", get("/v1/status", "Host: rebound.example.com"), 403, wire.Browser},
		{"localhost", get("/v1/status", "Host: localhost"), 403, wire.Browser},
		{"a port", get("/v1/status", "Host: assent:80"), 403, wire.Browser},
		{"no host", get("/v1/status", "Host:"), 403, wire.Browser},
		{"two hosts", get("/v1/status", "Host: assent", "Host: assent"), 400, ""},
		{"a host in the path", get("http://example.com/v1/status"), 403, wire.Browser},
		{"a form of a page", put(approved, "true", "Content-Type: text/plain"), 415, wire.MediaType},

		// Paths.
		{"nothing there", get("/v1/none"), 404, wire.NotFound},
		{"no version", get("/status"), 404, wire.NotFound},
		{"another version", get("/v2/status"), 404, wire.NotFound},
		{"the root", get("/"), 404, wire.NotFound},
		{"a slash behind", get("/v1/status/"), 404, wire.NotFound},
		{"two slashes", get("//v1/status"), 404, wire.NotFound},
		{"up", get("/v1/sessions/../status"), 404, wire.NotFound},
		{"here", get("/v1/./status"), 404, wire.NotFound},
		{"up, in code", get("/v1/sessions/%2e%2e"), 404, wire.NoSession},
		{"a slash in code is in the name", get("/v1/sessions/s%2Fjobs%2Fopen"), 404, wire.NoSession},
		{"a NUL", get("/v1/sessions/s%00"), 404, wire.NotFound},
		{"a line feed", get("/v1/sessions/s%0a"), 404, wire.NotFound},
		{"not ASCII", get("/v1/sessions/s%c3%a9"), 404, wire.NotFound},
		{"bad code", get("/v1/sessions/s%zz"), 400, ""},
		{"capitals", get("/V1/status"), 404, wire.NotFound},
		{"parameters of a path", get("/v1/status;x=1"), 404, wire.NotFound},

		// Methods.
		{"not for it", request("DELETE", approved, ""), 405, wire.Method},
		{"head", request("HEAD", "/v1/status", ""), 405, ""},
		{"patch", request("PATCH", approved, "true"), 405, wire.Method},
		{"small letters", request("put", approved, "true"), 405, wire.Method},
		{"a method in a header", post("/v1/status", "", "X-HTTP-Method-Override: PUT"), 405, wire.Method},
		{"connect", "CONNECT assent:80 HTTP/1.1\r\nHost: assent\r\n\r\n", 403, wire.Browser},
		{"connect without a port", "CONNECT assent HTTP/1.1\r\nHost: assent\r\n\r\n", 404, wire.NotFound},
		{"everything", request("OPTIONS", "*", ""), 404, wire.NotFound},
		{"a field is put, not posted", post(approved, "true"), 405, wire.Method},

		// Queries.
		{"an unknown one", get("/v1/sessions?all=1"), 400, wire.BadRequest},
		{"one twice", get("/v1/sessions?limit=1&limit=2"), 400, wire.BadRequest},
		{"a semicolon", get("/v1/sessions?limit=1;limit=2"), 400, wire.BadRequest},
		{"no number", get("/v1/sessions?limit=x"), 400, wire.BadRequest},
		{"a number by another name", get("/v1/sessions?limit=%2B1"), 400, wire.BadRequest},
		{"less than nothing", get("/v1/sessions?limit=-1"), 400, wire.BadRequest},
		{"too many", get("/v1/sessions?limit=10001"), 400, wire.BadRequest},
		{"no time", get("/v1/calls?since=yesterday"), 400, wire.BadRequest},
		{"no result", get("/v1/calls?result=maybe"), 400, wire.BadRequest},
		{"no truth", get("/v1/sessions?open="), 400, wire.BadRequest},
		{"nothing to wait for", get("/v1/sessions/s/jobs/open/receipt?wait=ever"), 400, wire.BadRequest},
		{"a query to a write", put(approved+"?x=1", "true"), 400, wire.BadRequest},
		{"a rev of another document", get("/v1/watch?after=100000"), 409, wire.Future},
		{"an id of another document", get("/v1/watch", "Last-Event-ID: 100000"), 409, wire.Future},
		{"no id", get("/v1/watch", "Last-Event-ID: -1"), 400, wire.BadRequest},
		{"two ids", get("/v1/watch", "Last-Event-ID: 1", "Last-Event-ID: 2"), 400, wire.BadRequest},
		{"an id of another number", get("/v1/watch", "Last-Event-ID: 0x1"), 400, wire.BadRequest},

		// Bodies.
		{"not there", put(approved, "", "Content-Type: application/json", "Content-Length: 0"), 400, wire.BadJSON},
		{"of no type", put(approved, "true", "Content-Type:"), 415, wire.MediaType},
		{"of two types", put(approved, "true", "Content-Type: application/json", "Content-Type: application/json"), 400, wire.BadRequest},
		{"of another alphabet", put(approved, "true", "Content-Type: application/json; charset=utf-16"), 415, wire.MediaType},
		{"packed", put(approved, "true", "Content-Encoding: gzip"), 415, wire.MediaType},
		{"where none belongs", request("GET", "/v1/status", "{}"), 400, wire.BadRequest},
		{"in chunks where none belongs", request("GET", "/v1/status", "0\r\n\r\n", "Transfer-Encoding: chunked"), 400, wire.BadRequest},
		{"an unknown encoding", put(approved, "true", "Transfer-Encoding: gzip"), 501, ""},
		{"two lengths", put(approved, "true", "Content-Length: 4", "Content-Length: 5"), 400, ""},
		{"a length that is none", put(approved, "true", "Content-Length: +4"), 400, ""},
		{"too long", put(approved, `"`+strings.Repeat("x", 300<<10)+`"`), 413, wire.TooLarge},
		{"too long in chunks", put(approved, fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", 300<<10, strings.Repeat("1", 300<<10)), "Transfer-Encoding: chunked"), 413, wire.TooLarge},
		{"headers too long", get("/v1/status", "X: "+strings.Repeat("x", 64<<10)), 431, ""},

		// JSON.
		{"none", put(approved, "yes"), 400, wire.BadJSON},
		{"cut off", put("/v1/sessions/s/mode", `{"mode":"yolo"`), 400, wire.BadJSON},
		{"something behind", put(approved, "true false"), 400, wire.BadJSON},
		{"a comma behind", put(approved, "true,"), 400, wire.BadJSON},
		{"a BOM", put(approved, "\ufefftrue"), 400, wire.BadJSON},
		{"capitals", put(approved, "True"), 400, wire.BadJSON},
		{"a comment", put(approved, "true // yes"), 400, wire.BadJSON},
		{"a member twice", put("/v1/sessions/s/mode", `{"mode":"manual","mode":"yolo"}`), 400, wire.BadJSON},
		{"a member twice, once escaped", put("/v1/sessions/s/mode", `{"mode":"manual","\u006dode":"yolo"}`), 400, wire.BadJSON},
		{"a member twice deep in arguments", post("/v1/sessions/s/jobs", `{"name":"Bash","arguments":{"command":"let it","command":"never"}}`), 400, wire.BadJSON},
		{"an unknown member", put("/v1/sessions/s/mode", `{"mode":"yolo","always":true}`), 400, wire.BadJSON},
		{"a member in capitals", put("/v1/sessions/s/mode", `{"Mode":"yolo"}`), 400, wire.BadJSON},
		{"another type", put("/v1/sessions/s/mode", `{"mode":true}`), 400, wire.BadJSON},
		{"null for a text", put("/v1/sessions/s/mode", `{"mode":null}`), 400, wire.BadJSON},
		{"null for all", put("/v1/sessions/s/mode", `null`), 400, wire.BadJSON},
		{"null for a list", post("/v1/sessions/s/writes", `{"writes":null}`), 400, wire.BadJSON},
		{"a list for an object", put("/v1/sessions/s/mode", `["yolo"]`), 400, wire.BadJSON},
		{"not UTF-8", put("/v1/sessions/s/jobs/open/approvalComment", "\"\xff\""), 400, wire.BadJSON},
		{"half a surrogate", put("/v1/sessions/s/jobs/open/approvalComment", `"\ud800"`), 400, wire.BadJSON},
		{"too deep", put(approved, deep), 400, wire.BadJSON},
		{"a number too large", post("/v1/sessions/s/writes", `{"seen":99999999999999999999,"writes":[]}`), 400, wire.BadJSON},
		{"a number with a point", post("/v1/sessions/s/writes", `{"seen":1.5,"writes":[]}`), 400, wire.BadJSON},

		// Values.
		{"null is no answer", put(approved, "null"), 422, wire.Value},
		{"a text is no answer", put(approved, `"true"`), 422, wire.Value},
		{"one is no answer", put(approved, "1"), 422, wire.Value},
		{"no such field", put("/v1/sessions/s/jobs/open/approve", "true"), 404, wire.NoName},
		{"no such register", put("/v1/sessions/s/registers/mode", `"yolo"`), 404, wire.NoName},
		{"a register elsewhere", put("/v1/registers/readAllowlist", `["/"]`), 404, wire.NoName},
		{"no such job", put("/v1/sessions/s/jobs/none/approved", "true"), 404, wire.NoJob},
		{"no such session", get("/v1/sessions/none"), 404, wire.NoSession},
		{"no such session to watch", get("/v1/sessions/none/watch"), 404, wire.NoSession},
		{"nothing to cancel", post("/v1/sessions/s/jobs/none/cancel", ""), 404, wire.NoJob},
		{"a sequence is not approved", put("/v1/sessions/s/jobs/turn/approved", "true"), 422, wire.Geometry},
		{"a sequence has no receipt", get("/v1/sessions/s/jobs/turn/receipt"), 422, wire.Geometry},
		{"plan", put("/v1/sessions/s/mode", `{"mode":"plan"}`), 422, wire.Mode},
		{"a seat that is none", post("/v1/sessions", `{"workspace":"/","seat":"window"}`), 422, wire.Value},
		{"a workspace that is none", post("/v1/sessions", `{"workspace":"src"}`), 422, wire.Place},
		{"no workspace", post("/v1/sessions", `{}`), 422, wire.Place},
		{"unattended and manual", post("/v1/sessions", `{"workspace":"/","seat":"unattended","mode":"manual"}`), 422, wire.Mode},
		{"a session twice", post("/v1/sessions", `{"id":"s","workspace":"/"}`), 409, wire.Written},
		{"a session with a name of blanks", post("/v1/sessions", `{"id":"a b","workspace":"/"}`), 422, wire.Value},
		{"facts that are none", post("/v1/sessions", `{"workspace":"/","facts":[]}`), 422, wire.Value},
		{"a call twice", post("/v1/sessions/s/jobs", `{"id":"open","name":"Bash"}`, as("hook")), 409, wire.Written},
		{"a call without a name", post("/v1/sessions/s/jobs", `{}`, as("hook")), 422, wire.Value},
		{"arguments that are none", post("/v1/sessions/s/jobs", `{"name":"Bash","arguments":["ls"]}`, as("hook")), 422, wire.Value},
		{"arguments that are null", post("/v1/sessions/s/jobs", `{"name":"Bash","arguments":null}`, as("hook")), 422, wire.Value},
		{"arguments too long", post("/v1/sessions/s/jobs", `{"name":"Bash","arguments":{"command":"`+strings.Repeat("x", 1<<20)+`"}}`, as("hook")), 422, wire.Value},
		{"a name too long", post("/v1/sessions/s/jobs", `{"name":"`+strings.Repeat("x", 2000)+`"}`, as("hook")), 413, wire.TooLarge},
		{"begun without a license", post("/v1/sessions/s/jobs/open/begin", "", as("hook")), 409, wire.Unlicensed},
		{"reported without a license", post("/v1/sessions/s/jobs/open/report", "{}", as("hook")), 409, wire.Unlicensed},
		{"reported after the end", post("/v1/sessions/s/jobs/j/report", "{}", as("hook")), 409, wire.Unlicensed},
		{"nothing to write", post("/v1/sessions/s/writes", `{"writes":[]}`), 422, wire.Value},
		{"half of it wrong", post("/v1/sessions/s/writes", `{"writes":[{"job":"open","name":"approvalComment","value":"x"},{"job":"open","name":"approved","value":2}]}`), 422, wire.Value},
		{"decided on an old view", post("/v1/sessions/s/writes", `{"seen":1,"writes":[{"job":"open","name":"approved","value":true}]}`), 409, wire.Stale},
		{"a head before the first", post("/v1/verify", `{"heads":[{"rev":-1,"hash":"`+strings.Repeat("0", 64)+`"}]}`), 422, wire.Value},
		{"no hash", post("/v1/verify", `{"heads":[{"rev":1,"hash":"00"}]}`), 422, wire.Value},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			w := &world{TB: t, socket: w.socket}
			status, body := w.raw(test.request)
			if status != test.want || code(body) != test.code {
				t.Errorf("%.200q: got %d %s, want %d %s\n%.400s", test.request, status, code(body), test.want, test.code, body)
			}
		})
	}
	after, err := w.doc.Head(t.Context())
	if err != nil || after != before {
		rows, _ := w.doc.Since(t.Context(), before.Rev, 0)
		t.Errorf("something was written: %v, %v", rows, err)
	}
}

// Without a role for its connection nobody is answered, whatever is asked.
func TestNoRole(t *testing.T) {
	for _, role := range []func(net.Conn) api.Caller{nil, func(net.Conn) api.Caller { return nil }} {
		s := api.New(api.Options{Role: role})
		server, other := net.Pipe()
		l := &once{conn: server, done: make(chan struct{})}
		served := make(chan error)
		go func() { served <- s.Serve(l) }()
		go other.Write([]byte(request("GET", "/v1/status", "")))
		if status, body := answer(other); status != http.StatusForbidden || code(body) != wire.Role {
			t.Errorf("%d %s", status, body)
		}
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	}
}

// once is a listener with one connection.
type once struct {
	conn net.Conn
	done chan struct{}
}

func (l *once) Accept() (net.Conn, error) {
	if conn := l.conn; conn != nil {
		l.conn = nil
		return conn, nil
	}
	<-l.done
	return nil, net.ErrClosed
}
func (l *once) Close() error   { close(l.done); return nil }
func (l *once) Addr() net.Addr { return &net.UnixAddr{} }

// What is wrong with a body is said with its place.
func TestPlaceOfWhatIsWrong(t *testing.T) {
	w := newWorld(t, api.Options{})
	w.session("s", "manual")
	tests := []struct{ body, at, detail string }{
		{`{"mode":true}`, "/mode", "a boolean where a string belongs"},
		{`{"mode":"yolo","x":1}`, "/x", "an unknown member"},
		{`{"mode":"yolo","mode":"yolo"}`, "/mode", `duplicate object member name`},
		{`{"mode":null}`, "/mode", "null says nothing here"},
		{`{"mode":"yolo"`, "", "unexpected EOF"},
	}
	for _, test := range tests {
		_, body := w.raw(request("PUT", "/v1/sessions/s/mode", test.body))
		if !strings.Contains(body, `"at":"`+test.at+`"`) && test.at != "" || !strings.Contains(body, test.detail) {
			t.Errorf("%s: %s, want %q at %q", test.body, body, test.detail, test.at)
		}
	}
}
