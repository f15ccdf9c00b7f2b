package model

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"assent/remainder"
)

// API is the protocol of a connection.
type API string

// The protocols.
const (
	Anthropic API = "anthropic" // messages
	OpenAI    API = "openai"    // chat completions, of OpenAI or a server that speaks the same
)

// Connection is how a model is reached (config.json). It has no key.
type Connection struct {
	API API
	// URL is the address of the API, "" for that of whoever made it. A connection
	// with an address of its own sends a key only where KeyEnv or KeyRing names one.
	URL string
	// Model is the one that is asked where nobody names another, "" for none.
	Model string
	// KeyEnv is the variable, KeyRing the name in the key ring, that has the key.
	// With neither, and no URL, it is the variable that belongs to the API or else
	// the connection's own name in the key ring.
	KeyEnv, KeyRing string
	// Proxy is the proxy on the way there, "" for none.
	Proxy string
	// Timeout is how long an answer may take, 0 for [DefaultTimeout].
	Timeout time.Duration
}

// DefaultTimeout is how long an answer may take where nothing is said.
const DefaultTimeout = time.Minute

// defaults are what belongs to an API.
var defaults = map[API]struct{ url, env string }{
	Anthropic: {"https://api.anthropic.com/", "ANTHROPIC_API_KEY"},
	OpenAI:    {"https://api.openai.com/v1/", "OPENAI_API_KEY"},
}

// Check says what is wrong with a connection, nil for nothing.
func (c Connection) Check() error {
	if _, ok := defaults[c.API]; !ok {
		return fmt.Errorf("api must be %s or %s", Anthropic, OpenAI)
	}
	if c.URL != "" {
		u, err := url.Parse(c.URL)
		switch {
		case err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https":
			return errors.New("url must be an address of http or https")
		case u.User != nil || u.RawQuery != "" || u.Fragment != "":
			return errors.New("url must be an address alone: no user, no query, no fragment")
		case u.Scheme == "http" && !loopback(u.Hostname()):
			return errors.New("url must be https, but for a server on this machine: what is asked and answered would be open to whoever is in between")
		}
	}
	if c.Proxy != "" {
		u, err := url.Parse(c.Proxy)
		if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "socks5" {
			return errors.New("proxy must be an address of http, https or socks5")
		}
	}
	if c.KeyEnv != "" && c.KeyRing != "" {
		return errors.New("keyEnv and keyRing are both set: one of them")
	}
	return nil
}

// Variable is the variable of the environment that may have the key, "" where it is
// not looked for there.
func (c Connection) Variable() string {
	switch {
	case c.KeyEnv != "":
		return c.KeyEnv
	case c.KeyRing != "" || c.URL != "":
		return ""
	}
	return defaults[c.API].env
}

// loopback says that a host is this machine, whatever answers for names.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Connections are the connections of a kernel, by name. Their methods may be
// called at once, and Set while others ask.
type Connections struct {
	keys Keys

	mu  sync.Mutex
	all map[string]*connected
}

var _ remainder.Connections = (*Connections)(nil)

type connected struct {
	Connection
	name   string
	client *http.Client
}

// New makes connections without any; keys is where keys are.
func New(keys Keys) *Connections { return &Connections{keys: keys} }

// Set replaces the connections. Who asks at this moment gets its answer still.
func (c *Connections) Set(all map[string]Connection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := make(map[string]*connected, len(all))
	for name, one := range all {
		if was := c.all[name]; was != nil && was.Connection == one {
			now[name] = was
			continue
		}
		now[name] = &connected{Connection: one, name: name, client: clientOf(one)}
	}
	for name, was := range c.all {
		if now[name] != was {
			was.client.CloseIdleConnections()
		}
	}
	c.all = now
}

// Close lets go of what is open to other ends.
func (c *Connections) Close() error {
	c.Set(nil)
	return nil
}

// Names are the names of the connections, sorted.
func (c *Connections) Names() (names []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name := range c.all {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Setting is the connection's own setting of a model.
func (c *Connections) Setting(connection string) (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	one, ok := c.all[connection]
	if !ok {
		return "", false
	}
	return one.Model, true
}

// Connect gives a model of a connection, as [remainder.Connections] has it.
func (c *Connections) Connect(ctx context.Context, connection, model string) (remainder.Model, error) {
	with, err := c.reach(ctx, connection, model)
	if err != nil {
		return nil, err
	}
	if with.API == Anthropic {
		return messages{with}, nil
	}
	return completions{with}, nil
}

// reach is a connection with the model that is asked on it, and the key.
func (c *Connections) reach(ctx context.Context, connection, model string) (reached, error) {
	c.mu.Lock()
	one := c.all[connection]
	c.mu.Unlock()
	missing := func(detail string, err error) (reached, error) {
		return reached{}, &remainder.Failure{Cause: remainder.Unconnected, Connection: connection, Detail: detail, Err: err}
	}
	switch {
	case connection == "":
		return missing("no connection is named (connections and judgeConnection in config.json)", nil)
	case one == nil:
		return missing("config.json has no connection of that name"+others(c.Names()), nil)
	}
	if model == "" {
		model = one.Model
	}
	if model == "" {
		return missing("nothing says which model to ask (its model in config.json)", nil)
	}
	key, err := c.key(ctx, one)
	if err != nil {
		return missing(err.Error(), err)
	}
	return reached{connected: one, model: model, key: key}, nil
}

func others(names []string) string {
	if len(names) == 0 {
		return ": it has none"
	}
	return "; it has " + strings.Join(names, ", ")
}

// reached is a connection with what is asked on it.
type reached struct {
	*connected
	model, key string
}

// base is the address of the API, with a slash behind it: libraries take what
// follows the last one away.
func (r reached) base() string {
	if r.URL == "" {
		return defaults[r.API].url
	}
	return strings.TrimRight(r.URL, "/") + "/"
}

// Bounds of what another end may send.
const (
	maxReply  = 4 << 20
	maxHeader = 64 << 10
)

// clientOf is a client that goes nowhere else.
func clientOf(c Connection) *http.Client {
	t := &http.Transport{
		DialContext:            (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    10 * time.Second,
		MaxIdleConnsPerHost:    8,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: maxHeader,
	}
	if u, err := url.Parse(c.Proxy); err == nil && c.Proxy != "" {
		t.Proxy = http.ProxyURL(u)
	}
	return &http.Client{
		Transport: bounded{t},
		// A key follows nobody who sends it elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// bounded bounds the body of an answer.
type bounded struct{ *http.Transport }

var errTooLong = fmt.Errorf("the reply is longer than it may be (%d bytes, %d where it is streamed)", maxReply, maxStream)

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := b.Transport.RoundTrip(r)
	if err != nil {
		return res, err
	}
	if l, ok := r.Context().Value(listenerKey{}).(*listener); ok {
		res.Body = http.MaxBytesReader(nil, heard{res.Body, l}, maxStream)
	} else {
		res.Body = http.MaxBytesReader(nil, res.Body, maxReply)
	}
	return res, nil
}
