package config

import (
	"bytes"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// MCPServer is a server of tools: a program that is started, or an address.
// The members are called as the clients of such servers call them.
type MCPServer struct {
	Command string
	Args    []string
	Env     map[string]string
	URL     string
	Headers map[string]string
}

// servers reads the servers by their names.
func (m member) servers() (map[string]MCPServer, error) {
	if m.text.Kind() != '{' {
		return nil, m.wrong(`an object, as in {"name": {"command": "program"}}`)
	}
	members, _, err := membersOf(m.text, 0)
	if err != nil {
		return nil, m.inside(err)
	}
	all := make(map[string]MCPServer)
	for _, one := range members {
		if !serverName(one.name) {
			return nil, m.inside(&fault{at: one.nameAt, text: fmt.Sprintf("%q cannot be the name of a server", one.name), hint: "letters, digits, - and _, no __"})
		}
		s, err := one.server()
		if err != nil {
			return nil, m.inside(err)
		}
		all[one.name] = s
	}
	return all, nil
}

// serverName reports whether the name of a tool tells where the name of its
// server ends: mcp__SERVER__TOOL.
func serverName(name string) bool {
	return name != "" && len(name) <= 64 && !strings.Contains(name, "__") && !strings.HasPrefix(name, "_") && !strings.HasSuffix(name, "_") &&
		strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == ""
}

func (m member) server() (s MCPServer, err error) {
	if m.text.Kind() != '{' {
		return s, m.wrong(`an object, as in {"command": "program"}`)
	}
	members, _, err := membersOf(m.text, 0)
	if err != nil {
		return s, m.inside(err)
	}
	for _, one := range members {
		switch one.name {
		case "command":
			s.Command, err = one.string("the path or the name of a program")
			if err == nil && s.Command == "" {
				err = one.wrong("the path or the name of a program")
			}
		case "args":
			err = one.into(&s.Args, "a list of texts")
		case "env":
			err = one.into(&s.Env, "an object of texts")
		case "url":
			s.URL, err = one.string("an address")
			if err == nil && !webAddress(s.URL) {
				err = &fault{at: one.value, text: "url must be an address of http or https"}
			}
		case "headers":
			err = one.into(&s.Headers, "an object of texts")
		default:
			err = unknown(one, []string{"command", "args", "env", "url", "headers"})
		}
		if err != nil {
			return s, m.inside(err)
		}
	}
	switch {
	case s.Command == "" && s.URL == "":
		return s, &fault{at: m.value, text: fmt.Sprintf("the server %s has neither a command nor a url", m.name)}
	case s.Command != "" && s.URL != "":
		return s, &fault{at: m.value, text: fmt.Sprintf("the server %s has a command and a url", m.name), hint: "one of them"}
	case s.URL == "" && s.Headers != nil, s.Command == "" && (s.Args != nil || s.Env != nil):
		return s, &fault{at: m.value, text: fmt.Sprintf("the server %s has settings that do not go together", m.name), hint: "args and env belong to a command, headers to a url"}
	}
	return s, nil
}

// into reads a list or an object of texts.
func (m member) into(v any, want string) error {
	if json.Unmarshal(bytes.Clone(m.text), v, jsontext.AllowDuplicateNames(false)) != nil || m.text.Kind() == 'n' {
		return m.wrong(want)
	}
	return nil
}

func webAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
}

// Environ is the environment of a server's program, NAME=VALUE by name.
func (s MCPServer) Environ() (env []string) {
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		env = append(env, name+"="+s.Env[name])
	}
	return env
}
