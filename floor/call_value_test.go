package floor

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestDecodersUsedAgain: a decoder that read other calls before reads a call as
// a new one does.
func TestDecodersUsedAgain(t *testing.T) {
	text := rapid.SampledFrom([]string{`{}`, `{"a":"b"}`, `{"a":1,"a":2}`, `{"a":{"b":{"a":[1,"x",null]}}}`, `{"a":"é"}`, `"text"`, `null`, ``, `{`, `{"a":"b"} {}`, "{\"a\":\"\xff\"}", `{"a":"` + string(bytes.Repeat([]byte("long "), 3000)) + `"}`})
	rapid.Check(t, func(t *rapid.T) {
		for range 4 {
			call := []byte(text.Draw(t, "arguments"))
			var options []jsontext.Options
			if rapid.Bool().Draw(t, "lenient") {
				options = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}
			}
			got, err := readValue(call, options...)
			d := jsontext.NewDecoder(bytes.NewReader(call), options...)
			want, wantErr := next(d, 0)
			if wantErr != nil {
				want = value{}
			} else if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
				wantErr = errTrailing
			}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(value{}, member{})); diff != "" || (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
				t.Fatalf("%.80q: %v, %v\n%s", call, err, wantErr, diff)
			}
		}
	})
}
