package remainder

import "context"

// Choice names a connection and a model, either of which may be left open.
type Choice struct{ Connection, Model string }

// Choices are what was chosen for the classifier, in the order of the law (§9).
type Choices struct {
	Session Choice // judgeConnection, judgeModel of the session
	Kernel  Choice // the last choice for all sessions
	Chat    Choice // the session's own connection and model
}

// Choose is the connection and the model that are asked: the first connection that
// is named, and the first model that was named for it. A model that was chosen
// together with another connection is none of it. An error is a [*Failure].
func (c Choices) Choose(all Connections) (Choice, error) {
	var to Choice
	for _, choice := range []Choice{c.Session, c.Kernel, c.Chat} {
		if to.Connection == "" {
			to.Connection = choice.Connection
		}
	}
	if to.Connection == "" {
		return to, &Failure{Cause: Unconnected, Detail: "none was chosen for the classifier (judgeConnection in config.json)"}
	}
	setting, ok := "", false
	if all != nil {
		setting, ok = all.Setting(to.Connection)
	}
	if !ok {
		return to, &Failure{Cause: Unconnected, Connection: to.Connection, Detail: "config.json has none of that name"}
	}
	for _, choice := range []Choice{c.Session, c.Kernel} {
		if to.Model == "" && (choice.Connection == "" || choice.Connection == to.Connection) {
			to.Model = choice.Model
		}
	}
	if to.Model == "" {
		to.Model = setting
	}
	if to.Model == "" && c.Chat.Connection == to.Connection {
		to.Model = c.Chat.Model
	}
	if to.Model == "" {
		return to, &Failure{Cause: Unconnected, Connection: to.Connection, Detail: "it names no model, and nobody has chosen one (judgeModel)"}
	}
	return to, nil
}

// Connect is the model that a choice names.
func (c Choices) Connect(ctx context.Context, all Connections) (Choice, Model, error) {
	to, err := c.Choose(all)
	if err != nil {
		return to, nil, err
	}
	m, err := all.Connect(ctx, to.Connection, to.Model)
	return to, m, err
}
