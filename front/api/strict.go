package api

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"assent/front/api/wire"
)

// single are the headers that decide something: one that comes twice could be
// read either way.
var single = []string{"Authorization", "Content-Type", "Content-Encoding", "Last-Event-Id", wire.RoleHeader}

// fromBrowser tells what speaks for a web page behind a request. A page may
// reach a socket through whatever forwards to it, and every browser adds one of
// these where a page asks for what is not its own.
func fromBrowser(r *http.Request) string {
	for name := range r.Header {
		lower := strings.ToLower(name)
		if lower == "origin" || strings.HasPrefix(lower, "sec-fetch-") || strings.HasPrefix(lower, "access-control-request-") {
			return "a " + name + " header"
		}
	}
	if r.Host != wire.Host {
		return "the host " + strconv.Quote(cut(r.Host))
	}
	return ""
}

// cut keeps a text that is told back short.
func cut(s string) string {
	const most = 100
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

// bearer is the token that a request presents: "Authorization: Bearer TOKEN".
func bearer(r *http.Request) (string, *wire.Problem) {
	value := r.Header.Get("Authorization")
	if value == "" {
		return "", nil
	}
	kind, token, _ := strings.Cut(value, " ")
	if !strings.EqualFold(kind, "Bearer") || token == "" || strings.ContainsAny(token, " ,") {
		return "", problem(wire.BadRequest, "Authorization is not \"Bearer TOKEN\"")
	}
	return token, nil
}

// plainPath refuses a path that two readers could read as two.
func plainPath(u *url.URL) bool {
	path := u.EscapedPath()
	if u.Opaque != "" || !strings.HasPrefix(path, "/") {
		return false
	}
	for segment := range strings.SplitSeq(path[1:], "/") {
		if segment == "" || segment == "." || segment == ".." {
			return false
		}
		plain, err := url.PathUnescape(segment)
		if err != nil || strings.IndexFunc(plain, func(r rune) bool { return r <= ' ' || r > '~' }) >= 0 {
			return false
		}
	}
	return true
}

// query reads the parameters of a request, none but those that are known, and
// each once.
func query(u *url.URL, known []string) (url.Values, *wire.Problem) {
	values, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, problem(wire.BadRequest, "the query cannot be read")
	}
	for name, value := range values {
		switch {
		case !slices.Contains(known, name):
			return nil, problem(wire.BadRequest, "unknown query parameter %q", cut(name))
		case len(value) != 1:
			return nil, problem(wire.BadRequest, "query parameter %q comes twice", name)
		}
	}
	return values, nil
}

// number is a parameter that counts something.
func number(q url.Values, name string, without, most int64) (int64, error) {
	if !q.Has(name) {
		return without, nil
	}
	text := q.Get(name)
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || strconv.FormatInt(n, 10) != text {
		return 0, problem(wire.BadRequest, "query parameter %s: want a number", name)
	}
	if n > most {
		return 0, problem(wire.BadRequest, "query parameter %s: at most %d", name, most)
	}
	return n, nil
}

// moment is a parameter that names a time (RFC 3339).
func moment(q url.Values, name string) (time.Time, error) {
	if !q.Has(name) {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339Nano, q.Get(name))
	if err != nil {
		return time.Time{}, problem(wire.BadRequest, "query parameter %s: want a time such as 2006-01-02T15:04:05Z", name)
	}
	return at, nil
}

// truth is a parameter that is true or false.
func truth(q url.Values, name string) (bool, error) {
	switch q.Get(name) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	case "":
		if !q.Has(name) {
			return false, nil
		}
	}
	return false, problem(wire.BadRequest, "query parameter %s: want true or false", name)
}

// isJSON reports whether the content type of a request is JSON.
func isJSON(r *http.Request) bool {
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != wire.JSON {
		return false
	}
	for name, value := range params {
		if name != "charset" || !strings.EqualFold(value, "utf-8") {
			return false
		}
	}
	return true
}

var errNull = errors.New("null says nothing here; leave it out")

// notNull refuses null for whatever is not kept as it came.
var notNull = json.WithUnmarshalers(json.UnmarshalFromFunc(func(d *jsontext.Decoder, v any) error {
	if _, raw := v.(*jsontext.Value); !raw && d.PeekKind() == 'n' {
		if err := d.SkipValue(); err != nil {
			return err
		}
		return errNull
	}
	return errors.ErrUnsupported
}))

// readJSON reads the body, strictly, into v. Its length is that which was
// announced, below 0 for none.
func readJSON(body io.Reader, length int64, v any) *wire.Problem {
	var text bytes.Buffer
	if length > 0 { // no more than the route takes: it was looked at
		text.Grow(int(length) + bytes.MinRead)
	}
	_, err := text.ReadFrom(body)
	if err == nil {
		err = json.Unmarshal(text.Bytes(), v, json.RejectUnknownMembers(true), notNull)
	}
	if err != nil {
		return problemOfBody(err)
	}
	return nil
}

func kindName(k jsontext.Kind) string {
	switch k {
	case 'n':
		return "null"
	case 't', 'f':
		return "boolean"
	case '"':
		return "string"
	case '0':
		return "number"
	case '{':
		return "object"
	case '[':
		return "array"
	}
	return "value"
}

func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		return "string"
	case reflect.Int64, reflect.Int:
		return "number"
	case reflect.Slice:
		return "array"
	case reflect.Struct, reflect.Map:
		return "object"
	case reflect.Pointer:
		return typeName(t.Elem())
	}
	return "value"
}
