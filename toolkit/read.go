package toolkit

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"assent/job"
)

// How much of a file is read into an outcome at most.
const (
	maxLines = 2000
	maxText  = 256 << 10 // bytes
	maxLine  = 8 << 10   // bytes of one line; the rest of it is left out
)

// readArguments are those of the tool read.
type readArguments struct {
	Path string `json:"path"`
	// Offset is the first line wanted, from 1; Limit is how many.
	Offset int `json:"offset,omitzero"`
	Limit  int `json:"limit,omitzero"`
}

type readOutcome struct {
	OK   bool   `json:"ok"`
	Text string `json:"text"`
	// First is the number of the first line of the text, Lines how many it has.
	First int `json:"first"`
	Lines int `json:"lines"`
	// More says that the file goes on behind the text.
	More bool `json:"more,omitzero"`
	// Cut says that a long line was cut.
	Cut bool `json:"cut,omitzero"`
}

// read is the body of the tool read: lines of one file. Running it again does
// no harm, so a resumed one reads anew.
func read(ctx context.Context, call job.Call) (job.Outcome, error) {
	var a readArguments
	if err := call.Decode(&a); err != nil {
		return failed(err)
	}
	if a.Offset < 0 || a.Limit < 0 {
		return failed(errors.New("offset and limit count lines from 1"))
	}
	j, err := jailOf(call)
	if err != nil {
		return failed(err)
	}
	t, err := j.only()
	if err != nil {
		return failed(err)
	}
	f, err := t.open()
	if err != nil {
		return failed(err)
	}
	defer f.Close()
	out, err := lines(ctx, f, max(a.Offset, 1), a.Limit)
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return failed(t.because(err))
	}
	return job.JSON(out)
}

// lines reads some lines of a text. It holds no more of it than it gives.
func lines(ctx context.Context, r io.Reader, first, limit int) (readOutcome, error) {
	if limit == 0 || limit > maxLines {
		limit = maxLines
	}
	out := readOutcome{OK: true, First: first}
	b := bufio.NewReaderSize(contextReader{ctx, r}, 64<<10)
	if head, _ := b.Peek(4096); bytes.IndexByte(head, 0) >= 0 {
		return out, errNoText
	}
	var text strings.Builder
	for n := 1; ; n++ {
		line, cut, err := line(b, n >= first)
		if err != nil && err != io.EOF {
			return out, plain(err)
		}
		if err == io.EOF && len(line) == 0 {
			break
		}
		switch {
		case n < first:
		case out.Lines == limit || text.Len()+len(line) > maxText:
			out.More = true
		default:
			text.Write(line)
			out.Lines++
			out.Cut = out.Cut || cut
		}
		if out.More || err == io.EOF {
			break
		}
	}
	if out.Lines == 0 && first > 1 {
		return out, fmt.Errorf("it has no line %d", first)
	}
	out.Text = strings.ToValidUTF8(text.String(), string(utf8.RuneError))
	return out, nil
}

// line reads one line with its end. Of a long line the rest is passed over, and
// of one that is not kept nothing but that it is there.
func line(b *bufio.Reader, keep bool) (text []byte, cut bool, err error) {
	most := maxLine
	if !keep {
		most = 1
	}
	for {
		part, err := b.ReadSlice('\n')
		end := bytes.HasSuffix(part, []byte("\n"))
		if room := most - len(text); len(part) > room {
			part, cut = part[:room], true
		}
		text = append(text, part...)
		if err != bufio.ErrBufferFull {
			if cut && end {
				text = append(text, '\n')
			}
			return text, cut, err
		}
	}
}

// contextReader ends a long reading when the body is to end.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, context.Cause(c.ctx)
	}
	return c.r.Read(p)
}
