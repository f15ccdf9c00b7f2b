package scripted

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
)

// streamed is a reply as a stream: the text by words, and each call's arguments in
// two pieces.
func streamed(w http.ResponseWriter, r *http.Request, a Ask, reply Reply) {
	w.Header().Set("Content-Type", "text/event-stream")
	for name, value := range reply.Header {
		w.Header().Set(name, value)
	}
	s := &sender{w: w, a: a, reply: reply}
	s.begin()
	for word := range strings.SplitAfterSeq(reply.Text, " ") {
		if word != "" {
			s.text(word)
		}
	}
	s.endText()
	if reply.Stall {
		<-r.Context().Done()
		return
	}
	if reply.Cut {
		panic(http.ErrAbortHandler)
	}
	if reply.Fail != "" {
		s.send("error", fmt.Sprintf(`{"type":"error","error":{"type":"overloaded_error","message":%s}}`, quoted(reply.Fail)))
		return
	}
	for i, c := range reply.Calls {
		s.call(i, c)
	}
	s.end()
}

type sender struct {
	w     http.ResponseWriter
	a     Ask
	reply Reply
	block int // that is open or comes next
	open  bool
}

func quoted(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err) // it is a text
	}
	return string(b)
}

func (s *sender) send(event, data string) {
	if s.a.API == "anthropic" {
		_, _ = fmt.Fprintf(s.w, "event: %s\n", event)
	}
	_, _ = io.WriteString(s.w, "data: "+data+"\n\n") // whoever asked may have gone
	s.w.(http.Flusher).Flush()
}

func (s *sender) chunk(delta, reason string) {
	end := "null"
	if reason != "" {
		end = quoted(reason)
	}
	s.send("", fmt.Sprintf(`{"id":"c1","object":"chat.completion.chunk","created":1,"model":%q,"choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`, s.a.Model, delta, end))
}

func (s *sender) begin() {
	if s.a.API == "anthropic" {
		s.send("message_start", fmt.Sprintf(`{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":%q,"content":[],"stop_reason":null,"usage":{"input_tokens":7,"output_tokens":1}}}`, s.a.Model))
		s.send("ping", `{"type":"ping"}`)
		return
	}
	s.chunk(`{"role":"assistant","content":""}`, "")
}

func (s *sender) text(word string) {
	if s.a.API != "anthropic" {
		s.chunk(fmt.Sprintf(`{"content":%s}`, quoted(word)), "")
		return
	}
	if !s.open {
		s.open = true
		s.send("content_block_start", fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{"type":"text","text":""}}`, s.block))
	}
	s.send("content_block_delta", fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":"text_delta","text":%s}}`, s.block, quoted(word)))
}

func (s *sender) endText() {
	if s.open {
		s.send("content_block_stop", fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, s.block))
		s.block, s.open = s.block+1, false
	}
}

func (s *sender) call(i int, c Call) {
	half := len(c.Arguments) / 2
	if s.a.API != "anthropic" {
		s.chunk(fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":%s,"type":"function","function":{"name":%s,"arguments":%s}}]}`, i, quoted(c.ID), quoted(c.Name), quoted(c.Arguments[:half])), "")
		s.chunk(fmt.Sprintf(`{"tool_calls":[{"index":%d,"function":{"arguments":%s}}]}`, i, quoted(c.Arguments[half:])), "")
		return
	}
	s.send("content_block_start", fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{"type":"tool_use","id":%s,"name":%s,"input":{}}}`, s.block, quoted(c.ID), quoted(c.Name)))
	for _, part := range []string{c.Arguments[:half], c.Arguments[half:]} {
		s.send("content_block_delta", fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":"input_json_delta","partial_json":%s}}`, s.block, quoted(part)))
	}
	s.send("content_block_stop", fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, s.block))
	s.block++
}

func (s *sender) end() {
	stop := s.reply.Stop
	if s.a.API == "anthropic" {
		if stop == "" {
			if stop = "end_turn"; len(s.reply.Calls) > 0 {
				stop = "tool_use"
			}
		}
		s.send("message_delta", fmt.Sprintf(`{"type":"message_delta","delta":{"stop_reason":%q,"stop_sequence":null},"usage":{"output_tokens":3}}`, stop))
		s.send("message_stop", `{"type":"message_stop"}`)
		return
	}
	if stop == "" {
		if stop = "stop"; len(s.reply.Calls) > 0 {
			stop = "tool_calls"
		}
	}
	s.chunk(`{}`, stop)
	s.send("", fmt.Sprintf(`{"id":"c1","object":"chat.completion.chunk","created":1,"model":%q,"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}}`, s.a.Model))
	s.send("", "[DONE]")
}
