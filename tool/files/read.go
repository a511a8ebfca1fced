package files

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

const readSchema = `{
  "type": "object",
  "properties": {
    "path": {"type": "string", "description": "the file"},
    "from_line": {"type": "integer", "minimum": 1, "description": "the first line to read; without it and lines, the whole file is read"},
    "lines": {"type": "integer", "minimum": 1, "description": "how many lines to read from there; default 500"}
  },
  "required": ["path"],
  "additionalProperties": false
}`

type readArguments struct {
	Path     string `json:"path"`
	FromLine int    `json:"from_line"`
	Lines    int    `json:"lines"`
}

// defaultLines is how many lines are read from a given one on.
const defaultLines = 500

func (f *Files) readTool() *tool {
	return newTool("read_file", "Reads a text file, whole or some of its lines. "+f.where(), readSchema, f.read)
}

func (f *Files) read(ctx context.Context, a readArguments) (text string, err error) {
	if a.FromLine < 0 || a.Lines < 0 {
		return "", refusef("from_line and lines must be positive")
	}
	err = f.at(ctx, a.Path, false, func(s *spot) error {
		if a.FromLine > 0 || a.Lines > 0 {
			text, err = s.lines(ctx, max(a.FromLine, 1), a.Lines)
		} else if text, _, err = s.text(ctx); err == nil && text == "" {
			text = "[the file is empty]"
		}
		return err
	})
	return text, err
}

// lines reads some lines of the file at the spot, under a line that says which.
func (s *spot) lines(ctx context.Context, from, count int) (string, error) {
	if count == 0 {
		count = defaultLines
	}
	f, err := s.open()
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // it was only read
	is, err := f.Stat()
	if err != nil {
		return "", systemError(s.given, err)
	}
	p := &passage{from: from, count: count, limit: s.f.cfg.MaxFile, scan: s.f.cfg.MaxScan}
	if err := p.read(ctx, f); err != nil {
		return "", s.unfit(err, is.Size())
	}
	return s.excerpt(p)
}

// excerpt gives the lines to the model, or says why there are none.
func (s *spot) excerpt(p *passage) (string, error) {
	got := p.number - from0(p)
	switch {
	case p.tooFar && got <= 0:
		return "", refusef("line %d of %s lies behind the first %d bytes, which is how far a file is read", p.from, show(s.given), s.f.cfg.MaxScan)
	case got <= 0 && p.number == 0:
		return "", refusef("%s is empty", show(s.given))
	case got <= 0:
		return "", refusef("%s has only %d lines", show(s.given), p.number)
	}
	if err := checkText([]byte(p.text.String())); err != nil {
		return "", s.unfit(err, p.bytes)
	}
	head := fmt.Sprintf("[lines %d to %d of %s", p.from, p.number, show(s.given))
	switch {
	case p.ended:
		head += "; the file ends there"
	case p.full:
		head += "; more would be too much at once"
	}
	return head + "]\n" + p.text.String(), nil
}

func from0(p *passage) int { return p.from - 1 }

// passage is some lines of a stream.
type passage struct {
	from, count int   // the first line, from 1, and how many
	limit       int64 // bytes to keep
	scan        int64 // bytes to go through

	text   strings.Builder
	number int   // lines that were gone through, as far as they are kept or skipped
	bytes  int64 // the same in bytes
	ended  bool  // the stream ended
	full   bool  // limit was reached
	tooFar bool  // scan was reached
}

func (p *passage) read(ctx context.Context, r io.Reader) error {
	in := bufio.NewReaderSize(r, 64<<10)
	inLine := false // within a line that is longer than the buffer
	for p.number < p.from-1+p.count {
		if err := ctx.Err(); err != nil {
			return err
		}
		piece, err := in.ReadSlice('\n')
		if p.bytes += int64(len(piece)); p.bytes > p.scan {
			p.tooFar = true
			return nil
		}
		if p.number >= p.from-1 {
			if int64(p.text.Len()+len(piece)) > p.limit {
				p.full = true
				return p.tooLong(inLine)
			}
			p.text.Write(piece)
		}
		switch {
		case err == nil:
			p.number++
			inLine = false
		case errors.Is(err, bufio.ErrBufferFull):
			inLine = true
		case errors.Is(err, io.EOF):
			p.ended = true
			if len(piece) > 0 || inLine {
				p.number++
			}
			return nil
		default:
			return err
		}
	}
	_, err := in.Peek(1)
	p.ended = errors.Is(err, io.EOF)
	return nil
}

// tooLong ends a passage that got too large. What was kept of the line that does
// not fit goes, unless it is the first.
func (p *passage) tooLong(inLine bool) error {
	if p.number == p.from-1 {
		return errLarge
	}
	if inLine {
		kept := p.text.String()
		kept = kept[:strings.LastIndexByte(kept, '\n')+1]
		p.text.Reset()
		p.text.WriteString(kept)
	}
	return nil
}
