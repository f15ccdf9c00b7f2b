package card

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// letters look like those of ASCII, in the order of pairs: one that looks so, and
// what it looks like. They are those of the scripts that share most of their
// shapes with Latin (the confusables of Unicode's UTS 39).
const letters = "аaеeоoрpсcуyхxіiјjѕsһhԁdԛqԝwѵvкkьbүyӏl" +
	"АAВBЕEКKМMНHОOРPСCТTУYХXЅSІIЈJԚQԜWЬbҮYӀIЗ3б6" +
	"αaοoνvρpυuιiκkχxηnωwϲcϳjγyτtεeΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧX" +
	"օoսuհhոnցgզqՕOՏSԼL" +
	"ᎪAᏴBᏟCᎬEᎻHᎫJᏦKᏞLᎷMᏢPᎡRᏚSᎢTᏙVᎳWᏃZᎠDᏀG" +
	"ⵏlⵔOⵝXⵊIⴸVⵕQ" +
	"ꓐBꓑPꓓDꓔTꓖGꓗKꓙJꓚCꓜZꓝFꓟMꓠNꓡLꓢSꓣRꓦVꓧHꓪWꓫXꓬYꓮAꓰEꓲIꓳOꓴU" +
	"ᑌUᑎnᑭPᒍJᒪLᑲbᑯdᕁxᕼHᖇRᗅAᗪDᗞDᗰMᗷB᙭XᐯVᑕC" +
	"ⲀAⲂBⲈEⲎHⲒIⲔKⲘMⲚNⲞOⲟoⲢPⲣpⲤCⲥcⲦTⲨYⲭxⲬX" +
	"ꭺaꮃwꮓzꮩvꮪsꮯcꭱrꮋhꮇmꮖg" +
	"𐐄O𐐬o𐓂O𐓪o𐊊B𐊢C𐊗T𐊲H𐌁B𐌉I𐌕T𐌑M" +
	"ᛕKᛖMᚷXᚱR" +
	"ıiɑaɡgɩiʟLꞁlƽsȷjɴnᴄcᴏoᴠvᴡwᴢzʏyɪiʀrꜱs"

// signs look like those that mean something to a shell, in a path or an address.
const signs = "∕/⁄/⧸/╱/․.‚,∶:꞉:ː:։:ǃ!‐-‑-−-˗-⁃-∗*⁎*∼~∣|ǀ|❘|⧵\\∖\\ˋ`‵`ʼ'ʹ'′'ˮ\"″\"‗_"

// dashes look like the sign of an option, and are common in prose.
const dashes = "–—‒―"

func pairs(text string) map[rune]rune {
	m := make(map[rune]rune)
	all := []rune(text)
	for i := 0; i+1 < len(all); i += 2 {
		m[all[i]] = all[i+1]
	}
	return m
}

var lettersOf, signsOf = pairs(letters), pairs(signs)

// beside are the scripts whose letters stand beside Latin ones without a blank. A
// letter of any other one in a Latin word is there to deceive, or by a slip.
var beside = []*unicode.RangeTable{unicode.Latin, unicode.Common, unicode.Inherited, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo,
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan}

// other reports whether a character is a letter of another script. Those that are
// read from right to left have marks of their own.
func other(r rune) bool {
	return unicode.IsLetter(r) && !unicode.In(r, beside...) && !rightToLeft(r)
}

// alike are the characters of a line that look like others, by the byte where each
// begins: letters of other scripts in a word with ASCII letters, words of nothing
// but such letters on a line that has no other of their script, and signs.
func alike(line string) map[int]rune {
	ascii, foreign, ideographs := true, false, false
	for _, r := range line {
		switch {
		case r < 0x80:
			continue
		case other(r) && lettersOf[r] == 0:
			foreign = true
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) && !strings.ContainsRune("ー", r):
			ideographs = true
		}
		ascii = false
	}
	if ascii {
		return nil
	}
	found := make(map[int]rune)
	type letter struct {
		at int
		r  rune
	}
	var word []letter
	flush := func() {
		latin, all := false, true
		for _, l := range word {
			latin = latin || l.r < 0x80 && unicode.IsLetter(l.r)
			all = all && (l.r < 0x80 || lettersOf[l.r] != 0)
		}
		for _, l := range word {
			like := lettersOf[l.r]
			switch {
			case l.r < 0x80:
			case like == 0 && latin && other(l.r):
				found[l.at] = '?'
			case like != 0 && (latin || all && !foreign):
				found[l.at] = like
			}
		}
		word = word[:0]
	}
	before := ' '
	for i, r := range line {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			word = append(word, letter{i, r})
		} else if !unicode.Is(unicode.M, r) {
			flush()
		}
		switch {
		case r < 0x80:
		case signsOf[r] != 0:
			found[i] = signsOf[r]
		case strings.ContainsRune(dashes, r) && (before == ' ' || before == '\t'):
			if rest := line[i+len(string(r)):]; rest != "" && rest[0] > ' ' && rest[0] < 0x80 {
				found[i] = '-'
			}
		case lettersOf[r] == 0 && !ideographs:
			if like := compatible(r); like != 0 {
				found[i] = like
			}
		}
		before = r
	}
	flush()
	return found
}

// compatible is the ASCII character that systems which normalize names make of
// another one: of fullwidth, mathematical and other letters, not of raised digits.
func compatible(r rune) rune {
	if strings.ContainsRune("ªº²³¹", r) || 0x2070 <= r && r <= 0x209c || 0x2b0 <= r && r <= 0x2ff || 0x1d2c <= r && r <= 0x1d6a {
		return 0
	}
	all := []rune(norm.NFKC.String(string(r)))
	if len(all) != 1 || all[0] >= 0x80 || all[0] <= ' ' {
		return 0
	}
	return all[0]
}
