package approval

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

var (
	errNotObject = errors.New("arguments are not one JSON object")
	errDeep      = errors.New("arguments are nested too deeply")
)

// maxDepth bounds the nesting of arguments; no tool comes near it.
const maxDepth = 100

// eachValue calls f for every text, number and boolean among the values of a
// JSON object, with the names of the members it lies under. It reads tokens
// and not a map, so that both members of a repeated name are seen. Empty
// arguments and null have no values; anything else that is not one whole
// object is an error.
func eachValue(arguments []byte, f func(path []string, value json.Token)) error {
	arguments = bytes.TrimSpace(arguments)
	if len(arguments) == 0 || string(arguments) == "null" {
		return nil
	}
	if arguments[0] != '{' || !json.Valid(arguments) {
		return errNotObject
	}
	d := json.NewDecoder(bytes.NewReader(arguments))
	d.UseNumber()
	return walk(d, nil, f)
}

// walk reads one value. An array adds nothing to the path of its elements.
func walk(d *json.Decoder, path []string, f func([]string, json.Token)) error {
	if len(path) > maxDepth {
		return errDeep
	}
	t, err := d.Token()
	if err != nil {
		return err
	}
	switch t {
	case json.Delim('{'), json.Delim('['):
	case nil:
		return nil
	default:
		f(path, t)
		return nil
	}
	for d.More() {
		inner := path
		if t == json.Delim('{') {
			key, err := d.Token()
			if err != nil {
				return err
			}
			inner = append(path[:len(path):len(path)], key.(string))
		} else {
			// An element lies one level deeper under no name of its own.
			inner = append(path[:len(path):len(path)], "")
		}
		if err := walk(d, inner, f); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil && err != io.EOF {
		return err
	}
	return nil
}

// eachString is [eachValue] for texts alone.
func eachString(arguments []byte, f func(path []string, text string)) error {
	return eachValue(arguments, func(path []string, value json.Token) {
		if text, ok := value.(string); ok {
			f(path, text)
		}
	})
}

// plainKey is a member's name without the differences of spelling that
// clients have: filePath, file_path and FilePath are one.
func plainKey(key string) string { return strings.ToLower(joined.Replace(key)) }

// joined takes out what some spellings put between words.
var joined = strings.NewReplacer("_", "", "-", "")
