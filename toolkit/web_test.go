package toolkit

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"assent/job"

	"github.com/go-json-experiment/json"
)

// site is a web server of the test's own.
func site(t *testing.T) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	answer := func(path, kind, text string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			fmt.Fprint(w, text)
		})
	}
	answer("/page", "text/html; charset=utf-8", `<html><head><title>t</title><script>no()</script></head><body><h1>Head</h1><p>Some <b>text</b>.</p></body></html>`)
	answer("/latin", "text/html; charset=iso-8859-1", "<p>caf\xe9</p>")
	answer("/json", "application/json", `{"a":1}`)
	answer("/image", "image/png", "\x89PNG")
	answer("/long", "text/plain", strings.Repeat("x", maxPage+10))
	mux.HandleFunc("/none", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "nothing here", http.StatusNotFound) })
	mux.HandleFunc("/to", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Query().Get("where"), http.StatusFound)
	})
	mux.HandleFunc("/loop", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/loop", http.StatusFound) })
	mux.HandleFunc("/slow", func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/drip", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "begun")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	mux.HandleFunc("/search", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		fmt.Fprintf(w, "found %q", r.URL.Query().Get("q"))
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func extract(t *testing.T, ctx context.Context, w *web, address string) (pageOutcome, error) {
	t.Helper()
	arguments, err := json.Marshal(map[string]string{"url": address})
	must(t, err)
	text, err := w.extract(ctx, job.Call{Kind: job.WebExtractTool, Name: "web_extract", Arguments: arguments})
	var out pageOutcome
	if err == nil {
		must(t, json.Unmarshal(text, &out))
	}
	return out, err
}

func TestAPageIsText(t *testing.T) {
	s := site(t)
	w := &web{limit: time.Minute}
	for _, row := range []struct {
		name, path string
		ok, more   bool
		want       string
	}{
		{"a web page", "/page", true, false, "# Head\n\nSome **text**."},
		{"another alphabet", "/latin", true, false, "café"},
		{"data", "/json", true, false, `{"a":1}`},
		{"no text", "/image", false, false, "it is image/png and no text"},
		{"a long answer", "/long", true, true, "bytes left out"},
		{"an error", "/none", false, false, "nothing here"},
		{"an endless way", "/loop", false, false, "not judged"},
	} {
		t.Run(row.name, func(t *testing.T) {
			out, err := extract(t, t.Context(), w, s.URL+row.path)
			must(t, err)
			if out.OK != row.ok || out.More != row.more || !strings.Contains(out.Text, row.want) || strings.Contains(out.Text, "no()") {
				t.Errorf("%.300q %+v", out.Text, out.OK)
			}
		})
	}
}

func TestOnlyTheWebIsRead(t *testing.T) {
	for _, address := range []string{"", "file:///etc/passwd", "ftp://example.com/", "http:///x", "//example.com", "gopher://x", "http://name:word@example.com/", "http://[::1", "javascript:1",
		"http://evi\u217c.com/", "http://evil.c\u1d52m/", "http://\u2169vil.com", "http://caf\u00e9.example/", "http://ev%C4%B1l.com/", "http://exam\u00adple.com/"} {
		out, err := extract(t, t.Context(), &web{limit: time.Minute}, address)
		if err != nil || out.OK || out.Status != 0 {
			t.Errorf("%s: %+v %v", address, out, err)
		}
	}
}

// A redirection is another address, and the license was for the first.
func TestARedirectionIsJudged(t *testing.T) {
	s, other := site(t), site(t)
	no := errors.New("a rule denies it")
	for _, row := range []struct {
		name, where string
		contact     func(string) error
		ok          bool
		want        string
	}{
		{"what the floor allows", other.URL + "/json", func(string) error { return nil }, true, `{"a":1}`},
		{"what it does not", other.URL + "/json", func(string) error { return no }, false, "a rule denies it"},
		{"nobody to ask", other.URL + "/json", nil, false, "not judged"},
		{"another scheme", "file:///etc/passwd", func(string) error { return nil }, false, "only http and https"},
		{"one that leads on", s.URL + "/to?where=" + url.QueryEscape(other.URL+"/json"), func(a string) error {
			if strings.HasPrefix(a, other.URL) {
				return no
			}
			return nil
		}, false, "a rule denies it"},
		{"one without end", s.URL + "/loop", func(string) error { return nil }, false, "more than 10"},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := &web{limit: time.Minute}
			if row.contact != nil {
				w.contact = func(_ context.Context, _ job.Call, address string) error { return row.contact(address) }
			}
			out, err := extract(t, t.Context(), w, s.URL+"/to?where="+url.QueryEscape(row.where))
			if err != nil || out.OK != row.ok || !strings.Contains(out.Text, row.want) {
				t.Errorf("%+v %v", out, err)
			}
		})
	}
}

// A name that leads to this machine or a private network is no way in: the name
// was judged, and not the number behind it.
func TestTheNumberBehindANameIsJudged(t *testing.T) {
	s := site(t)
	at, err := url.Parse(s.URL)
	must(t, err)
	transport := func(judged string, contact Contact) error {
		w := &web{limit: time.Minute, contact: contact}
		tr := w.transport(job.Call{}, judged)
		conn, err := tr.DialContext(t.Context(), "tcp", at.Host)
		if err == nil {
			conn.Close()
		}
		return err
	}
	var asked []string
	yes := func(_ context.Context, _ job.Call, address string) error { asked = append(asked, address); return nil }
	no := func(context.Context, job.Call, string) error { return errContact }
	for _, row := range []struct {
		name, judged string
		contact      Contact
		ok           bool
	}{
		{"a name, and no rule for the number", "example.com", no, false},
		{"a name, and nobody to ask", "example.com", nil, false},
		{"a name, and a rule that allows the number", "example.com", yes, true},
		{"the number itself was judged", at.Hostname(), no, true},
		{"another number was", "10.0.0.1", no, false},
		{"this machine was", "localhost", no, true},
	} {
		if err := transport(row.judged, row.contact); (err == nil) != row.ok {
			t.Errorf("%s: %v", row.name, err)
		}
	}
	if len(asked) != 1 || asked[0] != s.URL+"/" {
		t.Errorf("asked about %q", asked)
	}
}

func TestPublic(t *testing.T) {
	for number, want := range map[string]bool{
		"93.184.215.14": true, "2606:2800:21f:cb07:6820:80da:af6b:8b2c": true,
		"127.0.0.1": false, "::1": false, "10.1.2.3": false, "172.16.0.1": false, "192.168.1.1": false, "169.254.169.254": false, "fd00:ec2::254": false,
		"fe80::1": false, "100.100.100.200": false, "192.0.0.192": false, "0.0.0.0": false, "::": false, "224.0.0.1": false, "255.255.255.255": false,
		"64:ff9b::a9fe:a9fe": false, "2002:a9fe:a9fe::": false, "198.18.0.1": false,
		"168.63.129.16": false, "192.88.99.1": false, "::7f00:1": false, "::a9fe:a9fe": false, "::ffff:0:a9fe:a9fe": false, "3fff::1": false, "5f00::1": false,
		"169.254.170.2": false, "169.254.0.23": false, "168.63.129.17": true,
	} {
		if got := public(netip.MustParseAddr(number)); got != want {
			t.Errorf("%s: public %v", number, got)
		}
	}
}

func TestAWebToolEnds(t *testing.T) {
	s := site(t)
	for _, path := range []string{"/slow", "/drip"} {
		t.Run("cancelled"+path, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			why := errors.New("a person said so")
			cancel(why)
			if _, err := extract(t, ctx, &web{limit: time.Minute}, s.URL+path); !errors.Is(err, why) {
				t.Errorf("%v", err)
			}
		})
		t.Run("too long"+path, func(t *testing.T) {
			out, err := extract(t, t.Context(), &web{limit: 50 * time.Millisecond}, s.URL+path)
			if err != nil || out.OK || !strings.Contains(out.Text, "longer than 50ms") {
				t.Errorf("%+v %v", out, err)
			}
		})
	}
}

func TestSearch(t *testing.T) {
	s := site(t)
	w := &web{limit: time.Minute, search: func() string { return s.URL + "/search?q={query}" }}
	for _, row := range []struct{ arguments, want string }{
		{`{"query":"a & b"}`, `found \"a & b\"`},
		{`{"query":" "}`, "empty"},
		{`{}`, "empty"},
	} {
		text, err := w.find(t.Context(), job.Call{Kind: job.WebSearchTool, Name: "web_search", Arguments: []byte(row.arguments)})
		if err != nil || !strings.Contains(string(text), row.want) {
			t.Errorf("%s %v", text, err)
		}
	}
	if text, err := (&web{limit: time.Minute, search: func() string { return "" }}).find(t.Context(), job.Call{Arguments: []byte(`{"query":"a"}`)}); err != nil || !strings.Contains(string(text), "webSearch") {
		t.Errorf("%s %v", text, err)
	}
}

// A page that is written so that little stands for much is read as far as that is
// bounded: its tags, attributes, lines and depth.
func TestPagesThatStandForMuch(t *testing.T) {
	many := func(text string) string { return strings.Repeat(text, maxPage/len(text)) }
	names := ""
	for i := range 400 {
		names += fmt.Sprintf("<b id=%d>", i)
	}
	for why, page := range map[string]string{
		"formats that are opened again":     many("<b><p>"),
		"more of them":                      many("<b><i><u><tt><p>x"),
		"four hundred of them":              names + many("<p>x"),
		"a link that is opened again":       "<a href=" + strings.Repeat("h", 100_000) + ">" + many("<p>x"),
		"attributes that are written again": "<b" + strings.Repeat(" a"+strings.Repeat("x", 20)+"=1", 10_000) + ">" + many("<p>x"),
		"lists in lists":                    strings.Repeat("<ul><li>", 125) + many("x<br>"),
		"quotes in quotes":                  strings.Repeat("<blockquote>", 250) + "<pre>" + many("x\n"),
		"blocks in blocks":                  many("<div>"),
		"tables in tables":                  many("<table><tr><td>x"),
		"items":                             many("<li>x"),
	} {
		t.Run(why, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			text, ended, err := readable([]byte(page), "text/html")
			runtime.ReadMemStats(&after)
			if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 400 || err == nil && !ended {
				t.Errorf("%d MB for a page of %d MB, ended %v, a text of %d bytes", used, len(page)>>20, ended, len(text))
			}
		})
	}
	for why, page := range map[string]string{
		"a long page":            strings.Repeat("<div class=x><p>Some <b>bold</b> and <a href=\"/x\" onclick=y()>linked</a> text.</p></div>\n", 5_000),
		"what was never closed":  "<ul>" + strings.Repeat("<li>an item with <b>a start", 2_000) + "</ul>",
		"a long text":            "<p>" + strings.Repeat("word ", 500_000),
		"what is not to be read": "<script>if (a<b) no()</script><style>p>b{}</style><p>" + strings.Repeat("<!-- <b> -->", 1000) + "read",
		"a list in a list":       strings.Repeat("<ul><li>a<ul><li>b</ul></ul>", 5_000),
	} {
		t.Run(why, func(t *testing.T) {
			text, ended, err := readable([]byte(page), "text/html")
			if err != nil || ended || len(text) == 0 || strings.Contains(text, "no()") {
				t.Errorf("%v %v %.200q", err, ended, text)
			}
		})
	}
}
