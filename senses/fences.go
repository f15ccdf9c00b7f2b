package senses

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Fences are folders that one keystroke never opens for reading with all that
// lies under them, and of which only the machine knows (law §10, ruling 8):
// where file systems are mounted, and where the given folders, a home and a
// workspace, really are.
//
// Where the system has no list of mounts, those that show in a path's form are
// all that the law knows of.
func Fences(folders ...string) []string {
	var fences []string
	for _, folder := range folders {
		if real, err := filepath.EvalSymlinks(folder); err == nil && filepath.IsAbs(folder) && real != folder {
			fences = append(fences, real)
		}
	}
	if f, err := os.Open("/proc/self/mountinfo"); err == nil {
		defer f.Close()
		// What a list longer than this would add is left out, as on systems
		// without one.
		text, _ := io.ReadAll(io.LimitReader(f, maxConfig))
		fences = append(fences, mounts(text)...)
	}
	slices.Sort(fences)
	return slices.Compact(fences)
}

// mounts are the places in a list of the form of proc(5), mountinfo: the fifth
// word of each line, in which blanks and backslashes are octal. The root is no
// news. Nothing is looked at: a mount whose server is gone does not answer.
func mounts(list []byte) (places []string) {
	for line := range bytes.Lines(list) {
		words := bytes.Fields(line)
		if len(words) < 5 || !bytes.HasSuffix(line, []byte("\n")) {
			continue // also a line that was cut off
		}
		place := octal.Replace(string(words[4]))
		if filepath.IsAbs(place) && filepath.Clean(place) != "/" {
			places = append(places, filepath.Clean(place))
		}
	}
	return places
}

var octal = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`, `\043`, "#")
