package gateway

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// message is a message of either side. Its values are the bytes that were read:
// what is passed on is not written anew.
type message struct {
	id     jsontext.Value // nil for a notification
	reply  bool
	method string
	params jsontext.Value
	result jsontext.Value // of an answer, unless there is an error
	fault  jsontext.Value
}

// Codes of JSON-RPC.
const (
	badJSON    = -32700
	badRequest = -32600
	noMethod   = -32601
	broken     = -32603
)

// envelope is what is read of a message. Other members are not passed on: a server
// that reads names less strictly would take some of them for these.
type envelope struct {
	Version string         `json:"jsonrpc"`
	ID      jsontext.Value `json:"id"`
	Method  *string        `json:"method"`
	Params  jsontext.Value `json:"params"`
	Result  jsontext.Value `json:"result"`
	Error   jsontext.Value `json:"error"`
}

var errNoMessage = errors.New("it is no message of JSON-RPC 2.0")

// lax reads what names a member twice, or is no UTF-8.
var lax = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// parse reads a message. How strictly is the caller's choice: what a client says
// must mean one thing, what a server answers is the client's to read. Where it fails
// the id is there if one was found.
func parse(text []byte, opts ...json.Options) (message, error) {
	var e envelope
	if err := json.Unmarshal(text, &e, opts...); err != nil {
		var only struct {
			ID jsontext.Value `json:"id"`
		}
		if json.Unmarshal(text, &only, lax) == nil {
			if _, ok := key(only.ID); ok {
				return message{id: only.ID}, err
			}
		}
		return message{}, err
	}
	m := message{id: e.ID, params: e.Params, result: e.Result, fault: e.Error}
	if len(m.id) == 0 {
		m.id = nil
	}
	if e.Version != "2.0" {
		return message{id: m.id}, errNoMessage
	}
	if e.Method != nil {
		m.method, m.result, m.fault = *e.Method, nil, nil
		return m, nil
	}
	m.reply, m.params = true, nil
	if m.id == nil || (len(m.result) == 0) == (len(m.fault) == 0) {
		return message{id: m.id}, errNoMessage
	}
	return m, nil
}

// biggest is the largest integer that every reader of JSON has as it is written.
const biggest = 1<<53 - 1

// key tells ids apart; false for what is none. Readers round other numbers, each in
// its way.
func key(id jsontext.Value) (string, bool) {
	switch id.Kind() {
	case '"':
		var text string
		if json.Unmarshal(id, &text) != nil {
			return "", false
		}
		return "s" + text, true
	case '0':
		n, err := strconv.ParseInt(string(id), 10, 64)
		if err != nil || n > biggest || n < -biggest {
			return "", false
		}
		return "n" + strconv.FormatInt(n, 10), true
	}
	return "", false
}

// text is the message as one line, without its end.
func (m message) text() []byte {
	var b bytes.Buffer
	b.WriteString(`{"jsonrpc":"2.0"`)
	member := func(name string, v jsontext.Value) {
		if len(v) == 0 {
			return
		}
		if bytes.ContainsAny(v, "\r\n") {
			v = v.Clone()
			_ = v.Compact() // it was read before: it is JSON
		}
		b.WriteString(`,"` + name + `":`)
		b.Write(v)
	}
	member("id", m.id)
	if !m.reply {
		member("method", quoted(m.method))
	}
	member("params", m.params)
	member("result", m.result)
	member("error", m.fault)
	b.WriteByte('}')
	return b.Bytes()
}

func quoted(text string) jsontext.Value {
	v, err := jsontext.AppendQuote(nil, text)
	if err != nil {
		v, _ = jsontext.AppendQuote(nil, fmt.Sprintf("%+q", text))
	}
	return v
}

// object writes JSON of our own.
func object(v any) jsontext.Value {
	text, err := json.Marshal(v, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		panic(err) // texts and numbers only
	}
	return text
}

// refusal answers a request with an error of the protocol.
func refusal(id jsontext.Value, code int, format string, args ...any) message {
	if id == nil {
		id = jsontext.Value("null")
	}
	return message{id: id, reply: true, fault: object(struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}{code, "assent: " + fmt.Sprintf(format, args...)})}
}

// cancelled is what is said to whoever was asked something that is not wanted any more.
func cancelled(id jsontext.Value, reason string) message {
	return message{method: methodCancelled, params: object(struct {
		ID     jsontext.Value `json:"requestId"`
		Reason string         `json:"reason,omitzero"`
	}{id, reason})}
}

// lines reads messages that are lines.
type lines struct{ r *bufio.Reader }

func newLines(r io.Reader) lines { return lines{bufio.NewReaderSize(r, 64<<10)} }

// next is the next line that is not empty. One that is too long or has no end is an
// error: where the next begins would be a guess.
func (l lines) next() ([]byte, error) {
	var line []byte
	for {
		part, err := l.r.ReadSlice('\n')
		if len(line)+len(part) > maxMessage {
			return nil, errTooLong
		}
		line = append(line, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && len(bytes.TrimSpace(line)) > 0 && errors.Is(err, io.EOF):
			return nil, fmt.Errorf("it ended within a message: %w", io.ErrUnexpectedEOF)
		case err != nil:
			return nil, err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
	}
}
