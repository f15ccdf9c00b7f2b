package shell

import (
	"net/url"
	"strings"

	"assent/floor/commands"
	"assent/floor/effect"
)

// downloads are the names under which files of the given URLs are kept, by
// which they may turn out to be configuration: the last part of each, its
// whole path where folders are made for it, and what cannot be told where the
// server decides.
func (t *typed) downloads() []string {
	if t.has("--remote-header-name", "--content-disposition", "--trust-server-names") {
		return []string{commands.Unknown}
	}
	many := t.has("--recursive", "--mirror", "--page-requisites")
	folders := many || t.has("--force-directories")
	flat := t.has("--no-host-directories", "--no-directories")
	if many && flat {
		return []string{commands.Unknown}
	}
	var out []string
	for _, o := range t.reading.Operands {
		if o.Type != commands.URL {
			continue
		}
		text := o.Text
		if !commands.Known(text) {
			return []string{commands.Unknown}
		}
		text, _, _ = strings.Cut(text, "#")
		text, _, _ = strings.Cut(text, "?")
		if _, rest, has := strings.Cut(text, "://"); has {
			text = rest
		}
		name := ""
		if i := strings.LastIndexByte(text, '/'); i >= 0 {
			name = text[i+1:]
		}
		if name == "" || name == "." || name == ".." {
			name = "index.html"
			text += "/" + name
		}
		if folders {
			name = text
			if _, below, has := strings.Cut(text, "/"); has && flat {
				name = below
			}
			if t.has("--cut-dirs") {
				out = append(out, base(name))
			}
		}
		if u, err := url.PathUnescape(name); err == nil && (folders || !strings.Contains(u, "/")) {
			name = u
		}
		out = append(out, name)
	}
	return out
}

// downloaded tells what a download is called in the folder that an option names.
func (t *typed) downloaded(folder string, span effect.Span, option string) {
	switch option {
	case "--directory-prefix", "--output-dir", "--dir":
	default:
		return
	}
	for _, name := range t.downloads() {
		t.path(effect.Write, strings.TrimRight(folder, "/")+"/"+name, span, option, false, false)
	}
}

// curlFile is the file that a value of an option of curl stands for: a
// certificate may be followed by its password, and an upload may be a pattern
// of many files.
func (t *typed) curlFile(text string, span effect.Span, option string) string {
	switch option {
	case "--upload-file":
		if strings.ContainsAny(text, "{[") {
			return commands.Unknown
		}
	case "--cert", "--proxy-cert":
		if i := strings.LastIndexByte(text, ':'); i > 0 {
			t.path(effect.Read, text[:i], span, option, false, false)
		}
	}
	return text
}

// mapped tells the addresses that curl is told to contact for another:
// HOST:PORT:ADDRESS[,ADDRESS] (--resolve), HOST:PORT:HOST:PORT (--connect-to).
func (t *typed) mapped(text string, span effect.Span, option string) {
	if !commands.Known(text) {
		t.opaque("an address that cannot be told", span, option, false)
		return
	}
	rest := text
	for range 2 { // the host and the port that stand for others
		if inner, after, is := strings.Cut(rest, "]"); is && strings.HasPrefix(inner, "[") {
			rest = after
		}
		_, after, is := strings.Cut(rest, ":")
		if !is { // "-HOST:PORT" takes an address back
			return
		}
		rest = after
	}
	if option == "--connect-to" {
		if rest = strings.TrimSuffix(rest, ":"); rest != "" && !strings.HasPrefix(rest, ":") {
			t.r.net(rest, span, t.cmd, option)
		}
		return
	}
	for address := range strings.SplitSeq(rest, ",") {
		if address != "" {
			t.r.net(address, span, t.cmd, option)
		}
	}
}
