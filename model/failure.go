package model

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"unicode"

	"github.com/go-json-experiment/json"

	"assent/remainder"
)

// errSlow is the cause of a context that ended because the answer took too long.
var errSlow = errors.New("the time for the answer is over")

// limited bounds how long an answer may take.
func (r reached) limited(ctx context.Context, q remainder.Request) (context.Context, context.CancelFunc) {
	limit := r.Timeout
	if limit <= 0 {
		limit = DefaultTimeout
	}
	if q.Timeout > 0 {
		limit = min(limit, q.Timeout)
	}
	return context.WithTimeoutCause(ctx, limit, errSlow)
}

// failure is why there is no answer that could be read, nil when there is one.
// caller is the context that was given, ctx the one that was bounded; got is the
// response, nil for none, and body what came with an error.
func (r reached) failure(caller, ctx context.Context, got *http.Response, body string, err error) error {
	if err != nil && caller.Err() != nil {
		return context.Cause(caller)
	}
	f := &remainder.Failure{Connection: r.name}
	answered := got != nil && got.StatusCode == http.StatusOK
	switch tooLong := (*http.MaxBytesError)(nil); {
	case err != nil && errors.Is(context.Cause(ctx), errSlow):
		f.Cause = remainder.Slow
	case got != nil && !answered: // also where the library takes it for an answer
		f.Cause, f.Code, f.Detail = causeOf(got.StatusCode), got.StatusCode, r.detail(body)
	case err == nil && answered:
		return nil
	case err == nil:
		f.Cause = remainder.Unreadable
	case errors.As(err, &tooLong):
		f.Cause, f.Detail = remainder.Unreadable, errTooLong.Error()
	default:
		f.Cause, f.Detail = r.broken(err)
		if answered && f.Cause == remainder.Broken { // it came, and the library cannot read it
			f.Cause = remainder.Unreadable
		}
	}
	return f
}

// causeOf is what a status means.
func causeOf(code int) remainder.Cause {
	switch code {
	case http.StatusUnauthorized, http.StatusForbidden:
		return remainder.Refused
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, 529:
		return remainder.Overloaded
	}
	return remainder.Status
}

// broken tells a connection that never came about from one that broke.
func (r reached) broken(err error) (remainder.Cause, string) {
	if op, ok := errors.AsType[*net.OpError](err); ok && (op.Op == "dial" || op.Op == "proxyconnect" || op.Op == "socks connect") {
		return remainder.Unreachable, r.short(op.Err.Error())
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return remainder.Unreachable, r.short(dns.Error())
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) {
		return remainder.Cut, ""
	}
	if _, ok := errors.AsType[*net.OpError](err); ok {
		return remainder.Cut, r.short(err.Error())
	}
	return remainder.Broken, r.short(err.Error())
}

// detail is what the body of an error says, of all servers that say it in one of
// the usual ways.
func (r reached) detail(body string) string {
	type message struct {
		Message string `json:"message"`
	}
	var nested struct{ Error message }
	var plain struct{ Error string }
	var bare message
	loose := json.MatchCaseInsensitiveNames(true)
	switch text := []byte(body); {
	case json.Unmarshal(text, &nested, loose) == nil && nested.Error.Message != "":
		return r.short(nested.Error.Message)
	case json.Unmarshal(text, &plain, loose) == nil && plain.Error != "":
		return r.short(plain.Error)
	case json.Unmarshal(text, &bare, loose) == nil:
		return r.short(bare.Message)
	}
	return ""
}

// maxDetail is how many characters of what another end says are told.
const maxDetail = 300

// keyless is a text from elsewhere without the key.
func (r reached) keyless(text string) string {
	if r.key == "" {
		return text
	}
	return strings.ReplaceAll(text, r.key, "(key)")
}

// hints reports whether a word has the beginning or the end of the key: some servers
// say which key it was that they refuse by a part of it.
func (r reached) hints(word string) bool {
	const part = 4
	return len(r.key) >= 3*part && (strings.Contains(word, r.key[:2*part]) || strings.Contains(word, r.key[len(r.key)-part:]))
}

// short is a text from elsewhere as one short line without the key, for some
// servers repeat it.
func (r reached) short(text string) string {
	text = r.keyless(text)
	text = strings.Map(func(c rune) rune {
		switch {
		case unicode.IsSpace(c):
			return ' '
		case !unicode.IsPrint(c):
			return -1
		}
		return c
	}, text)
	words := strings.Fields(text)
	for i, word := range words {
		if r.hints(word) {
			words[i] = "(key)"
		}
	}
	text = strings.Join(words, " ")
	if runes := []rune(text); len(runes) > maxDetail {
		text = string(runes[:maxDetail]) + "…"
	}
	return text
}

// unreadable is a reply that is not what its API says.
func (r reached) unreadable(why string) error {
	return &remainder.Failure{Cause: remainder.Unreadable, Connection: r.name, Detail: r.short(why)}
}

func (r reached) failed(cause remainder.Cause, detail string) error {
	return &remainder.Failure{Cause: cause, Connection: r.name, Detail: r.short(detail)}
}
