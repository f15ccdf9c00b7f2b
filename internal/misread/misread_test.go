package misread

import (
	"errors"
	"testing"

	"github.com/go-json-experiment/json"
)

func TestJSON(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"object not closed":    {`{"a": 1`, "character 8: it ends in the middle: a } is missing"},
		"list not closed":      {`{"a": [1`, "character 9: it ends in the middle: a ] is missing"},
		"text not closed":      {`{"a": "x`, `character 9: it ends in the middle of a text: a " is missing`},
		"name alone":           {`{"a"`, "character 5: it ends in the middle: a } is missing"},
		"empty":                {``, "character 1: it is empty"},
		"blank":                {" \n", "character 1: it is empty"},
		"no colon":             {`{"a" 1}`, "character 6: a colon is missing behind the name of a member"},
		"no comma":             {`{"a": 1 "b": 2}`, "character 9: a comma is missing, or a } that closes the object"},
		"no comma in a list":   {`["a" "b"]`, "character 6: a comma is missing, or a ] that closes the list"},
		"comma at the end":     {`{"a": 1,}`, "character 8: the comma before the end is one too many"},
		"comma ends a list":    {`[1,]`, "character 3: the comma before the end is one too many"},
		"no value":             {`{"a": }`, "character 7: a value is missing"},
		"no value before more": {`{"a": , "b": 1}`, "character 7: a value is missing"},
		"single quotes":        {`{'a': 1}`, `character 2: texts and names stand in "double quotes", not in single ones`},
		"single quoted value":  {`{"a": 'x'}`, `character 7: texts and names stand in "double quotes", not in single ones`},
		"bare name":            {`{a: 1}`, `character 2: the name of a member stands in "double quotes"`},
		"number as a name":     {`{1: 1}`, `character 2: the name of a member stands in "double quotes"`},
		"bare word":            {`{"a": ls}`, `character 7: a text stands in "double quotes"; without them are only numbers, true, false and null`},
		"True":                 {`{"a": True}`, `character 7: a text stands in "double quotes"; without them are only numbers, true, false and null`},
		"begins like null":     {`{"a": nope}`, `character 7: a text stands in "double quotes"; without them are only numbers, true, false and null`},
		"command line":         {`ls -la`, `character 1: a text stands in "double quotes"; without them are only numbers, true, false and null`},
		"more behind":          {`{"a": 1}}`, "character 9: something follows behind the end"},
		"twice":                {`{"a": 1, "a": 2}`, `character 10: "a" stands there a second time`},
		"bad escape":           {`{"a": "\x"}`, `character 8: a backslash stands for itself only as \\`},
		"line break":           {"{\"a\": \"x\ny\"}", `line 1, character 9: a line break or a control character in a text is written as \n, \t or \u0000`},
		"comment":              {"{// x\n}", "line 1, character 2: JSON has no comments"},
		"bad bytes":            {"{\"a\": \"\xff\"}", "character 8: there are bytes that are no UTF-8"},
		"byte order mark":      {"\ufeff{}", "character 1: there is a byte order mark, which is invisible: save the text as UTF-8 without one"},
		"lone surrogate":       {`{"a": "x\ud800"}`, `character 9: half of a surrogate pair: \ud800 to \udfff are characters only in pairs, as \ud83d\ude00`},
		"two first halves":     {`{"a": "\uD800\uD800"}`, `character 8: half of a surrogate pair: \ud800 to \udfff are characters only in pairs, as \ud83d\ude00`},
		"second half first":    {`{"a": "\udc00 y"}`, `character 8: half of a surrogate pair: \ud800 to \udfff are characters only in pairs, as \ud83d\ude00`},
		"half in a name":       {`{"\ud83d": 1}`, `character 3: half of a surrogate pair: \ud800 to \udfff are characters only in pairs, as \ud83d\ude00`},
		"bad escape behind":    {`{"a": "\ud83d\ude00\x"}`, `character 20: a backslash stands for itself only as \\`},
		"number":               {`{"a": 1.}`, "character 9: this is no number of JSON"},
		"on a later line":      {"{\n  \"é\": x\n}", `line 2, character 8: a text stands in "double quotes"; without them are only numbers, true, false and null`},
	} {
		t.Run(name, func(t *testing.T) {
			var v any
			err := json.Unmarshal([]byte(c.text), &v)
			if err == nil {
				t.Fatalf("%q was read", c.text)
			}
			f, ok := JSON([]byte(c.text), err)
			if !ok {
				t.Fatalf("%q: %v is no flaw of the text", c.text, err)
			}
			if got := f.In([]byte(c.text)); got != c.want {
				t.Errorf("%q\n got %s\nwant %s\n(the decoder says %v)", c.text, got, c.want, err)
			}
		})
	}
	if _, ok := JSON(nil, errors.New("the disk")); ok {
		t.Error("another error counts as one of the text")
	}
}
