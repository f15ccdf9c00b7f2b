package kernel

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"assent/approval"
	"assent/floor"
	"assent/job"
	"assent/plexus"
)

// maxShown is how much of a preview is kept with a call, in bytes.
const maxShown = 64 << 10

// showLimit is how long looking for what a call would change may take. The answer
// of the floor waits for it, and a disk that does not answer would keep its slot.
const showLimit = 5 * time.Second

// preview is what is shown of a call, and the image its body is given.
type preview struct {
	shown job.Shown
	image string
}

// told is a preview of which nothing is withheld.
func told(shown job.Shown) preview { return preview{shown, shown.Image} }

// shown has tell called with what show gives, or with that it took too long.
func (k *Kernel) shown(ctx context.Context, cancel func(), show func(context.Context) preview, tell func(preview)) {
	var shown preview
	inTime := k.within(showLimit, cancel, func() { shown = show(ctx) }, func() {
		tell(told(job.Shown{Text: fmt.Sprintf("what it would change cannot be shown: looking took longer than %v", showLimit), Image: job.Unseen}))
	})
	if inTime {
		tell(shown)
	}
}

// show is what a person who is asked about a call can see of what it would
// change. It stands in the document, where agents read too, and nobody has
// licensed the call yet: so nothing is shown of a file that could not be read in
// silence, and its image stays in memory: it would tell whoever guesses the
// content. Who is not asked is shown nothing.
func (k *Kernel) show(ctx context.Context, asked job.Call, call floor.Call, really lies, result approval.PolicyResult) preview {
	executor := k.Registry.Shows(asked.Kind, asked.Name)
	if executor.Preview == nil || result != approval.Ask && result != approval.Deny {
		return preview{}
	}
	silent := true
	for _, p := range asked.Paths {
		if !p.Known() {
			return preview{}
		}
		path := string(p)
		if !p.Outside() {
			path = filepath.Join(call.Workspace, path)
		}
		call.Name, call.Client, call.Arguments = "read", "", []byte(`{"path":`+plexus.Text(path)+`}`)
		v, _, err := k.evaluate(ctx, call, really)
		silent = silent && err == nil && v.Result == approval.Allow
	}
	shown := executor.Show(ctx, asked)
	if asked.Kind == job.Foreign { // no body here compares it
		shown.Image = ""
	}
	if !silent {
		withheld, image := job.Withheld, job.Withheld+":"+shown.Image
		if asked.Kind == job.Foreign {
			withheld, image = "", ""
		}
		return preview{
			shown: job.Shown{Text: "it is not shown: reading it is not allowed by itself", Image: withheld},
			image: image,
		}
	}
	if len(shown.Text) > maxShown {
		shown.Text = shown.Text[:maxShown] + "\n[the rest is left out]"
	}
	shown.Text = strings.ToValidUTF8(shown.Text, string(utf8.RuneError))
	return told(shown)
}

// withShown puts a preview into an explanation, as its member "preview". An
// explanation that is none stays as it is.
func withShown(explanation string, shown job.Shown) string {
	if shown == (job.Shown{}) || len(explanation) < 2 || !strings.HasSuffix(explanation, "}") {
		return explanation
	}
	return withMember(explanation, "preview", shown)
}

// withReading puts into the explanation of a read what a person's yes to it opens:
// nothing where a rule is against it, and no content where only names are looked at.
func withReading(explanation string, v floor.Verdict) string {
	if v.Cluster != approval.Read {
		return explanation
	}
	if _, names := pathsAndNames(v); len(names) > 0 {
		explanation = withMember(explanation, "names", names)
	}
	return withMember(explanation, "ruled", v.Ruled)
}

// withMember puts one more member at the end of an object.
func withMember(object, name string, value any) string {
	text, err := json.Marshal(value, jsontext.AllowInvalidUTF8(true))
	if err != nil || len(object) < 2 || !strings.HasSuffix(object, "}") {
		return object
	}
	comma := ","
	if strings.TrimSpace(object[1:len(object)-1]) == "" {
		comma = ""
	}
	return object[:len(object)-1] + comma + strconv.Quote(name) + ":" + string(text) + "}"
}

// imageIn is the image of the preview in an explanation, "" for none.
func imageIn(explanation string) string {
	var e struct {
		Preview job.Shown `json:"preview"`
	}
	if json.Unmarshal([]byte(explanation), &e) != nil {
		return ""
	}
	return e.Preview.Image
}
