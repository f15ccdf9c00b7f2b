package floor

import (
	"maps"
	"strings"
	"sync"

	"assent/floor/effect"
)

var (
	urlNames   = set("url", "urls", "uri", "uris", "link", "links", "href", "website", "address", "targeturl", "pageurl", "pathorurl")
	proseNames = set("prompt", "query", "text", "input", "objective", "question")
)

// fetch is a tool that reads from the web. The address is kept as it came:
// its scheme, user and host are for the policy's reader of hosts.
func fetch(r *reading, name string, args *value) {
	found := r.paths(args, urlNames)
	if len(found) == 0 {
		// Some tools take the addresses out of a text written for them.
		for _, p := range r.paths(args, proseNames) {
			for _, u := range addresses(p.text) {
				found = append(found, located{p.arg, u})
			}
		}
	}
	if len(found) == 0 {
		r.opaque("", "no address is given")
	}
	r.single(found)
	for _, f := range found {
		r.net(f.arg, f.text)
	}
	// Another machine on the way, and a file for what comes.
	for _, f := range r.paths(args, viaNames) {
		r.net(f.arg, f.text)
	}
	if name == "download" {
		return
	}
	o := openReading{r: r}
	for _, f := range append(r.paths(args, fileNamesOfFetch()), r.besides(args)...) {
		if t := strings.TrimSpace(f.text); !strings.Contains(t, "://") && (pathLike(t) || fileLike(t) || o.odd(nil, t)) {
			r.path(f.arg, f.text, about{}, effect.Read, effect.Write)
		}
	}
}

// viaNames are the arguments that name another machine than the address.
var viaNames = set("proxy", "proxies", "proxyurl", "httpproxy", "httpsproxy", "socksproxy", "via", "gateway", "baseurl", "endpoint", "server", "host", "hostname", "webhook", "webhookurl", "callback",
	"callbackurl", "mirror", "resolve", "dns")

// fileNamesOfFetch are the names of arguments for files, but those that are
// for addresses here.
var fileNamesOfFetch = sync.OnceValue(func() map[string]bool {
	names := maps.Clone(pathNames)
	for name := range urlNames {
		delete(names, name)
	}
	return names
})

// download is a fetch that writes what it gets.
func download(r *reading, name string, args *value) {
	fetch(r, name, args)
	r.files(args, about{}, effect.Write)
}

// net adds an address that is contacted.
func (r *reading) net(arg, address string) {
	if address == "" {
		r.opaque(arg, "the address is empty")
		return
	}
	for i := 0; i < len(address); i++ {
		if c := address[i]; c < 0x20 || c == 0x7f {
			r.opaque(arg, "the address holds a control character")
			break
		}
	}
	if strings.HasPrefix(strings.ToLower(strings.TrimSpace(address)), "file:") {
		r.path(arg, strings.TrimSpace(address), about{}, effect.Read)
	}
	r.add(effect.Effect{Kind: effect.Net, Target: address, Arg: arg})
}

// addresses finds the URLs in a text: a scheme, "://" and all that follows up
// to a blank or a quote.
func addresses(text string) []string {
	var out []string
	for rest := text; ; {
		i := strings.Index(rest, "://")
		if i < 0 {
			return out
		}
		start := i
		for start > 0 && isSchemeByte(rest[start-1]) {
			start--
		}
		end := i + 3
		for end < len(rest) && rest[end] > ' ' && strings.IndexByte("\"'<>`|", rest[end]) < 0 {
			end++
		}
		if start < i && end > i+3 {
			out = append(out, strings.TrimRight(rest[start:end], ".,;:!?)]}"))
		}
		rest = rest[end:]
	}
}

func isSchemeByte(c byte) bool { return isAlnum(c) && c < 0x80 || c == '+' || c == '-' || c == '.' }
