package model

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"

	"assent/remainder"
)

// completions asks with chat completions.
type completions struct{ reached }

// Complete asks once, as [remainder.Model] has it.
func (m completions) Complete(caller context.Context, q remainder.Request) (remainder.Answer, error) {
	ctx, cancel := m.limited(caller, q)
	defer cancel()
	var got *http.Response
	service := m.service(&got)
	params := openai.ChatCompletionNewParams{Model: m.model}
	m.most(&params, q.MaxTokens)
	if q.JSON && m.URL == "" { // other servers may refuse it
		params.ResponseFormat.OfJSONObject = &shared.ResponseFormatJSONObjectParam{}
	}
	if q.System != "" {
		params.Messages = append(params.Messages, openai.SystemMessage(q.System))
	}
	for _, message := range q.Messages {
		if message.Role == remainder.Assistant {
			var parts []openai.ChatCompletionAssistantMessageParamContentArrayOfContentPartUnion
			for _, part := range message.Parts {
				parts = append(parts, openai.ChatCompletionAssistantMessageParamContentArrayOfContentPartUnion{
					OfText: &openai.ChatCompletionContentPartTextParam{Text: part.Text},
				})
			}
			params.Messages = append(params.Messages, openai.AssistantMessage(parts))
			continue
		}
		var parts []openai.ChatCompletionContentPartUnionParam
		for _, part := range message.Parts {
			parts = append(parts, openai.TextContentPart(part.Text))
		}
		params.Messages = append(params.Messages, openai.UserMessage(parts))
	}
	reply, err := service.New(ctx, params)
	body := ""
	if e, ok := errors.AsType[*openai.Error](err); ok {
		body = e.RawJSON()
	}
	if err := m.failure(caller, ctx, got, body, err); err != nil {
		return remainder.Answer{}, err
	}
	return m.read(reply.RawJSON())
}

// service is the library, which goes where the connection says.
func (m completions) service(got **http.Response) openai.ChatCompletionService {
	opts := []option.RequestOption{
		option.WithResponseInto(got),
		option.WithHTTPClient(m.client), option.WithBaseURL(m.base()), option.WithMaxRetries(0),
		option.WithUnsafeAllowHTTP(), // to this machine alone: Check sees to that
	}
	if m.key != "" {
		opts = append(opts, option.WithAPIKey(m.key))
	} else {
		opts = append(opts, option.WithHeaderDel("Authorization"))
	}
	return openai.NewChatCompletionService(opts...)
}

// most bounds an answer.
func (m completions) most(params *openai.ChatCompletionNewParams, tokens int) {
	if m.URL == "" {
		params.MaxCompletionTokens = openai.Int(int64(tokens))
	} else {
		params.MaxTokens = openai.Int(int64(tokens)) // the name that other servers know
	}
}

// read reads a reply. The library takes one of other types for an empty one.
func (m completions) read(text string) (a remainder.Answer, err error) {
	var reply struct {
		Model   string `json:"model"`
		Choices []struct {
			FinishReason string `json:"finish_reason"`
			Message      struct {
				Role    string `json:"role"`
				Content string `json:"content"`
				Refusal string `json:"refusal"`
			} `json:"message"`
		} `json:"choices"`
		Usage struct {
			In  int `json:"prompt_tokens"`
			Out int `json:"completion_tokens"`
		} `json:"usage"`
	}
	if err := json.Unmarshal([]byte(text), &reply); err != nil {
		return a, m.unreadable(err.Error())
	}
	if len(reply.Choices) != 1 {
		return a, m.unreadable(fmt.Sprintf("it has %d choices", len(reply.Choices)))
	}
	choice := reply.Choices[0]
	switch choice.FinishReason {
	case "stop":
	case "length":
		return a, m.failed(remainder.Truncated, "")
	case "content_filter":
		return a, m.failed(remainder.Declined, "")
	default:
		return a, m.unreadable(fmt.Sprintf("it ended for the reason %q", choice.FinishReason))
	}
	switch {
	case choice.Message.Role != "assistant":
		return a, m.unreadable("it is no message of an assistant")
	case choice.Message.Refusal != "":
		return a, m.failed(remainder.Declined, choice.Message.Refusal)
	case choice.Message.Content == "":
		return a, m.unreadable("it has no text")
	}
	return remainder.Answer{Text: m.keyless(choice.Message.Content), Model: reply.Model, InTokens: reply.Usage.In, OutTokens: reply.Usage.Out}, nil
}
