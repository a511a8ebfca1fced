package sqlite

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/bits"
)

// walSums follows the sums of a WAL: those of its header, and of each frame together with all before it. So it
// tells how many of its frames are as they were written.
type walSums struct {
	begun     bool    // the header was given
	bigEndian bool    // the words that are summed
	salt      [8]byte // frames of an earlier use of the WAL have another
	s0, s1    uint32
	whole     int  // intact frames so far
	over      bool // a frame was not intact, or of an earlier use of the WAL: nothing after it counts
}

// add takes the header, and after it whole frames, in their order.
func (s *walSums) add(data []byte) {
	if s.over {
		return
	}
	if !s.begun {
		s.begun = true
		s.addHeader(data)
		return
	}
	for ; len(data) >= frameBytes && !s.over; data = data[frameBytes:] {
		s.addFrame(data[:frameBytes])
	}
}

func (s *walSums) addHeader(header []byte) {
	if s.over = len(header) < walHeaderBytes; s.over {
		return
	}
	magic := binary.BigEndian.Uint32(header)
	if s.over = magic&^1 != walMagic; s.over {
		return
	}
	s.bigEndian = magic&1 != 0
	copy(s.salt[:], header[16:])
	s.sum(header[:24])
	s.over = !s.isSum(header[24:])
}

// addFrame counts a frame. What is summed of its own header are the first two words.
func (s *walSums) addFrame(frame []byte) {
	s.sum(frame[:8])
	s.sum(frame[frameHeaderBytes:])
	if s.over = !bytes.Equal(frame[8:16], s.salt[:]) || !s.isSum(frame[16:]); !s.over {
		s.whole++
	}
}

func (s *walSums) isSum(sum []byte) bool {
	return binary.BigEndian.Uint32(sum) == s.s0 && binary.BigEndian.Uint32(sum[4:]) == s.s1
}

// sum adds pairs of words, as the format of the WAL has it. The race detector would look at every byte of a buffer that is nobody else's, and
// take most of the time of a start for that; it would again if the words were put together by calls.
//
//go:norace
func (s *walSums) sum(data []byte) {
	s0, s1 := s.s0, s.s1
	for ; len(data) >= 8; data = data[8:] {
		x := uint32(data[0]) | uint32(data[1])<<8 | uint32(data[2])<<16 | uint32(data[3])<<24
		y := uint32(data[4]) | uint32(data[5])<<8 | uint32(data[6])<<16 | uint32(data[7])<<24
		if s.bigEndian {
			x, y = bits.ReverseBytes32(x), bits.ReverseBytes32(y)
		}
		s0 += x + s1
		s1 += y + s0
	}
	s.s0, s.s1 = s0, s1
}

// wholeFrames gives how many frames of a WAL are as they were written.
func wholeFrames(f io.ReaderAt) (int, error) {
	var sums walSums
	err := eachPartOfWAL(f, func(part []byte, _ int64) error {
		sums.add(part)
		return nil
	})
	return sums.whole, err
}

// walPartFrames is how many frames of a WAL are read at a time.
const walPartFrames = 32

// eachPartOfWAL gives the WAL part by part: its header, then whole frames, in units that can be written again where it is encrypted.
func eachPartOfWAL(f io.ReaderAt, visit func(part []byte, at int64) error) error {
	buf := make([]byte, walPartFrames*frameBytes)
	for at, size := int64(0), walHeaderBytes; ; at, size = at+int64(size), len(buf) {
		n, err := f.ReadAt(buf[:size], at)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if size == len(buf) {
			n -= n % frameBytes // half a frame at the end is nobody's
		}
		if n > 0 {
			if err := visit(buf[:n], at); err != nil {
				return err
			}
		}
		if n < size {
			return nil
		}
	}
}
