package approval

import "strings"

// lookUpStems are the first words of look-ups (law ruling 12). The list is
// closed. Left out on purpose are words that often do more than look: query
// and explain take text that may write, fetch and download contact or store,
// check and scan may start something, show and open change a screen.
var lookUpStems = wordSet(`get list search read find describe view lookup count inspect whoami`)

// changingWords turn a name that starts like a look-up into a change, wherever
// they stand after the stem (law ruling 12). Words that are as often a thing
// as a deed (merge, commit, release, tag, run, comment, ...) are not among
// them; joinWords catch those where they are deeds.
var changingWords = wordSet(`
	abort accept ack acknowledge activate add alter append apply approve archive assign attach authorize
	ban buy call cancel claim clean cleanup clear clone close compact configure confirm connect consume convert copy create
	deactivate decline decrement define del delete deploy deprecate destroy detach disable disconnect dismiss drop
	edit eject emit enable encrypt enqueue erase eval evaluate evict exec execute expire
	fill fix flush forget format generate give grant
	import increment init initialize insert install instantiate invite invoke
	kick kill launch lock make mark migrate modify move mutate
	overwrite patch pause pay perform persist pin pop prune publish pull purchase purge push put
	reboot rebuild refund regenerate register reject reload remove rename reorder replace replicate reply
	reschedule reset resize resolve restart restore resume retry revert revoke rollback rotate
	save scale send set setup share shutdown spawn start stop store submit subscribe suspend swap sync
	take terminate toggle touch transfer trash trigger trim truncate turn
	unarchive unassign unban uninstall unlink unlock unmark unpin unset unshare unsubscribe untag update upgrade upload upsert
	vacuum wipe write`)

// heldNouns are changing words of the list above that name things far more
// often than deeds when a fixed word follows: "pull request".
var heldNouns = map[[2]string]bool{
	{"pull", "request"}: true, {"pull", "requests"}: true,
}

// joinWords promise a second deed, whatever it is called: get_or_create,
// find_and_merge.
var joinWords = wordSet(`and or then`)

// doubtWords name what cannot be told from a name: text in a language that
// can write, and traffic, whose look-up contacts a host of the caller's
// choice or stores what it got.
var doubtWords = wordSet(`sql graphql cypher network http https web webpage website url urls`)

// findingWords turn "find" from a look-up of what is stored into an
// investigation that is started: find_error_pattern_logs.
var findingWords = wordSet(`anomalies anomaly bottleneck bottlenecks cause causes error errors outlier outliers
	pattern patterns regression regressions slow`)

// IsLookUp reports whether an MCP tool only looks something up, told by its
// name alone (law §3, ruling 12): the first word after the server's name is a
// stem of a closed list and no later word changes anything. Words are told by
// snake, kebab and camel spelling.
//
// Only mcp__server__tool says where the server's name ends; any other
// spelling is not a look-up. Where even that has two readings, both must be
// look-ups.
func IsLookUp(name string) bool {
	rest, ok := strings.CutPrefix(name, "mcp__")
	if !ok {
		return false
	}
	found := false
	for i := 1; i+2 < len(rest); i++ {
		if rest[i:i+2] != "__" {
			continue
		}
		if !isLookUpTool(rest[i+2:]) {
			return false
		}
		found = true
	}
	return found
}

// isLookUpTool judges the tool's own name. A run of capitals before a small
// letter splits in two ways (getHTTPData: HTTP Data; getORdelete: OR delete),
// and a word that changes in either way counts.
func isLookUpTool(tool string) bool {
	for i := range len(tool) {
		if c := tool[i]; !isWordByte(c) && c != '-' && c != '.' {
			return false
		}
	}
	return looksUp(splitWords(tool, false)) && looksUp(splitWords(tool, true))
}

func looksUp(words []string) bool {
	if len(words) == 0 || !lookUpStems[words[0]] {
		return false
	}
	for i, w := range words[1:] {
		i++
		if changingWords[w] && !(i+1 < len(words) && heldNouns[[2]string{w, words[i+1]}]) {
			return false
		}
		if joinWords[w] || doubtWords[w] || words[0] == "find" && findingWords[w] {
			return false
		}
	}
	return true
}

// splitWords splits a name into lower-case words at underscores, dashes, dots
// and camel humps. A run of capitals followed by a small letter gives its
// last capital to the next word, or keeps it when whole is set.
func splitWords(name string, whole bool) []string {
	var words []string
	start := 0
	cut := func(end int) {
		if end > start {
			words = append(words, strings.ToLower(name[start:end]))
		}
		start = end
	}
	for i := range len(name) {
		c := name[i]
		switch {
		case c == '_' || c == '-' || c == '.':
			cut(i)
			start = i + 1
		case i == start:
		case isUpper(c) && !isUpper(name[i-1]):
			cut(i)
		case whole && isLower(c) && isUpper(name[i-1]) && i-1 > start:
			cut(i)
		case !whole && isUpper(c) && i+1 < len(name) && isLower(name[i+1]):
			cut(i)
		}
	}
	cut(len(name))
	return words
}

func isUpper(c byte) bool    { return 'A' <= c && c <= 'Z' }
func isLower(c byte) bool    { return 'a' <= c && c <= 'z' }
func isWordByte(c byte) bool { return isUpper(c) || isLower(c) || '0' <= c && c <= '9' || c == '_' }

func wordSet(words string) map[string]bool {
	set := make(map[string]bool)
	for w := range strings.FieldsSeq(words) {
		set[w] = true
	}
	return set
}
