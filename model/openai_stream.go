package model

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/shared"

	"assent/remainder"
)

// Stream asks once, as [Chat] has it.
func (m completions) Stream(caller context.Context, t Talk) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		ctx, cancel := m.patient(caller)
		defer cancel()
		var got *http.Response
		service := m.service(&got)
		params := openai.ChatCompletionNewParams{Model: m.model}
		m.most(&params, t.MaxTokens)
		if m.URL == "" { // other servers may refuse it
			params.StreamOptions.IncludeUsage = openai.Bool(true)
		}
		if t.System != "" {
			params.Messages = append(params.Messages, openai.SystemMessage(t.System))
		}
		for _, tool := range t.Tools {
			params.Tools = append(params.Tools, openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
				Name: tool.Name, Description: openai.String(tool.Description), Parameters: tool.Parameters,
			}))
		}
		for _, message := range t.Messages {
			params.Messages = append(params.Messages, m.messages(message)...)
		}
		s := service.NewStreaming(ctx, params)
		r := new(deltas)
		m.listen(caller, ctx, s, &got, yield, func(a *answer) error { return r.read(a, s.Current().RawJSON()) })
	}
}

// messages are a message as the API has it: the result of a call is one of its own,
// and so is each text of the user.
func (m completions) messages(message Message) (all []openai.ChatCompletionMessageParamUnion) {
	for _, result := range message.Results {
		all = append(all, openai.ToolMessage(result.Text, result.Call))
	}
	if message.Role == remainder.User {
		for _, text := range message.Texts {
			all = append(all, openai.UserMessage(text))
		}
		return all
	}
	said := openai.ChatCompletionAssistantMessageParam{}
	if len(message.Texts) > 0 {
		said.Content.OfString = openai.String(strings.Join(message.Texts, "\n\n"))
	}
	for _, call := range message.Calls {
		said.ToolCalls = append(said.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{
			ID: call.ID, Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: call.Name, Arguments: call.Arguments},
		}})
	}
	return append(all, openai.ChatCompletionMessageParamUnion{OfAssistant: &said})
}

// deltas is an answer as its pieces build it.
type deltas struct {
	model   string
	in, out int
	reason  string
	calls   []*delta
	refusal strings.Builder
}

type delta struct {
	index     int
	call      Call
	arguments strings.Builder
}

// read reads a piece. The library takes one of other types for an empty one.
func (d *deltas) read(a *answer, text string) error {
	var e struct {
		Model   string `json:"model"`
		Choices []struct {
			Index int `json:"index"`
			Delta struct {
				Role    string `json:"role"`
				Content string `json:"content"`
				Refusal string `json:"refusal"`
				Calls   []struct {
					Index    int    `json:"index"`
					ID       string `json:"id"`
					Function struct {
						Name      string `json:"name"`
						Arguments string `json:"arguments"`
					} `json:"function"`
				} `json:"tool_calls"`
			} `json:"delta"`
			Reason string `json:"finish_reason"`
		} `json:"choices"`
		Usage struct {
			In  int `json:"prompt_tokens"`
			Out int `json:"completion_tokens"`
		} `json:"usage"`
	}
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		return a.r.unreadable(err.Error())
	}
	if e.Model != "" {
		d.model = e.Model
	}
	d.in, d.out = max(d.in, e.Usage.In), max(d.out, e.Usage.Out)
	if a.ended != nil { // the tokens may come behind the end
		a.ended.InTokens, a.ended.OutTokens = d.in, d.out
	}
	if len(e.Choices) == 0 {
		return nil
	}
	choice := e.Choices[0]
	switch said := choice.Delta; {
	case len(e.Choices) > 1 || choice.Index != 0:
		return a.r.unreadable("it has several choices")
	case said.Role != "" && said.Role != "assistant":
		return a.r.unreadable("it is no message of an assistant")
	case a.ended != nil && (said.Content != "" || len(said.Calls) > 0 || choice.Reason != "" && choice.Reason != d.reason):
		return a.r.unreadable("it goes on behind its end")
	}
	if err := a.say(choice.Delta.Content); err != nil {
		return err
	}
	if d.refusal.Len() < 1<<10 {
		d.refusal.WriteString(choice.Delta.Refusal)
	}
	for _, piece := range choice.Delta.Calls {
		now := d.last(piece.Index)
		if now == nil || piece.ID != "" && now.call.ID != "" && piece.ID != now.call.ID { // some give every call the same index
			if len(d.calls) == maxCalls {
				return a.r.unreadable(fmt.Sprintf("it has more than %d calls", maxCalls))
			}
			now = &delta{index: piece.Index}
			d.calls = append(d.calls, now)
		}
		if now.call.ID == "" {
			now.call.ID = piece.ID
		}
		if now.call.Name == "" {
			now.call.Name = piece.Function.Name
		}
		if now.arguments.WriteString(piece.Function.Arguments); now.arguments.Len() > maxSaid {
			return a.r.unreadable("the arguments have no end")
		}
	}
	if choice.Reason == "" || a.ended != nil {
		return nil
	}
	d.reason = choice.Reason
	return d.end(a)
}

// last is the call of an index that began last, nil for none.
func (d *deltas) last(index int) *delta {
	for i := len(d.calls) - 1; i >= 0; i-- {
		if d.calls[i].index == index {
			return d.calls[i]
		}
	}
	return nil
}

func (d *deltas) end(a *answer) error {
	switch d.reason {
	case "stop":
	case "tool_calls":
		if len(d.calls) == 0 {
			return a.r.unreadable("it ended for a call and has none")
		}
	case "length":
		return a.r.failed(remainder.Truncated, "")
	case "content_filter":
		return a.r.failed(remainder.Declined, "")
	default:
		return a.r.unreadable(fmt.Sprintf("it ended for the reason %q", d.reason))
	}
	if d.refusal.Len() > 0 {
		return a.r.failed(remainder.Declined, d.refusal.String())
	}
	for _, c := range d.calls {
		c.call.Arguments = c.arguments.String()
		if err := a.call(c.call); err != nil {
			return err
		}
	}
	a.ended = &Ended{Model: d.model, InTokens: d.in, OutTokens: d.out}
	return nil
}

func openAIBody(err error) string {
	if e, ok := errors.AsType[*openai.Error](err); ok {
		return e.RawJSON()
	}
	return ""
}

func openAIEvent(err error) string {
	if e, ok := errors.AsType[*ssestream.StreamError](err); ok {
		return string(e.Event.Data)
	}
	return ""
}
