package shell

import (
	"path"
	"slices"
	"strings"

	"assent/floor/commands"
	"assent/floor/effect"
)

// packed are the endings that a packed file loses, and what stands in their
// place then.
var packed = []struct{ ending, plain string }{
	{".tgz", ".tar"}, {".taz", ".tar"}, {".tbz", ".tar"}, {".tbz2", ".tar"}, {".tz2", ".tar"}, {".txz", ".tar"}, {".tlz", ".tar"}, {".tzst", ".tar"},
	{".gz", ""}, {".z", ""}, {".Z", ""}, {"-gz", ""}, {"-z", ""}, {"_z", ""}, {".bz2", ""}, {".bz", ""}, {".xz", ""}, {".lzma", ""}, {".lz", ""}, {".lzo", ""}, {".zst", ""}, {".lz4", ""}, {".br", ""},
}

// packers make a file of another name beside the one they are given, and take that
// one away.
var packers = map[string]string{
	"gzip": ".gz", "pigz": ".gz", "bzip2": ".bz2", "pbzip2": ".bz2", "lbzip2": ".bz2", "xz": ".xz", "pixz": ".xz", "lzma": ".lzma", "lzip": ".lz", "plzip": ".lz", "lzop": ".lzo",
	"compress": ".Z", "zstd": ".zst", "zstdmt": ".zst", "pzstd": ".zst", "lz4": ".lz4", "lz4c": ".lz4", "brotli": ".br",
}

// repacked tells the file that a packer makes out of one: unpacked, its name
// without the ending. A name that the packed file itself holds, or an ending that
// an option names, is a name that cannot be told.
func (t *typed) repacked(text string, span effect.Span) {
	name := t.cmd.Program
	ending, packer := packers[name]
	unpacks := strings.HasPrefix(name, "un") || slices.Contains([]string{"gunzip", "bunzip2"}, name)
	if !packer && !unpacks || t.has("--output") || t.has("-o") || t.has("--test") || t.has("--list") {
		return
	}
	made := ""
	switch {
	case t.has("--recursive") || t.has("-r"):
		made = text + "/" + commands.Unknown
	case !unpacks && !t.has("--decompress"):
		if made = text + ending; t.has("--suffix") {
			made = text + commands.Star
		}
	case t.has("--name") || t.has("--suffix") || !commands.Known(text):
		made = path.Dir(text) + "/" + commands.Unknown
	default:
		for _, p := range packed {
			if rest, ok := strings.CutSuffix(text, p.ending); ok && rest != "" {
				made = rest + p.plain
				break
			}
		}
		if made == "" { // "gunzip x" takes x.gz, and x was told
			return
		}
	}
	t.path(effect.Write, made, span, "", false, false)
}
