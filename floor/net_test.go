package floor

import (
	"net/netip"
	"testing"
)

func TestParseAddress(t *testing.T) {
	tests := []struct {
		name, target, host, port string
		odd                      bool
	}{
		{"url", "https://Example.com/x?y#z", "example.com", "", false},
		{"url-port", "http://example.com:8080/x", "example.com", "8080", false},
		{"host", "example.com", "example.com", "", false},
		{"host-port", "example.com:22", "example.com", "22", false},
		{"dev-tcp", "10.0.0.1/4444", "10.0.0.1", "4444", false},
		{"scp", "git@example.com:org/repo.git", "example.com", "", false},
		{"trailing-dot", "https://EXAMPLE.com./", "example.com", "", false},
		{"user", "https://docs.python.org@evil.example/", "evil.example", "", false},
		{"user-and-password", "https://a:b@evil.example:1/", "evil.example", "1", false},
		{"two-ats", "https://a@good.example@evil.example/", "evil.example", "", true},
		{"query-with-at", "https://good.example?@evil.example", "good.example", "", false},
		{"fragment", "https://good.example#@evil.example", "good.example", "", false},
		{"backslash", `https://evil.example\@good.example/`, "evil.example", "", true},
		{"backslash-in-path", `https://good.example/\@evil.example`, "good.example", "", false},
		{"nul", "http://evil.example\x00.google.com/", "", "", true},
		{"blank", "http://evil.example .google.com/", "", "", true},
		{"percent", "http://%65vil.example/", "evil.example", "", true},
		{"percent-in-path", "https://good.example/a%20b", "good.example", "", false},
		{"cyrillic", "https://\u0430pple.com/", "\u0430pple.com", "", true},
		{"punycode", "https://xn--pple-43d.com/", "xn--pple-43d.com", "", true},
		{"full-width", "http://\uff11\uff12\uff17.0.0.1/", "127.0.0.1", "", true},
		{"ideographic-dot", "http://169\u3002254\u3002169\u3002254/", "169.254.169.254", "", true},
		{"circled", "http://\u2460\u2461\u2466.0.0.1/", "127.0.0.1", "", true},
		{"many-slashes", "https:////evil.example/", "evil.example", "", false},
		{"no-slashes", "https:evil.example", "evil.example", "", false},
		{"scheme-relative", "//evil.example/x", "evil.example", "", false},
		{"ipv6", "http://[::1]:80/", "::1", "80", false},
		{"ipv6-open", "http://[::1", "", "", true},
		{"unknown", "https://…/x", "", "", false},
		{"unknown-part", "https://api.example…", "", "", false},
		{"unknown-user", "https://…@good.example/", "", "", false},
		{"unknown-path", "https://api.example/…", "api.example", "", false},
		{"empty", "", "", "", false},
		{"words", "the remote origin", "", "", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := parseAddress(tt.target)
			if a.host != tt.host || a.port != tt.port || a.odd != tt.odd {
				t.Errorf("%q: host %q port %q odd %v, want %q %q %v", tt.target, a.host, a.port, a.odd, tt.host, tt.port, tt.odd)
			}
		})
	}
}

// However it is spelled, a host that is refused stays refused, and what is
// spelled oddly is nothing that a rule allows.
func TestHostSpellings(t *testing.T) {
	blocked, err := compileHost("@metadata")
	if err != nil {
		t.Fatal(err)
	}
	any, err := compileHost("*")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, target string }{
		{"plain", "http://169.254.169.254/"},
		{"one-slash", "http:/169.254.169.254/"},
		{"no-slash", "http:169.254.169.254"},
		{"three-slashes", "http:///169.254.169.254/"},
		{"backslashes", `http:\\169.254.169.254\`},
		{"one-backslash", `http:\169.254.169.254/`},
		{"mixed-slashes", `http:/\169.254.169.254/`},
		{"backslash-before-at", `http://x\@169.254.169.254/`},
		{"backslash-behind-host", `http://169.254.169.254\@x/`},
		{"upper-case-scheme", "HTTP:/169.254.169.254"},
		{"other-scheme", "ftps:/169.254.169.254"},
		{"no-scheme", "169.254.169.254"},
		{"path-only", "169.254.169.254/latest"},
		{"port", "http://169.254.169.254:80/"},
		{"two-ports", "http://169.254.169.254:80:81/"},
		{"empty-port", "http://169.254.169.254:/"},
		{"trailing-dot", "http://169.254.169.254./"},
		{"trailing-dots", "http://169.254.169.254../"},
		{"userinfo", "http://a:b@169.254.169.254/"},
		{"two-ats", "http://x@169.254.169.254@y/"},
		{"decimal", "http://2852039166/"},
		{"hexadecimal", "http://0xA9FEA9FE/"},
		{"octal", "http://0251.0376.0251.0376/"},
		{"long-octal", "http://0000251.0376.0251.0376/"},
		{"mixed-bases", "http://0xa9.254.0251.254/"},
		{"short", "http://169.254.43518/"},
		{"zeros-read-as-decimal", "http://169.254.169.0254/"},
		{"mapped", "http://[::ffff:a9fe:a9fe]/"},
		{"mapped-upper", "http://[::FFFF:A9FE:A9FE]:80/"},
		{"mapped-dotted", "http://[::ffff:169.254.169.254]/"},
		{"mapped-long", "http://[0:0:0:0:0:ffff:a9fe:a9fe]/"},
		{"compatible", "http://[::a9fe:a9fe]/"},
		{"nat64", "http://[64:ff9b::a9fe:a9fe]/"},
		{"translated", "http://[::ffff:0:a9fe:a9fe]/"},
		{"zone", "http://[::ffff:a9fe:a9fe%25lo]/"},
		{"ideographic-dots", "http://169\u3002254\uff0e169\uff61254/"},
		{"full-width", "http://\uff11\uff16\uff19.254.169.254/"},
		{"mathematical-digits", "http://\U0001d7cf\U0001d7d4\U0001d7d7.254.169.254/"},
		{"superscripts", "http://\u00b9\u2076\u2079.254.169.254/"},
		{"escaped", "http://%31%36%39.254.169.254/"},
		{"escaped-dots", "http://169%2e254%2E169%2e254/"},
		{"tab", "http://169.254.\t169.254/"},
		{"new-line", "ht\ntp://169.254.169.254/"},
		{"name", "http://METADATA.google.internal./"},
		{"name-full-width", "http://\uff4detadata.google.internal/"},
		{"name-in-an-address-service", "http://169.254.169.254.nip.io/"},
		{"name-with-dashes", "http://app-169-254-169-254.sslip.io/"},
		{"name-in-hexadecimal", "http://a9fea9fe.nip.io/"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := parseAddress(tt.target)
			if !blocked.match(&a, true) {
				t.Errorf("%q is not @metadata: %+v", tt.target, a)
			}
			if len(a.also) > 0 && any.match(&a, false) {
				t.Errorf("%q is allowed though it can be read in several ways", tt.target)
			}
		})
	}
}

func TestParseIP(t *testing.T) {
	for host, want := range map[string]string{
		"127.0.0.1":                "127.0.0.1",
		"127.1":                    "127.0.0.1",
		"127.0.1":                  "127.0.0.1",
		"2130706433":               "127.0.0.1",
		"0x7f000001":               "127.0.0.1",
		"0x7f.1":                   "127.0.0.1",
		"0177.0.0.01":              "127.0.0.1",
		"0":                        "0.0.0.0",
		"2852039166":               "169.254.169.254",
		"0251.0376.0251.0376":      "169.254.169.254",
		"::ffff:169.254.169.254":   "169.254.169.254",
		"::ffff:a9fe:a9fe":         "169.254.169.254",
		"64:ff9b::169.254.169.254": "169.254.169.254",
		"2002:a9fe:a9fe::":         "169.254.169.254",
		"::1":                      "::1",
		"fe80::1%eth0":             "fe80::1",
		"1.2.3.4.5":                "",
		"256.1.1.1":                "",
		"4294967296":               "",
		"08.1":                     "",
		"1e3":                      "",
		"example.com":              "",
		"1example.com":             "",
		"":                         "",
	} {
		var ip netip.Addr
		if want != "" {
			ip = netip.MustParseAddr(want)
		}
		if got := parseIP(host); got != ip {
			t.Errorf("%q is %v, want %v", host, got, ip)
		}
	}
}

func TestHostPatterns(t *testing.T) {
	tests := []struct {
		pattern, target string
		allow, restrict bool
	}{
		{"example.com", "https://example.com/", true, true},
		{"example.com", "https://EXAMPLE.com.:443/", true, true},
		{"example.com", "https://api.example.com/", false, false},
		{"example.com", "https://example.com.evil.test/", false, false},
		{"example.com", "https://example.com@evil.test/", false, false},
		{"*.example.com", "https://api.example.com/", true, true},
		{"*.example.com", "https://a.b.example.com/", true, true},
		{"*.example.com", "https://example.com/", false, true},
		{"*.example.com", "https://evilexample.com/", false, false},
		{"*.example.com", "https://x.example.com\\@evil.test/", false, true},
		{"api-*.example.com", "api-1.example.com", true, true},
		{"api-*.example.com", "api-1.x.example.com", false, true},
		{"*", "https://anything.test/", true, true},
		{"*", "https://\u0430pple.com/", false, true},
		{"*", "https://…/", true, true},
		{"example.com:8080", "http://example.com:8080/", true, true},
		{"example.com:8080", "http://example.com/", false, false},
		{"example.com:443", "https://example.com/", true, true},
		{"gopher://*", "gopher://x.test/", true, true},
		{"gopher://*", "https://x.test/", false, false},
		{"10.0.0.0/8", "http://10.1.2.3/", true, true},
		{"10.0.0.0/8", "http://0xa010203/", true, true},
		{"127.0.0.1", "http://2130706433/", true, true},
		{"[::1]:80", "http://[::1]/", true, true},
		{"@loopback", "http://localhost:3000/", true, true},
		{"@loopback", "http://a.localhost/", true, true},
		{"@loopback", "http://127.8.9.1/", true, true},
		{"@private", "http://192.168.1.1/", true, true},
		{"@private", "http://db.internal/", true, true},
		{"@metadata", "http://169.254.169.254/latest", true, true},
		{"@metadata", "http://[::ffff:a9fe:a9fe]/", true, true},
		{"@metadata", "http://169.254.1.1/", false, false},
	}
	for _, tt := range tests {
		p, err := compileHost(tt.pattern)
		if err != nil {
			t.Errorf("%q: %v", tt.pattern, err)
			continue
		}
		a := parseAddress(tt.target)
		if got := p.match(&a, false); got != tt.allow {
			t.Errorf("%q allows %q: %v, want %v", tt.pattern, tt.target, got, tt.allow)
		}
		if got := p.match(&a, true); got != tt.restrict {
			t.Errorf("%q restricts %q: %v, want %v", tt.pattern, tt.target, got, tt.restrict)
		}
	}
}

func TestToolPatterns(t *testing.T) {
	tests := []struct {
		pattern, target string
		allow, restrict bool
	}{
		{"tracker/get_*", "tracker/get_issue", true, true},
		{"tracker/get_*", "tracker/delete_issue", false, false},
		{"tracker", "tracker/anything", true, true},
		{"tracker", "tracker2/anything", false, false},
		{"mcp__srv__foo_bar", "srv/foo_bar", true, true},
		{"mcp__srv__foo_bar", "srv/foo:bar", false, false},
		{"mcp__srv__Foo", "srv/foo", false, true},
		{"mcp__srv__*", "srv/x", true, true},
		{"mcp__srv", "srv/x", true, true},
		{"mcp__my-server__dangerous-tool", "my-server/dangerous-tool", true, true},
		{"*/get_*", "any/get_x", true, true},
		{"*/get_*", "any/get_/rm", false, true},
		{"a/b/c", "a/b/c", true, true},
	}
	for _, tt := range tests {
		p, err := compileTool(tt.pattern)
		if err != nil {
			t.Errorf("%q: %v", tt.pattern, err)
			continue
		}
		if got := p.match(tt.target, false); got != tt.allow {
			t.Errorf("%q allows %q: %v, want %v", tt.pattern, tt.target, got, tt.allow)
		}
		if got := p.match(tt.target, true); got != tt.restrict {
			t.Errorf("%q restricts %q: %v, want %v", tt.pattern, tt.target, got, tt.restrict)
		}
	}
}

func FuzzAddress(f *testing.F) {
	for _, s := range []string{"https://a@b:1/c", "[::1]:2", "a/1", "1.2", "\\x", "http:////", "…", "%41", "http:000000000000", "file:80"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a := parseAddress(s)
		for _, text := range []string{"*", "*.x", "@private", "10.0.0.0/8"} {
			p, err := compileHost(text)
			if err != nil {
				t.Fatal(err)
			}
			if p.match(&a, false) && !p.match(&a, true) {
				t.Fatalf("%q allows %q and does not restrict it", text, s)
			}
		}
		if p, err := compileHost(s); err == nil && p.set == "" && !p.any && p.suffix == "" && p.glob == nil && !p.prefix.IsValid() && a.host != "" && a.host != p.host {
			t.Fatalf("%q is the host %q as a pattern and %q as a target", s, p.host, a.host)
		}
	})
}
