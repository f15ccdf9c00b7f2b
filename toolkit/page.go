package toolkit

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
)

// maxWork is what may be made of one web page, about in bytes: a page can be written
// so that each of its tags stands for many, and each line for many others.
const maxWork = 32 << 20

// perToken is what a tag or a text costs at least: a node of the tree, and what is
// made of it.
const perToken = 200

// formatting are the elements that a reader opens again in each block that they were
// not closed before.
var formatting = wordsOf("a b big code em font i nobr s small strike strong tt u")

// indenting are those whose lines are written again for each of them that is around.
var indenting = wordsOf("ul ol blockquote dl")

func wordsOf(text string) map[string]bool {
	words := make(map[string]bool)
	for _, word := range strings.Fields(text) {
		words[word] = true
	}
	return words
}

// tamed is a web page that can be read at a bounded cost: without attributes that are
// of no use here and could stand for much, and ended where it costs too much.
func tamed(page string) (text string, ended bool) {
	var b strings.Builder
	z := html.NewTokenizer(strings.NewReader(page))
	z.SetMaxBuf(len(page) + 1)
	work, again, deep := 0, 0, 0
	open := make(map[string][]int) // what each open formatting element costs again
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return b.String(), false
		}
		raw := z.Raw()
		work += perToken + len(raw) + again + 2*deep*deep*(1+bytes.Count(raw, []byte("\n")))
		if work > maxWork {
			return b.String(), true
		}
		if kind != html.StartTagToken && kind != html.EndTagToken && kind != html.SelfClosingTagToken {
			b.Write(raw)
			continue
		}
		name, _ := z.TagName()
		switch tag := string(name); {
		case kind == html.EndTagToken:
			b.WriteString("</" + tag + ">")
			if costs := open[tag]; len(costs) > 0 {
				again -= costs[len(costs)-1]
				open[tag] = costs[:len(costs)-1]
			}
			if indenting[tag] && deep > 0 {
				deep--
			}
		default:
			kept := html.Token{Type: kind, Data: tag}
			for more := true; more; {
				var key, value []byte
				key, value, more = z.TagAttr()
				if useful[string(key)] && (!formatting[tag] || string(key) == "href") {
					kept.Attr = append(kept.Attr, html.Attribute{Key: string(key), Val: string(value)})
				}
			}
			text := kept.String()
			b.WriteString(text)
			switch {
			case formatting[tag]:
				cost := perToken + len(text)
				again += cost
				open[tag] = append(open[tag], cost)
				// A reader keeps three that are alike, and one link.
				if costs := open[tag]; len(costs) > 3 || tag == "a" && len(costs) > 1 {
					again -= costs[0]
					open[tag] = costs[1:]
				}
			case indenting[tag]:
				deep++
			}
		}
	}
}

// useful are the attributes of which something is made.
var useful = wordsOf("href src alt title start class type http-equiv content charset")
