package floor

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// address is the target of a net effect, taken apart.
type address struct {
	scheme string // "" when none is given
	host   string // lower case, without trailing dot; "" when it cannot be told
	port   string
	ip     netip.Addr // when the host is an address in any notation
	// odd says that programs disagree about which host this is, or that its
	// name is not plain ASCII: no rule allows it.
	odd bool
	// also are the other hosts that a program may find in the same text. Rules
	// that restrict hold for each of them.
	also []address
}

// parseAddress reads a URL, "host", "host:port", "host/port" or
// "user@host:path", as programs do and as those do that are lax about it.
func parseAddress(target string) address {
	a := readAddress(target)
	for _, t := range respelled(target) {
		if t == target {
			continue
		}
		b := readAddress(t)
		if b.host == "" || b.host == a.host && b.port == a.port && b.scheme == a.scheme {
			continue
		}
		a.odd = true
		a.also = append(a.also, b)
	}
	if ip := looseIP(a.host); ip.IsValid() && ip != a.ip {
		b := a
		b.ip, b.also = ip, nil
		a.also = append(a.also, b)
		a.odd = true
	}
	return a
}

// respelled are the texts that some program takes an odd address for: with
// its slashes turned, with blanks and control characters dropped, decoded, or
// with what stands before another of its "@" as the user.
func respelled(target string) []string {
	s := strings.TrimSpace(target)
	var out []string
	plain := strings.Map(func(c rune) rune {
		if c <= 0x20 || c == 0x7f {
			return -1
		}
		return c
	}, s)
	if plain != s && strings.Contains(s, ":/") || strings.ContainsAny(s, "\t\r\n") {
		out = append(out, plain)
	}
	if strings.IndexByte(plain, '\\') >= 0 {
		out = append(out, strings.ReplaceAll(plain, `\`, "/"), strings.ReplaceAll(plain, `\`, ""))
	}
	head, tail, isURL := strings.Cut(plain, "://")
	if !isURL {
		return out
	}
	authority, path := tail, ""
	if i := strings.IndexAny(tail, "/?#"); i >= 0 {
		authority, path = tail[:i], tail[i:]
	}
	if strings.Contains(authority, "%") {
		out = append(out, head+"://"+unescape(authority)+path)
	}
	if first, _, several := strings.Cut(authority, "@"); several && strings.Count(authority, "@") > 1 {
		rest, _, _ := strings.Cut(authority[len(first)+1:], "@")
		out = append(out, head+"://"+rest+path)
	}
	if host, _, has := strings.Cut(authority, ":"); has && strings.Count(authority, ":") > 1 && authority[0] != '[' && !strings.Contains(authority, "@") {
		out = append(out, head+"://"+host+path)
	}
	return out
}

// looseIP is the address of four numbers that begin with zeros, read as
// decimal, as some programs do.
func looseIP(host string) netip.Addr {
	parts := strings.Split(host, ".")
	zeros := false
	for i, p := range parts {
		if p == "" || strings.Trim(p, "0123456789") != "" {
			return netip.Addr{}
		}
		zeros = zeros || len(p) > 1 && p[0] == '0'
		if parts[i] = strings.TrimLeft(p, "0"); parts[i] == "" {
			parts[i] = "0"
		}
	}
	if !zeros || len(parts) != 4 {
		return netip.Addr{}
	}
	return parseIP(strings.Join(parts, "."))
}

// readAddress is the plain reading of an address.
func readAddress(target string) address {
	var a address
	s := strings.TrimSpace(target)
	rest, isURL := s, false
	if i := strings.Index(s, ":"); i > 0 && schemeName(s[:i]) {
		if strings.HasPrefix(s[i+1:], "//") {
			a.scheme, rest, isURL = strings.ToLower(s[:i]), s[i+3:], true
			rest = strings.TrimLeft(rest, "/")
		} else if bareSchemes[strings.ToLower(s[:i])] {
			a.scheme, rest, isURL = strings.ToLower(s[:i]), s[i+1:], true
			if !localSchemes[a.scheme] { // "http:/host": programs supply the slash
				rest = strings.TrimLeft(rest, "/")
			}
		}
	} else if strings.HasPrefix(s, "//") {
		rest, isURL = strings.TrimLeft(s, "/"), true
	}
	authority := rest
	if i := strings.IndexAny(authority, "/?#"); i >= 0 {
		if p := authority[i+1:]; !isURL && authority[i] == '/' && p != "" && strings.Trim(p, "0123456789") == "" {
			a.port = p // "/dev/tcp/host/port"
		}
		authority = authority[:i]
	}
	for i := 0; i < len(authority); i++ {
		if c := authority[i]; c <= 0x20 || c == 0x7f || c == '\\' || c == '%' {
			a.odd = true
			break
		}
	}
	if strings.Contains(authority, "…") {
		return a // the unknown part may hold anything, "@" and "/" too
	}
	// Browsers take a backslash for a slash, other programs do not.
	authority, _, _ = strings.Cut(authority, `\`)
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		authority = authority[i+1:]
	}
	switch {
	case strings.HasPrefix(authority, "["):
		end := strings.IndexByte(authority, ']')
		if end < 0 {
			a.odd = true
			return a
		}
		if p, ok := strings.CutPrefix(authority[end+1:], ":"); ok {
			a.port = p
		}
		authority = authority[1:end]
	case strings.Count(authority, ":") == 1:
		host, after, _ := strings.Cut(authority, ":")
		if strings.Trim(after, "0123456789") == "" {
			a.port = after
		} else if isURL {
			a.odd = true
		}
		authority = host
	}
	a.host = hostName(authority, &a.odd)
	a.ip = parseIP(a.host)
	if !a.ip.IsValid() {
		a.ip = namedIP(a.host)
	}
	return a
}

// addressServices answer a name that holds an address with that address.
var addressServices = []string{".nip.io", ".sslip.io", ".xip.io", ".localtest.me", ".traefik.me", ".backname.io"}

// namedIP is the address that a name of such a service stands for.
func namedIP(host string) netip.Addr {
	for _, service := range addressServices {
		name, is := strings.CutSuffix(host, service)
		if !is {
			continue
		}
		labels := strings.FieldsFunc(name, func(c rune) bool { return c == '.' || c == '-' })
		for i := len(labels) - 1; i >= 0; i-- {
			if i >= 3 {
				if ip, err := netip.ParseAddr(strings.Join(labels[i-3:i+1], ".")); err == nil {
					return ip
				}
			}
			if len(labels[i]) == 8 {
				if ip := parseIP("0x" + labels[i]); ip.IsValid() {
					return ip
				}
			}
		}
	}
	return netip.Addr{}
}

func schemeName(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i] | 0x20
		if !('a' <= c && c <= 'z' || i > 0 && ('0' <= s[i] && s[i] <= '9' || s[i] == '+' || s[i] == '-' || s[i] == '.')) {
			return false
		}
	}
	return s != ""
}

// bareSchemes need no "//".
var bareSchemes = map[string]bool{
	"http": true, "https": true, "ftp": true, "file": true, "data": true, "javascript": true, "mailto": true, "ldap": true, "ldaps": true,
	"gopher": true, "dict": true, "jar": true, "php": true, "view-source": true, "blob": true, "about": true, "chrome": true, "smb": true, "ws": true, "wss": true,
	"ftps": true, "sftp": true, "scp": true, "tftp": true, "telnet": true, "rtsp": true, "imap": true, "imaps": true, "pop3": true, "pop3s": true,
	"smtp": true, "smtps": true, "smbs": true, "gophers": true, "mqtt": true, "rtmp": true,
}

// localSchemes are followed by no host where there is no "//".
var localSchemes = map[string]bool{"file": true, "data": true, "javascript": true, "mailto": true, "about": true, "chrome": true, "blob": true}

// hostName brings a host into one spelling. A name with a part that cannot be
// told is none.
func hostName(s string, odd *bool) string {
	if strings.IndexByte(s, 0) >= 0 {
		return ""
	}
	ascii := true
	for i := 0; i < len(s); i++ {
		ascii = ascii && s[i] < 0x80
	}
	if !ascii {
		*odd = true
		s = strings.Map(plainLetter, s)
	}
	if strings.IndexByte(s, '%') >= 0 {
		s = unescape(s)
	}
	s = strings.ToLower(s)
	if strings.HasPrefix(s, "xn--") || strings.Contains(s, ".xn--") {
		*odd = true
	}
	for i := 0; i < len(s); i++ {
		if c := s[i]; c <= 0x20 || strings.IndexByte("<>\"'`{}|^,;()*?!$&=", c) >= 0 {
			return ""
		}
	}
	return strings.TrimRight(s, ".")
}

// plainLetter maps the look-alikes that resolvers take for ASCII characters.
func plainLetter(r rune) rune {
	switch {
	case 0xFF01 <= r && r <= 0xFF5E:
		return r - 0xFF01 + '!'
	case r == 0x3002 || r == 0xFF61 || r == 0x2024:
		return '.'
	case r == 0x24EA || r == 0x2070 || r == 0x2080:
		return '0'
	case r == 0xB9:
		return '1'
	case r == 0xB2 || r == 0xB3:
		return r - 0xB2 + '2'
	case 0x2074 <= r && r <= 0x2079:
		return r - 0x2074 + '4'
	case 0x2081 <= r && r <= 0x2089:
		return r - 0x2081 + '1'
	case 0x1D7CE <= r && r <= 0x1D7FF: // mathematical digits
		return (r-0x1D7CE)%10 + '0'
	case 0x1D400 <= r && r <= 0x1D6A3: // and letters
		return foldLetter((r - 0x1D400) % 52)
	case 0x2460 <= r && r <= 0x2468:
		return r - 0x2460 + '1'
	case 0x24B6 <= r && r <= 0x24CF:
		return r - 0x24B6 + 'a'
	case 0x24D0 <= r && r <= 0x24E9:
		return r - 0x24D0 + 'a'
	case r == 0x00AD || 0x200B <= r && r <= 0x200F || r == 0x2060 || r == 0xFEFF:
		return -1
	}
	return r
}

// foldLetter is the letter at a place of "A..Za..z".
func foldLetter(n rune) rune { return 'a' + n%26 }

func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if v, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(v))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// parseIP reads an address in any notation a resolver accepts: dotted, one
// number, octal, hexadecimal, short ("127.1"), and IPv4 within IPv6.
func parseIP(host string) netip.Addr {
	if host == "" {
		return netip.Addr{}
	}
	if strings.IndexByte(host, ':') >= 0 {
		ip, err := netip.ParseAddr(host)
		if err != nil {
			return netip.Addr{}
		}
		return embedded(ip.WithZone("").Unmap())
	}
	if c := host[0]; c < '0' || c > '9' {
		return netip.Addr{}
	}
	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return netip.Addr{}
	}
	var v uint64
	for i, p := range parts {
		n, err := number(p)
		bits := 8
		if i == len(parts)-1 {
			bits = 8 * (4 - i) // the last part is all that is left
		}
		if err != nil || n >= 1<<bits {
			return netip.Addr{}
		}
		v |= n << (32 - 8*i - bits)
	}
	return netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)})
}

func number(s string) (uint64, error) {
	switch {
	case s == "":
		return 0, strconv.ErrSyntax
	case strings.HasPrefix(s, "0x"):
		if len(s) == 2 {
			return 0, nil
		}
		return strconv.ParseUint(s[2:], 16, 40)
	case s[0] == '0' && len(s) > 1:
		return strconv.ParseUint(s, 8, 40)
	}
	return strconv.ParseUint(s, 10, 40)
}

var (
	nat64  = netip.MustParsePrefix("64:ff9b::/96")
	compat = netip.MustParsePrefix("::/96")
	sixTo4 = netip.MustParsePrefix("2002::/16")
	siit   = netip.MustParsePrefix("::ffff:0:0:0/96")
)

// embedded is the IPv4 address that an IPv6 address stands for, if it does.
func embedded(ip netip.Addr) netip.Addr {
	if !ip.Is6() {
		return ip
	}
	b := ip.As16()
	switch {
	case nat64.Contains(ip), siit.Contains(ip), compat.Contains(ip) && b[12]|b[13] != 0:
		return netip.AddrFrom4([4]byte(b[12:16]))
	case sixTo4.Contains(ip):
		return netip.AddrFrom4([4]byte(b[2:6]))
	}
	return ip
}

// A hostPattern matches addresses:
//
//	example.com   *.example.com   *   10.0.0.0/8   [fd00::1]
//	example.com:8080   gopher://*   @private
//
// "*." stands for one or more labels; for rules that restrict also for none.
type hostPattern struct {
	text   string
	scheme string
	port   string
	host   string // exact
	suffix string // ".example.com" of "*.example.com"
	glob   *wordGlob
	any    bool
	prefix netip.Prefix
	set    string
}

// hostSets are the named sets of hosts.
var hostSets = map[string]struct {
	doc   string
	holds func(*address) bool
}{
	"@loopback": {"this machine: localhost, 127.0.0.0/8, ::1, 0.0.0.0", func(a *address) bool {
		return a.host == "localhost" || strings.HasSuffix(a.host, ".localhost") || a.host == "localhost.localdomain" || a.host == "ip6-localhost" ||
			a.ip.IsValid() && (a.ip.IsLoopback() || a.ip.IsUnspecified() || a.ip.Is4() && a.ip.As4()[0] == 0)
	}},
	"@private": {"local networks: 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, 100.64.0.0/10, link-local and unique local addresses, multicast, .local, .internal, .lan, .home.arpa", func(a *address) bool {
		for _, end := range []string{".local", ".internal", ".intranet", ".lan", ".corp", ".home", ".home.arpa", ".localdomain"} {
			if strings.HasSuffix(a.host, end) {
				return true
			}
		}
		return a.ip.IsValid() && (a.ip.IsPrivate() || a.ip.IsLinkLocalUnicast() || a.ip.IsMulticast() || carrier.Contains(a.ip) ||
			a.ip == netip.AddrFrom4([4]byte{255, 255, 255, 255}))
	}},
	"@metadata": {"the services that hand a cloud machine its credentials", func(a *address) bool {
		return slices.Contains(metadataHosts, a.host) || a.ip.IsValid() && slices.Contains(metadataIPs, a.ip)
	}},
}

var (
	carrier       = netip.MustParsePrefix("100.64.0.0/10")
	metadataHosts = []string{"metadata.google.internal", "metadata", "metadata.goog", "instance-data", "instance-data.ec2.internal", "metadata.azure.com",
		"metadata.azure.internal", "metadata.tencentyun.com", "metadata.packet.net", "metadata.platformequinix.com", "rancher-metadata"}
	metadataIPs = []netip.Addr{
		netip.MustParseAddr("169.254.169.254"), netip.MustParseAddr("fd00:ec2::254"), netip.MustParseAddr("fd20:ce::254"),
		netip.MustParseAddr("100.100.100.200"), netip.MustParseAddr("169.254.170.2"), netip.MustParseAddr("169.254.170.23"), netip.MustParseAddr("fd00:ec2::23"),
		netip.MustParseAddr("168.63.129.16"), netip.MustParseAddr("192.0.0.192"), netip.MustParseAddr("169.254.0.23"),
	}
)

// compileHost reads a host pattern.
func compileHost(text string) (hostPattern, error) {
	p := hostPattern{text: text}
	s := text
	if s == "" {
		return p, errors.New("the pattern is empty")
	}
	if s[0] == '@' {
		if _, ok := hostSets[s]; !ok {
			return p, setError{s, hostSetNames()}
		}
		p.set = s
		return p, nil
	}
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return p, errors.New(`a host is written in ASCII; write an international name in its "xn--" form`)
		}
		if s[i] <= 0x20 || s[i] == 0x7f {
			return p, errors.New("the pattern holds a blank or control character")
		}
	}
	s = strings.ToLower(s)
	if i := strings.Index(s, "://"); i >= 0 {
		if !schemeName(s[:i]) {
			return p, fmt.Errorf("%q is no scheme", s[:i])
		}
		p.scheme, s = s[:i], s[i+3:]
		s = strings.TrimSuffix(s, "/")
	}
	if prefix, err := netip.ParsePrefix(s); err == nil {
		p.prefix = prefix
		return p, nil
	}
	if strings.ContainsAny(s, "/?#@\\") {
		return p, errors.New("net rules compare hosts; leave out user, path and query")
	}
	host := s
	if strings.HasPrefix(s, "[") {
		end := strings.IndexByte(s, ']')
		if end < 0 {
			return p, errors.New(`"[" has no "]"`)
		}
		host = s[1:end]
		if s[end+1:] != "" {
			port, ok := strings.CutPrefix(s[end+1:], ":")
			if !ok {
				return p, errors.New(`after "]" only ":port" may follow`)
			}
			p.port = port
		}
	} else if i := strings.LastIndexByte(s, ':'); i >= 0 && strings.Count(s, ":") == 1 {
		host, p.port = s[:i], s[i+1:]
		if p.scheme == "" && bareSchemes[host] {
			// As an address this names what follows the scheme: the rule would
			// never match.
			return p, fmt.Errorf("%q begins an address; write %s://HOST, or only the host", host+":", host)
		}
		if p.port == "" {
			return p, errors.New("the port is missing")
		}
	}
	if p.port != "" && p.port != "*" && strings.Trim(p.port, "0123456789") != "" {
		return p, fmt.Errorf("%q is no port", p.port)
	}
	if p.port == "*" {
		p.port = ""
	}
	host = strings.TrimRight(host, ".")
	if ip := parseIP(host); ip.IsValid() {
		p.prefix = netip.PrefixFrom(ip, ip.BitLen())
		return p, nil
	}
	switch {
	case host == "":
		return p, errors.New("the host is missing")
	case host == "*":
		p.any = true
	case strings.HasPrefix(host, "*.") && !strings.Contains(host[2:], "*"):
		p.suffix = host[1:]
	case strings.Contains(host, "*"):
		if labels := strings.Split(host, "."); len(labels) < 2 || strings.Contains(labels[len(labels)-1], "*") {
			return p, errors.New("the end of a host may not be a wildcard")
		}
		g := parseGlob(host)
		p.glob = &g
	default:
		p.host = host
	}
	if rest := strings.Trim(host, "abcdefghijklmnopqrstuvwxyz0123456789-._*"); rest != "" && p.prefix == (netip.Prefix{}) {
		return p, fmt.Errorf("%q cannot be part of a host", rest)
	}
	return p, nil
}

type setError struct {
	name string
	sets []string
}

func (e setError) Error() string { return "there is no set " + e.name }

func (e setError) hint() string {
	if s := didYouMean(e.name, e.sets); s != "" {
		return s
	}
	return "the sets are " + strings.Join(e.sets, " ")
}

func hostSetNames() []string {
	var names []string
	for n := range hostSets {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// match reports whether the pattern matches. loose is for rules that
// restrict.
func (p *hostPattern) match(a *address, loose bool) bool {
	if p.one(a, loose) {
		return true
	}
	for i := range a.also {
		if loose && p.one(&a.also[i], true) {
			return true
		}
	}
	return false
}

// one compares with one reading of an address.
func (p *hostPattern) one(a *address, loose bool) bool {
	if p.scheme != "" && p.scheme != a.scheme || p.port != "" && p.port != a.port && p.port != defaultPort(a) {
		return false
	}
	if a.odd && !loose {
		return false
	}
	switch {
	case p.set != "":
		return hostSets[p.set].holds(a)
	case p.any:
		return true
	case a.host == "":
		return false
	case p.prefix.IsValid():
		return a.ip.IsValid() && p.prefix.Contains(a.ip)
	case p.suffix != "":
		return strings.HasSuffix(a.host, p.suffix) || loose && a.host == p.suffix[1:]
	case p.glob != nil:
		return p.glob.match(a.host) && (loose || strings.Count(a.host, ".") == strings.Count(p.glob.plain(), "."))
	}
	return a.host == p.host
}

func defaultPort(a *address) string {
	if a.port != "" {
		return a.port
	}
	switch a.scheme {
	case "http", "ws":
		return "80"
	case "https", "wss":
		return "443"
	case "ssh", "git+ssh":
		return "22"
	case "ftp":
		return "21"
	}
	return ""
}

// as reports whether an operator's pattern names what a shipped one restricts.
func (p *hostPattern) as(shipped *hostPattern) bool {
	if p.text == shipped.text {
		return true
	}
	return !p.any && p.suffix == "" && p.glob == nil && (p.scheme == shipped.scheme || shipped.scheme == "" || p.scheme != "")
}
