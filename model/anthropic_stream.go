package model

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"assent/remainder"
)

// Stream asks once, as [Chat] has it.
func (m messages) Stream(caller context.Context, t Talk) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		ctx, cancel := m.patient(caller)
		defer cancel()
		var got *http.Response
		service := m.service(&got)
		params := anthropic.MessageNewParams{Model: anthropic.Model(m.model), MaxTokens: int64(t.MaxTokens)}
		if t.System != "" {
			params.System = []anthropic.TextBlockParam{{Text: t.System}}
		}
		for _, tool := range t.Tools {
			params.Tools = append(params.Tools, anthropic.ToolUnionParam{OfTool: &anthropic.ToolParam{
				Name: tool.Name, Description: anthropic.String(tool.Description), InputSchema: anthropic.ToolInputSchemaParam{ExtraFields: tool.Parameters},
			}})
		}
		for _, message := range t.Messages {
			params.Messages = append(params.Messages, m.message(message))
		}
		s := service.NewStreaming(ctx, params)
		r := blocks{open: make(map[int]*block)}
		m.listen(caller, ctx, s, &got, yield, func(a *answer) error { return r.read(a, s.Current().RawJSON()) })
	}
}

func (m messages) message(message Message) anthropic.MessageParam {
	var all []anthropic.ContentBlockParamUnion
	for _, result := range message.Results {
		all = append(all, anthropic.NewToolResultBlock(result.Call, result.Text, result.Failed))
	}
	for _, text := range message.Texts {
		all = append(all, anthropic.NewTextBlock(text))
	}
	for _, call := range message.Calls {
		input := jsontext.Value(call.Arguments)
		if !input.IsValid() || input.Kind() != '{' { // the API takes objects alone; what was wrong stands in the result
			input = jsontext.Value("{}")
		}
		all = append(all, anthropic.NewToolUseBlock(call.ID, input, call.Name))
	}
	if message.Role == remainder.Assistant {
		return anthropic.NewAssistantMessage(all...)
	}
	return anthropic.NewUserMessage(all...)
}

// blocks is an answer as its events build it.
type blocks struct {
	begun  bool
	over   bool
	calls  int
	model  string
	in     int
	out    int
	reason string
	open   map[int]*block
}

type block struct {
	kind      string
	call      Call
	input     jsontext.Value // as the block began
	arguments strings.Builder
}

// read reads an event. The library takes one of other types for an empty one.
func (b *blocks) read(a *answer, text string) error {
	var e struct {
		Type    string `json:"type"`
		Index   int    `json:"index"`
		Message struct {
			Role  string `json:"role"`
			Model string `json:"model"`
			Usage struct {
				In  int `json:"input_tokens"`
				Out int `json:"output_tokens"`
			} `json:"usage"`
		} `json:"message"`
		Block struct {
			Type  string         `json:"type"`
			Text  string         `json:"text"`
			ID    string         `json:"id"`
			Name  string         `json:"name"`
			Input jsontext.Value `json:"input"`
		} `json:"content_block"`
		Delta struct {
			Type    string `json:"type"`
			Text    string `json:"text"`
			Partial string `json:"partial_json"`
			Reason  string `json:"stop_reason"`
		} `json:"delta"`
		Usage struct {
			In  int `json:"input_tokens"`
			Out int `json:"output_tokens"`
		} `json:"usage"`
	}
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		return a.r.unreadable(err.Error())
	}
	if b.over || !b.begun && e.Type != "message_start" {
		return a.r.unreadable(fmt.Sprintf("%q stands outside of the message", e.Type))
	}
	now := b.open[e.Index]
	switch e.Type {
	case "message_start":
		if b.begun || e.Message.Role != "assistant" {
			return a.r.unreadable("it is no message of an assistant")
		}
		b.begun, b.model, b.in, b.out = true, e.Message.Model, e.Message.Usage.In, e.Message.Usage.Out
	case "content_block_start":
		if now != nil {
			return a.r.unreadable("a block begins twice")
		}
		now = &block{kind: e.Block.Type}
		b.open[e.Index] = now
		switch e.Block.Type {
		case "text":
			return a.say(e.Block.Text)
		case "tool_use":
			now.call, now.input = Call{ID: e.Block.ID, Name: e.Block.Name}, e.Block.Input.Clone()
		case "thinking", "redacted_thinking":
		default:
			return a.r.unreadable(fmt.Sprintf("it has a block of the type %q", e.Block.Type))
		}
	case "content_block_delta":
		switch {
		case now == nil:
			return a.r.unreadable("there is more of a block that is not there")
		case e.Delta.Type == "text_delta" && now.kind == "text":
			return a.say(e.Delta.Text)
		case e.Delta.Type == "input_json_delta" && now.kind == "tool_use":
			if now.arguments.WriteString(e.Delta.Partial); now.arguments.Len() > maxSaid {
				return a.r.unreadable("the arguments have no end")
			}
		case now.kind == "tool_use":
			return a.r.unreadable(fmt.Sprintf("a call has a part of the type %q", e.Delta.Type))
		}
	case "content_block_stop":
		if now == nil {
			return a.r.unreadable("a block ends that is not there")
		}
		delete(b.open, e.Index)
		if now.kind == "tool_use" {
			b.calls++
			if now.call.Arguments = now.arguments.String(); now.call.Arguments == "" {
				now.call.Arguments = string(now.input)
			}
			return a.call(now.call)
		}
	case "message_delta":
		b.reason, b.out = e.Delta.Reason, max(b.out, e.Usage.Out)
		b.in = max(b.in, e.Usage.In)
	case "message_stop":
		b.over = true
		return b.end(a)
	}
	return nil // an event of a later version says nothing that is needed
}

func (b *blocks) end(a *answer) error {
	switch b.reason {
	case "end_turn", "stop_sequence":
	case "tool_use":
		if b.calls == 0 {
			return a.r.unreadable("it ended for a call and has none")
		}
	case "max_tokens", "model_context_window_exceeded":
		return a.r.failed(remainder.Truncated, "")
	case "refusal":
		return a.r.failed(remainder.Declined, "")
	default:
		return a.r.unreadable(fmt.Sprintf("it ended for the reason %q", b.reason))
	}
	if len(b.open) > 0 {
		return a.r.unreadable("a block has no end")
	}
	a.ended = &Ended{Model: b.model, InTokens: b.in, OutTokens: b.out}
	return nil
}

// errorBody is what came with an error status of either API.
func errorBody(err error) string {
	if e, ok := errors.AsType[*anthropic.Error](err); ok {
		return e.RawJSON()
	}
	return openAIBody(err)
}

// errorEvent is an error that came as an event of either API, "" for none.
func errorEvent(err error) string {
	if e, ok := errors.AsType[*anthropic.Error](err); ok && e.StatusCode == http.StatusOK {
		return e.RawJSON()
	}
	return openAIEvent(err)
}
