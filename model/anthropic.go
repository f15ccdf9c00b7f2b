package model

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/go-json-experiment/json"

	"assent/remainder"
)

// messages asks with Anthropic's messages.
type messages struct{ reached }

// Complete asks once, as [remainder.Model] has it.
func (m messages) Complete(caller context.Context, q remainder.Request) (remainder.Answer, error) {
	ctx, cancel := m.limited(caller, q)
	defer cancel()
	var got *http.Response
	service := m.service(&got)
	params := anthropic.MessageNewParams{Model: anthropic.Model(m.model), MaxTokens: int64(q.MaxTokens)}
	if q.System != "" {
		params.System = []anthropic.TextBlockParam{{Text: q.System}}
	}
	for _, message := range q.Messages {
		var blocks []anthropic.ContentBlockParamUnion
		for _, part := range message.Parts {
			blocks = append(blocks, anthropic.NewTextBlock(part.Text))
		}
		if message.Role == remainder.Assistant {
			params.Messages = append(params.Messages, anthropic.NewAssistantMessage(blocks...))
		} else {
			params.Messages = append(params.Messages, anthropic.NewUserMessage(blocks...))
		}
	}
	reply, err := service.New(ctx, params)
	body := ""
	if e, ok := errors.AsType[*anthropic.Error](err); ok {
		body = e.RawJSON()
	}
	if err := m.failure(caller, ctx, got, body, err); err != nil {
		return remainder.Answer{}, err
	}
	return m.read(reply.RawJSON())
}

// service is the library, which goes where the connection says.
func (m messages) service(got **http.Response) anthropic.MessageService {
	opts := []option.RequestOption{
		option.WithHTTPClient(m.client), option.WithBaseURL(m.base()), option.WithMaxRetries(0), option.WithoutOpenTelemetry(),
		option.WithResponseInto(got),
	}
	if m.key != "" {
		opts = append(opts, option.WithAPIKey(m.key))
	}
	return anthropic.NewMessageService(opts...)
}

// read reads a reply. The library takes one of other types for an empty one.
func (m messages) read(text string) (a remainder.Answer, err error) {
	var reply struct {
		Type       string `json:"type"`
		Role       string `json:"role"`
		Model      string `json:"model"`
		StopReason string `json:"stop_reason"`
		Content    []struct {
			Type string  `json:"type"`
			Text *string `json:"text"`
		} `json:"content"`
		Usage struct {
			In  int `json:"input_tokens"`
			Out int `json:"output_tokens"`
		} `json:"usage"`
	}
	if err := json.Unmarshal([]byte(text), &reply); err != nil {
		return a, m.unreadable(err.Error())
	}
	if reply.Type != "message" || reply.Role != "assistant" {
		return a, m.unreadable("it is no message of an assistant")
	}
	switch reply.StopReason {
	case "end_turn", "stop_sequence":
	case "max_tokens", "model_context_window_exceeded":
		return a, m.failed(remainder.Truncated, "")
	case "refusal":
		return a, m.failed(remainder.Declined, "")
	default:
		return a, m.unreadable(fmt.Sprintf("it ended for the reason %q", reply.StopReason))
	}
	var said strings.Builder
	for _, block := range reply.Content {
		switch block.Type {
		case "text":
			if block.Text == nil {
				return a, m.unreadable("a block of text has no text")
			}
			said.WriteString(*block.Text)
		case "thinking", "redacted_thinking":
		default:
			return a, m.unreadable(fmt.Sprintf("it has a block of the type %q", block.Type))
		}
	}
	if said.Len() == 0 {
		return a, m.unreadable("it has no text")
	}
	return remainder.Answer{Text: m.keyless(said.String()), Model: reply.Model, InTokens: reply.Usage.In, OutTokens: reply.Usage.Out}, nil
}
