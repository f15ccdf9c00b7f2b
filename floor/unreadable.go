package floor

import (
	"bytes"
	"errors"
	"strings"

	"assent/internal/misread"

	"github.com/goccy/go-yaml/token"
)

// unreadable says where and why a policy's text could not be read, in words for
// whoever wrote it. What begins as a JSON object is told as one.
func unreadable(data []byte, err error) (line, column int, message, hint string) {
	if text := bytes.TrimSpace(data); len(text) > 1 && text[0] == '{' && bytes.HasPrefix(bytes.TrimSpace(text[1:]), []byte{'"'}) {
		if _, err := readJSON(data); err != nil {
			if f, ok := misread.JSON(data, err); ok {
				r := jsonReader{data: data}
				line, column = r.place(f.At)
				return line, column, "the document is not valid JSON: " + f.What, ""
			}
		}
	}
	line, column, message = 1, 1, "the document is not valid YAML"
	var at interface{ GetToken() *token.Token }
	if errors.As(err, &at) && at.GetToken() != nil && at.GetToken().Position != nil {
		line, column = at.GetToken().Position.Line, at.GetToken().Position.Column
	}
	var what interface{ GetMessage() string }
	if errors.As(err, &what) {
		message += ": " + plainly(what.GetMessage())
	}
	return line, column, message, slip(lineOf(data, line))
}

// plainly says in words for people what the YAML parser says in its own. What it
// says otherwise stays as it is.
func plainly(said string) string {
	for _, p := range [][2]string{
		{"sequence end token ']' not found", "a ] that closes the list is missing"},
		{"',' or ']' must be specified", "a comma is missing, or a ] that closes the list"},
		{"',' or '}' must be specified", "a comma is missing, or a } that closes the mapping"},
		{"could not find '[' character", "a ] has no [ before it"},
		{"could not find '{' character", "a } has no { before it"},
		{"could not find flow mapping end token", "a } that closes the mapping is missing"},
		{"could not find flow map content", "a key stands without a colon and a value"},
		{"block sequence entries are not allowed", `a list of "- " begins on a line of its own`},
		{"mapping value is not allowed in this context", `": " makes a key of what stands before it, and none can stand here`},
		{"value is not allowed in this context", "something follows behind the end of a value"},
		{"could not find end character of single-quoted", "a text in ' quotes does not end"},
		{"could not find end character of double-quoted", `a text in " quotes does not end`},
		{"found unknown escape character", `in " quotes a backslash is written \\ (or put the text in ' quotes)`},
		{"is a reserved character", "no text begins with that character unless it is quoted"},
		{"non-map value is specified", "a key stands without a colon and a value"},
		{"unexpected key name", "a key stands without a colon and a value"},
		{"could not find value for mapping key", "a key stands without a colon and a value"},
		{"tab character", "a tab stands where only blanks may"},
		{"found character '\t'", "a tab stands where only blanks may"},
	} {
		if strings.Contains(said, p[0]) {
			return p[1]
		}
	}
	return said
}
