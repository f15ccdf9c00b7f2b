package senses

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"

	"assent/internal/place"
)

// maxIndex bounds how much of git's index is read: it has some hundred bytes for
// each file.
const maxIndex = 64 << 20

// gitlinks are the folders that the index of a repository takes for other
// repositories, whether .gitmodules speaks of them or not: git looks into them on
// its way. It is not ok when that cannot be told.
func gitlinks(dir string) (links []string, ok bool) {
	return indexed(dir, path.Join(dir, "index"))
}

// linkMode is how the mode of such an entry is written.
var linkMode = []byte{0, 0, 0o160000 >> 8, 0}

func indexed(dir, file string) (links []string, ok bool) {
	text, _, err := place.Read(file, maxIndex, "index")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, true
	}
	if err != nil {
		return nil, false
	}
	if !bytes.Contains(text, linkMode) && !bytes.Contains(text, []byte("link\x00\x00")) {
		return nil, true // as almost all are
	}
	const plain, wide = 20, 32 // bytes of a hash
	for _, hash := range []int{plain, wide} {
		links, base, ok := parseIndex(text, hash)
		if !ok {
			continue
		}
		if base != "" { // what is not in it is in another file
			more, all := indexed(dir, path.Join(dir, "sharedindex."+base))
			if _, err := os.Stat(path.Join(dir, "sharedindex."+base)); err != nil || path.Base(file) != "index" {
				return links, false
			}
			return append(links, more...), all
		}
		return links, true
	}
	return nil, false
}

// parseIndex reads the entries of an index (gitformat-index), whose hashes have so
// many bytes. Base is the hash in the name of the file that it is a change of.
func parseIndex(text []byte, hash int) (links []string, base string, ok bool) {
	const head, before = 12, 40 // the header; what stands before the hash of an entry
	if len(text) < head+hash || string(text[:4]) != "DIRC" {
		return nil, "", false
	}
	version, count := binary.BigEndian.Uint32(text[4:]), binary.BigEndian.Uint32(text[8:])
	if version < 2 || version > 4 {
		return nil, "", false
	}
	rest := text[head : len(text)-hash]
	var name []byte
	for range count {
		fixed := before + hash + 2
		if len(rest) < fixed {
			return nil, "", false
		}
		mode := binary.BigEndian.Uint32(rest[24:])
		if binary.BigEndian.Uint16(rest[fixed-2:])&0x4000 != 0 && version > 2 {
			fixed += 2
		}
		if len(rest) < fixed {
			return nil, "", false
		}
		at := fixed
		if version == 4 {
			strip, n := varint(rest[at:])
			if n == 0 || strip > len(name) {
				return nil, "", false
			}
			at += n
			name = name[:len(name)-strip]
		} else {
			name = name[:0]
		}
		end := bytes.IndexByte(rest[at:], 0)
		if end < 0 {
			return nil, "", false
		}
		name = append(name, rest[at:at+end]...)
		at += end + 1
		if version < 4 {
			at = (at + 7) &^ 7
		}
		if at > len(rest) {
			return nil, "", false
		}
		rest = rest[at:]
		if mode == 0o160000 {
			links = append(links, string(name))
		}
	}
	for len(rest) >= 8 { // extensions
		size := int64(binary.BigEndian.Uint32(rest[4:]))
		if size > int64(len(rest)-8) {
			return nil, "", false
		}
		if strings.HasPrefix(string(rest), "link") {
			if size < int64(hash) {
				return nil, "", false
			}
			if base = hex.EncodeToString(rest[8 : 8+hash]); strings.Trim(base, "0") == "" {
				base = ""
			}
		}
		rest = rest[8+size:]
	}
	return links, base, len(rest) == 0
}

// varint reads a number of git's own form, and tells how many bytes it took.
func varint(b []byte) (v, n int) {
	for n < len(b) && n < 5 {
		c := b[n]
		v = v<<7 | int(c&0x7f)
		if n++; c&0x80 == 0 {
			return v, n
		}
		v++
	}
	return 0, 0
}
