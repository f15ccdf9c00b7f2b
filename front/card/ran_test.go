package card

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"assent/front/api/wire"
)

func TestACardSaysHowACallRan(t *testing.T) {
	for _, row := range []struct {
		name string
		ran  wire.Run
		want string
	}{
		{"refused", wire.Run{How: "refused", OK: true, Text: "RAN"}, "it ran though it was refused (15:09:26) gave RAN"},
		{"with-others", wire.Run{How: "otherwise", OK: true, Arguments: jsontext.Value(`{"command":"rm"}`)}, `it ran with other arguments than it was allowed with (15:09:26) with {"command":"rm"}`},
		{"with-long-others", wire.Run{How: "waiting", Cut: 70000}, "it ran before it was answered, and failed (15:09:26) with others, of 70000 bytes"},
		{"a-word-of-a-newer-kernel", wire.Run{How: "some\nhow", OK: true}, "it ran and was not licensed so: some"},
	} {
		job := asked("Bash", "bash", `{"command":"ls"}`, `{"effects":[]}`, "")
		row.ran.At = now
		job.Leaf.Ran = &row.ran
		text := Text(Of(job, about()).Lines(Look{Width: 100, Plain: true}), false)
		if got := strings.Join(strings.Fields(text), " "); !strings.Contains(strings.ReplaceAll(got, ":", ""), strings.ReplaceAll(row.want, ":", "")) {
			t.Errorf("%s: got\n%s\nwant %s", row.name, text, row.want)
		}
	}
}
