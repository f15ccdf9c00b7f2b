package approval

import (
	"encoding/json"
	"strings"
)

// pathKeys are the arguments by which read tools take what they read,
// plainKeys those that name nothing on the machine, and filterKeys those that
// narrow a search below its path. Spelled as [plainKey] does.
var (
	pathKeys = wordSet(`path paths file files filepath filepaths filename absolutepath absolutepaths
		dir directory dirpath directorypath targetfile targetdirectory relativeworkspacepath
		folder folderpath searchdirectory searchpath notebookpath imagepath`)
	plainKeys = wordSet(`query regex searchterm outputmode type description explanation reason encoding pages
		sort sortby order offset limit headlimit maxresults startline endline context recursive`)
	filterKeys = wordSet(`pattern patterns glob globpattern include exclude includepattern excludepattern
		includepatterns excludepatterns ignore filepattern`)
)

// contentSearches are the read tools whose pattern is matched with text and
// not with names of files.
var contentSearches = wordSet(`CodebaseSearch Grep GrepTool Search SearchText SemanticSearch codebase_search
	file_content_search grep grep_files grep_search grepSearch rg search search_file_content search_files searchFiles
	semantic_search textSearch`)

// LexicalPaths is the preparation of a read leaf's paths by text alone (see
// [LexicalPath]): every path among its arguments. A text whose meaning is not
// known gives a path that cannot be told, and so does a filter that could
// leave the folder it filters; either way no allowlist covers the leaf. Nil
// for leaves of other clusters.
func LexicalPaths(leaf Leaf, session Session) []Path {
	if leaf.Cluster() != Read {
		return nil
	}
	var paths []Path
	err := eachValue(leaf.Arguments, func(names []string, value json.Token) {
		key := ""
		for _, name := range names {
			if name != "" {
				key = plainKey(name)
			}
		}
		text, isText := value.(string)
		switch {
		case pathKeys[key]:
			paths = append(paths, LexicalPath(text, session))
		case !isText, plainKeys[key], key == "pattern" && contentSearches[leaf.Name]:
		case filterKeys[key] && staysBelow(text):
		default:
			paths = append(paths, "")
		}
	})
	if err != nil {
		return []Path{""}
	}
	return paths
}

// staysBelow reports whether a pattern of file names can only match below the
// folder it is used in.
func staysBelow(pattern string) bool {
	for _, climbs := range []string{"..", "\\", "$", "{/", ",/", "\x00"} {
		if strings.Contains(pattern, climbs) {
			return false
		}
	}
	return !strings.HasPrefix(pattern, "/") && !strings.HasPrefix(pattern, "~") && !scheme.MatchString(pattern)
}
