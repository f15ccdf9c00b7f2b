package floor

import (
	"bytes"
	"fmt"
	"strings"
)

// lineOf is a line of a document, counted from 1.
func lineOf(data []byte, line int) string {
	for ; line > 1; line-- {
		_, data, _ = bytes.Cut(data, []byte("\n"))
	}
	text, _, _ := bytes.Cut(data, []byte("\n"))
	return strings.TrimRight(string(text), "\r")
}

// slip finds in a line that is no YAML what somebody meant as a plain text and
// YAML takes for something else, and says how to write it; "" when nothing
// looks so.
func slip(line string) string {
	quote := byte(0)
	start := true // a value may begin here
	flow := 0
	value := 0 // where the present one begins
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quote != 0:
			if c == '\\' && quote == '"' {
				i++
			} else if c == quote {
				quote = 0
			}
			continue
		case c == ' ' || c == '\t':
			continue
		case start && c == '-' && i+1 < len(line) && line[i+1] == ' ' && flow == 0:
			continue
		case start && (c == '"' || c == '\''):
			quote = c
		case start && strings.IndexByte("*&!@`%", c) >= 0:
			return quoteIt(valueAt(line[i:], flow))
		case start && c == '{' && bracesInText(line[i:]):
			return quoteIt(valueAt(line[i:], flow))
		case !start && flow > 0 && c == '{':
			return quoteIt(valueAt(line[value:], flow))
		case !start && flow > 0 && c == '#' && line[i-1] == ' ':
			end := i + max(0, strings.IndexAny(line[i:], ",]}"))
			return quoteIt(strings.TrimSpace(line[value:end]))
		case c == '[' || c == '{':
			flow++
			start = true
			continue
		case c == ']' || c == '}':
			flow = max(0, flow-1)
		case c == ',':
			start = flow > 0
			continue
		case c == ':' && (i+1 == len(line) || line[i+1] == ' '):
			rest := strings.TrimSpace(line[i+1:])
			if flow == 0 && rest != "" && strings.IndexByte("\"'[{|>*&!@`%", rest[0]) < 0 && strings.Contains(rest+" ", ": ") {
				return quoteIt(rest)
			}
			start = true
			continue
		}
		if start {
			value = i
		}
		start = false
	}
	return ""
}

// bracesInText reports whether braces are part of a text, as in "{a,b}.txt".
func bracesInText(s string) bool {
	end := strings.IndexByte(s, '}')
	return end > 0 && end+1 < len(s) && strings.IndexByte(" ,]}#", s[end+1]) < 0
}

// valueAt is the value that a text begins with.
func valueAt(s string, flow int) string {
	depth := 0
	for i := range len(s) {
		switch c := s[i]; {
		case c == '{' || c == '[':
			depth++
		case depth > 0 && (c == '}' || c == ']'):
			depth--
		case flow > 0 && depth == 0 && strings.IndexByte(",]}", c) >= 0, c == '#' && i > 0 && s[i-1] == ' ':
			return strings.TrimSpace(s[:i])
		}
	}
	return strings.TrimSpace(s)
}

func quoteIt(value string) string {
	if value == "" || len(value) > 200 {
		return ""
	}
	return "quote it: " + fmt.Sprintf("%q", value)
}

// meantText says how to write a mapping of one key that was meant as a text,
// such as "shipped:ssh" between brackets.
func meantText(n *node) string {
	if n.kind != mapping || len(n.keys) != 1 || n.values[0].kind != scalar && n.values[0].kind != nothing {
		return ""
	}
	text := n.keys[0].text + ":"
	if v := n.values[0].text; v != "" {
		if n.keys[0].text != "shipped" {
			text += " "
		}
		text += v
	}
	return quoteIt(text)
}
