package toolkit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	htmltomarkdown "github.com/JohannesKaufmann/html-to-markdown/v2"
	"golang.org/x/net/html/charset"

	"assent/job"
)

// How much a web tool reads, and for how long.
const (
	maxPage      = 5 << 20 // bytes of one answer
	maxRedirects = 10
	webLimit     = 30 * time.Second
)

// Contact says whether a call may contact an address that was not judged with
// it, nil when it may: a redirection, or the number behind a name. It asks the
// floor, and takes nothing but allow.
type Contact func(ctx context.Context, call job.Call, address string) error

// Errors of the web tools.
var (
	errContact = errors.New("that was not judged with this call, and is not allowed by itself")
	errPrivate = errors.New("it is an address of this machine or of a private network, and no rule allows it")
)

// web reads from the web by HTTP.
type web struct {
	contact Contact
	search  func() string // the address of a search, with {query}
	limit   time.Duration
}

type extractArguments struct {
	URL string `json:"url"`
}

type searchArguments struct {
	Query string `json:"query"`
}

type pageOutcome struct {
	OK   bool   `json:"ok"`
	Text string `json:"text"`
	// URL is where the text comes from, after redirections.
	URL    string `json:"url"`
	Status int    `json:"status"`
	Type   string `json:"type,omitzero"`
	// More says that the answer was longer than what was read of it.
	More bool `json:"more,omitzero"`
}

// extract is the body of the tool web_extract: a page as text.
func (w *web) extract(ctx context.Context, call job.Call) (job.Outcome, error) {
	var a extractArguments
	if err := call.Decode(&a); err != nil {
		return failed(err)
	}
	return w.page(ctx, call, a.URL)
}

// find is the body of the tool web_search: what the search that the person set
// up answers.
func (w *web) find(ctx context.Context, call job.Call) (job.Outcome, error) {
	var a searchArguments
	if err := call.Decode(&a); err != nil {
		return failed(err)
	}
	address := w.search()
	switch {
	case address == "":
		return failed(errors.New(`no search is set up: config.json names it as "webSearch"`))
	case strings.TrimSpace(a.Query) == "":
		return failed(errors.New("the query is empty"))
	}
	return w.page(ctx, call, strings.ReplaceAll(address, "{query}", url.QueryEscape(a.Query)))
}

func (w *web) page(ctx context.Context, call job.Call, address string) (job.Outcome, error) {
	within, stop := context.WithTimeoutCause(ctx, w.limit, fmt.Errorf("it took longer than %v", w.limit))
	defer stop()
	page, err := w.get(within, call, address)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case within.Err() != nil:
		return failed(fmt.Errorf("%s: %w", address, context.Cause(within)))
	case err != nil:
		return failed(fmt.Errorf("%s: %w", address, err))
	}
	return job.JSON(page)
}

// reading and converting have a place for each that may be done at a time.
var (
	reading    = make(chan struct{}, 8)
	converting = make(chan struct{}, 2)
)

func (w *web) get(ctx context.Context, call job.Call, address string) (pageOutcome, error) {
	u, err := webAddress(address)
	if err != nil {
		return pageOutcome{}, err
	}
	select {
	case reading <- struct{}{}:
		defer func() { <-reading }()
	case <-ctx.Done():
		return pageOutcome{}, ctx.Err()
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return pageOutcome{}, err
	}
	request.Header.Set("User-Agent", "assent")
	request.Header.Set("Accept", "text/html, text/*, application/json, */*;q=0.1")
	client := http.Client{
		Transport: w.transport(call, u.Hostname()),
		CheckRedirect: func(next *http.Request, before []*http.Request) error {
			if len(before) > maxRedirects {
				return fmt.Errorf("more than %d redirections", maxRedirects)
			}
			if _, err := webAddress(next.URL.String()); err != nil {
				return err
			}
			next.Header.Del("Referer")
			return w.may(next.Context(), call, next.URL.String())
		},
	}
	defer client.CloseIdleConnections()
	response, err := client.Do(request)
	if err != nil {
		return pageOutcome{}, inner(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxPage+1))
	if err != nil {
		return pageOutcome{}, inner(err)
	}
	out := pageOutcome{OK: response.StatusCode < 400, URL: response.Request.URL.String(), Status: response.StatusCode, Type: response.Header.Get("Content-Type")}
	if len(body) > maxPage {
		body, out.More = body[:maxPage], true
	}
	select { // each takes some memory and time
	case converting <- struct{}{}:
	case <-ctx.Done():
		return out, ctx.Err()
	}
	text, ended, err := readable(body, out.Type)
	<-converting
	if err != nil {
		return out, err
	}
	out.More = out.More || ended
	if short := cutMiddle(text, maxText); short != text {
		text, out.More = short, true
	}
	out.Text = text
	return out, nil
}

// webAddress is an address that a web tool reads from.
func webAddress(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, errors.New("it is no address")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("only http and https are read")
	case u.Hostname() == "":
		return nil, errors.New("it names no host")
	case strings.ContainsFunc(u.Hostname(), func(r rune) bool { return r <= ' ' || r > '~' }):
		// Clients fold such names to others, each in its way: what was judged would be
		// another than what is contacted.
		return nil, errors.New("its host has other characters than ASCII; write it as it is looked up (xn--...)")
	case u.User != nil:
		return nil, errors.New("names and passwords do not belong into an address")
	}
	return u, nil
}

func (w *web) may(ctx context.Context, call job.Call, address string) error {
	if w.contact == nil {
		return fmt.Errorf("it leads to %s: %w", address, errContact)
	}
	if err := w.contact(ctx, call, address); err != nil {
		return fmt.Errorf("it leads to %s: %w", address, err)
	}
	return nil
}

// transport contacts hosts of the public net by the numbers that were looked
// at. The number behind a name may be any, so one that is not public is judged
// for itself; what the judged address names as a number, or as this machine, was
// judged.
func (w *web) transport(call job.Call, judged string) *http.Transport {
	dialer := net.Dialer{
		Timeout: 10 * time.Second,
		ControlContext: func(ctx context.Context, network, address string, _ syscall.RawConn) error {
			at, err := netip.ParseAddrPort(address)
			if err != nil {
				return err
			}
			number := at.Addr().Unmap().WithZone("")
			if public(number) {
				return nil
			}
			if named, err := netip.ParseAddr(judged); err == nil && named.Unmap().WithZone("") == number || strings.EqualFold(judged, "localhost") && number.IsLoopback() {
				return nil
			}
			if w.contact == nil || w.contact(ctx, call, "http://"+netip.AddrPortFrom(number, at.Port()).String()+"/") != nil {
				return fmt.Errorf("%s: %w", number, errPrivate)
			}
			return nil
		},
	}
	t := &http.Transport{
		Proxy:                  nil, // it would look up names where nobody sees the numbers
		DialContext:            dialer.DialContext,
		TLSHandshakeTimeout:    10 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
		DisableKeepAlives:      true,
		ForceAttemptHTTP2:      true,
	}
	return t
}

// shared are the numbers that are nobody's on the public net beside those that
// [netip.Addr] tells.
var shared = [...]netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("100.64.0.0/10"),   // of providers; also metadata services
	netip.MustParsePrefix("192.0.0.0/24"),    // of protocols; also metadata services
	netip.MustParsePrefix("192.0.2.0/24"),    // of documents
	netip.MustParsePrefix("198.18.0.0/15"),   // of measurements
	netip.MustParsePrefix("198.51.100.0/24"), // of documents
	netip.MustParsePrefix("203.0.113.0/24"),  // of documents
	netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("168.63.129.16/32"), // a metadata service, at a number of the public net
	netip.MustParsePrefix("192.88.99.0/24"),   // of relays
	netip.MustParsePrefix("::/96"),            // IPv4 written as IPv6
	netip.MustParsePrefix("::ffff:0:0:0/96"),  // IPv4 translated
	netip.MustParsePrefix("64:ff9b::/96"),     // IPv4 behind IPv6
	netip.MustParsePrefix("64:ff9b:1::/48"),
	netip.MustParsePrefix("100::/64"),
	netip.MustParsePrefix("2001::/23"),
	netip.MustParsePrefix("2001:db8::/32"),
	netip.MustParsePrefix("2002::/16"), // IPv4 inside IPv6
	netip.MustParsePrefix("fec0::/10"),
	netip.MustParsePrefix("3fff::/20"), // of documents
	netip.MustParsePrefix("5f00::/16"), // of segments of routes
}

func public(number netip.Addr) bool {
	if !number.IsGlobalUnicast() || number.IsPrivate() || number.IsLoopback() || number.IsLinkLocalUnicast() {
		return false
	}
	for _, p := range shared {
		if p.Contains(number) {
			return false
		}
	}
	return true
}

// readable is what a page says: a web page as Markdown, a text as it is. A web page that
// costs too much ends before its end.
func readable(body []byte, contentType string) (text string, ended bool, err error) {
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		kind = http.DetectContentType(body)
		kind, _, _ = mime.ParseMediaType(kind)
	}
	switch {
	case kind == "text/html", kind == "application/xhtml+xml":
		text, err := charsetText(body, contentType)
		if err != nil {
			return "", false, err
		}
		text, ended = tamed(text)
		text, err = htmltomarkdown.ConvertString(text)
		if err != nil {
			return "", false, fmt.Errorf("the page cannot be read: %w", err)
		}
		return valid(text), ended, nil
	case strings.HasPrefix(kind, "text/"), kind == "application/json", strings.HasSuffix(kind, "+json"), kind == "application/xml", strings.HasSuffix(kind, "+xml"),
		kind == "application/javascript", kind == "application/yaml":
		text, err := charsetText(body, contentType)
		return text, false, err
	}
	return "", false, fmt.Errorf("it is %s and no text", kind)
}

func charsetText(body []byte, contentType string) (string, error) {
	r, err := charset.NewReader(strings.NewReader(string(body)), contentType)
	if err != nil {
		return "", fmt.Errorf("its text cannot be read: %w", err)
	}
	text, err := io.ReadAll(r)
	return valid(string(text)), err
}

// inner is an error of the client without the address it repeats.
func inner(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
