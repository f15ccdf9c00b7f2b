package floor

import "strings"

// tokenPrefixes are how well-known services begin their tokens.
var tokenPrefixes = []struct{ prefix, what string }{
	{"ghp_", "a GitHub token"}, {"gho_", "a GitHub token"}, {"ghu_", "a GitHub token"}, {"ghs_", "a GitHub token"}, {"ghr_", "a GitHub token"},
	{"github_pat_", "a GitHub token"}, {"glpat-", "a GitLab token"}, {"sk-", "an API key"}, {"sk_live_", "an API key"}, {"rk_live_", "an API key"},
	{"xoxb-", "a Slack token"}, {"xoxp-", "a Slack token"}, {"xoxa-", "a Slack token"}, {"AKIA", "an AWS key"}, {"ASIA", "an AWS key"},
	{"AIza", "a Google API key"}, {"ya29.", "a Google token"}, {"npm_", "an npm token"}, {"pypi-", "a PyPI token"}, {"hf_", "an API token"},
	{"dop_v1_", "an API token"}, {"SG.", "an API key"}, {"eyJ", "a signed token"}, {"AGE-SECRET-KEY-", "a private key"},
}

// secretLike says what a pattern looks like when it looks like a secret: a
// policy is read, shown and kept in repositories.
func secretLike(s string) string {
	if strings.Contains(s, "-----BEGIN") {
		return "a private key"
	}
	for word := range strings.FieldsFuncSeq(s, func(r rune) bool { return strings.ContainsRune(" \t\"'=:/,;@", r) }) {
		for _, t := range tokenPrefixes {
			if rest, ok := strings.CutPrefix(word, t.prefix); ok && len(rest) >= 16 && random(rest) {
				return t.what
			}
		}
		if len(word) >= 40 && random(word) && mixed(word) {
			return "a secret"
		}
	}
	return ""
}

// random reports text of letters and digits only, with both.
func random(s string) bool {
	digits, letters := 0, 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case '0' <= c && c <= '9':
			digits++
		case 'a' <= c|0x20 && c|0x20 <= 'z':
			letters++
		case strings.IndexByte("_-.+/=", c) >= 0:
		default:
			return false
		}
	}
	return digits > 1 && letters > 1
}

// mixed reports text with lower and upper case letters.
func mixed(s string) bool { return strings.ToLower(s) != s && strings.ToUpper(s) != s }
