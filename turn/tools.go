package turn

import (
	"assent/job"
	"assent/model"
	"assent/session"
)

// Tools are the host's own tools as a model is told of them. Their arguments are those
// that package toolkit reads.
func Tools() []Tool {
	var tools []Tool
	for _, t := range []struct {
		kind              session.Kind
		name, description string
		changes           bool
		parameters        []parameter
	}{
		{job.SystemTool, "read", "Read lines of a text file.", false, []parameter{
			text("path", "the file"), whole("offset", "the first line, from 1"), whole("limit", "how many lines")}},
		{job.SystemTool, "list", "List a folder.", false, []parameter{option("path", "the folder; the present one where left out")}},
		{job.SystemTool, "glob", "Find files by the pattern of their paths, such as **/*.go.", false, []parameter{
			text("pattern", "the pattern"), option("path", "the folder to look in")}},
		{job.SystemTool, "grep", "Find lines of files by a regular expression (RE2).", false, []parameter{
			text("pattern", "the expression"), option("path", "the folder or file to look in"), option("include", "a pattern of the names of files"),
			{"ignoreCase", "whether case makes no difference", map[string]any{"type": "boolean"}, false}}},
		{job.SystemTool, "bash", "Run a shell command. Its output comes when it ends.", true, []parameter{
			text("command", "the command"), whole("timeout", "the longest it may take, in milliseconds")}},
		{job.FileMutateTool, "write", "Write a whole file: a new one, or instead of what is there.", true, []parameter{
			text("path", "the file"), text("content", "all of its text")}},
		{job.FileMutateTool, "edit", "Replace texts of a file, one after the other. Each stands there once, or all of them are replaced.", true, []parameter{
			text("path", "the file"), {"edits", "what is replaced", edits, true}}},
		{job.WebExtractTool, "web_extract", "Read a page of the web as text.", false, []parameter{text("url", "its address")}},
		{job.WebSearchTool, "web_search", "Search the web.", false, []parameter{text("query", "what to look for")}},
		{job.ProgrammaticJob, "scheme_repl", "Run a program in Scheme (R7RS-small) that calls the tools: (bash \"ls\"), (grep \"TODO\" 'path \"src\"), (tool:read \"a.txt\"), (tool:write \"b.txt\" \"text\"). " +
			"What a tool needs comes first, each other argument behind its name; an object is an association list. A call gives its text, (call-tool 'bash '((command . \"ls\"))) all of its outcome. " +
			"One that was refused or failed raises a condition. You get the value of the last expression, and what the program displays.", true, []parameter{
			text("expr", "the program")}},
		{job.SystemTool, "context_need", "Say what you do not know and need for this.", false, []parameter{text("need", "what it is")}},
		{job.SystemTool, "update_metadata", "Say what this session is about, for those who look on: a title, or whatever else helps, each a short text under a name of yours. An empty text takes one away.", false, nil},
		{job.AgentCall, "agent_call", "Start another agent for a task. What it finds comes later, as a message.", false, []parameter{text("task", "the task, with all that it must know")}},
		{job.AgentMessage, "agent_message", "Say something to the agent that started you, or to one that you started.", false, []parameter{
			text("text", "what you say"), option("to", "the session of the agent; the one that started you where left out")}},
		{job.AgentCallback, "agent_callback", "Give the agent that started you the answer.", false, []parameter{text("text", "the answer")}},
		{job.AgentNotify, "agent_notify", "Tell whoever looks on.", false, []parameter{text("text", "what you tell")}},
	} {
		schema := map[string]any{"type": "object", "additionalProperties": false}
		properties, needed := map[string]any{}, []string{}
		for _, p := range t.parameters {
			of := map[string]any{"description": p.description}
			for key, value := range p.schema {
				of[key] = value
			}
			properties[p.name] = of
			if p.needed {
				needed = append(needed, p.name)
			}
		}
		schema["properties"], schema["required"] = properties, needed
		if t.parameters == nil { // it has what names one likes
			schema["additionalProperties"] = map[string]any{"type": "string"}
		}
		tools = append(tools, Tool{model.Tool{Name: t.name, Description: t.description, Parameters: schema}, t.kind, t.changes})
	}
	return tools
}

type parameter struct {
	name, description string
	schema            map[string]any
	needed            bool
}

func text(name, description string) parameter {
	return parameter{name, description, map[string]any{"type": "string"}, true}
}

func option(name, description string) parameter {
	return parameter{name, description, map[string]any{"type": "string"}, false}
}

func whole(name, description string) parameter {
	return parameter{name, description, map[string]any{"type": "integer", "minimum": 0}, false}
}

var edits = map[string]any{"type": "array", "items": map[string]any{
	"type": "object", "additionalProperties": false, "required": []string{"oldText", "newText"},
	"properties": map[string]any{
		"oldText":    map[string]any{"type": "string"},
		"newText":    map[string]any{"type": "string"},
		"replaceAll": map[string]any{"type": "boolean", "description": "whether it may stand there more than once"},
	},
}}
