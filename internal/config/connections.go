package config

import (
	"fmt"
	"strings"
	"time"

	"assent/model"
)

// maxAnswer is how long an answer of a model may take, in milliseconds.
const maxAnswer = 10 * 60 * 1000

// connections reads the connections to models by their names.
func (m member) connections() (map[string]model.Connection, error) {
	if m.text.Kind() != '{' {
		return nil, m.wrong(`an object, as in {"claude": {"api": "anthropic", "model": "NAME"}}`)
	}
	members, _, err := membersOf(m.text, 0)
	if err != nil {
		return nil, m.inside(err)
	}
	all := make(map[string]model.Connection)
	for _, one := range members {
		if !connectionName(one.name) {
			return nil, m.inside(&fault{at: one.nameAt, text: fmt.Sprintf("%q cannot be the name of a connection", one.name), hint: "letters, digits, -, _ and ."})
		}
		c, err := one.connection()
		if err != nil {
			return nil, m.inside(err)
		}
		all[one.name] = c
	}
	return all, nil
}

func connectionName(name string) bool {
	return name != "" && len(name) <= 64 &&
		strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == ""
}

func (m member) connection() (c model.Connection, err error) {
	if m.text.Kind() != '{' {
		return c, m.wrong(`an object, as in {"api": "anthropic", "model": "NAME"}`)
	}
	members, _, err := membersOf(m.text, 0)
	if err != nil {
		return c, m.inside(err)
	}
	texts := map[string]struct {
		to   *string
		want string
	}{
		"url":     {&c.URL, "an address"},
		"model":   {&c.Model, "the name of a model"},
		"keyEnv":  {&c.KeyEnv, "the name of a variable"},
		"keyRing": {&c.KeyRing, "a name in the key ring"},
		"proxy":   {&c.Proxy, "an address"},
	}
	for _, one := range members {
		switch text, ok := texts[one.name]; {
		case ok:
			*text.to, err = one.string(text.want)
			if err == nil && *text.to == "" {
				err = &fault{at: one.value, text: one.name + " is empty"}
			}
		case one.name == "api":
			var api string
			api, err = one.string(`"anthropic" or "openai"`)
			c.API = model.API(api)
		case one.name == "timeoutMs":
			var n int
			n, err = one.int(1, maxAnswer)
			c.Timeout = time.Duration(n) * time.Millisecond
		default:
			err = unknown(one, []string{"api", "url", "model", "keyEnv", "keyRing", "proxy", "timeoutMs"})
		}
		if err != nil {
			return c, m.inside(err)
		}
	}
	if err := c.Check(); err != nil {
		return c, &fault{at: m.value, text: fmt.Sprintf("the connection %s: %v", m.name, err)}
	}
	return c, nil
}
