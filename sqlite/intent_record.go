package sqlite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"reflect"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/wire"
)

// A record begins with its sum, its length, its kind and its number. The sum is of all that follows it.
const (
	recordHeaderBytes = 20
	sumBytes          = 4

	// checkBytes are zeros before an encrypted batch. If something else comes out, the key does not fit.
	checkBytes = 16

	// What is larger is not written twice: the WAL is synced for it.
	maxRecordBytes   = 64 << 10
	maxRecordChanges = 64 // sessions, and inputs that change
)

// recordKind says what a record is.
type recordKind uint32

// The kinds. A file begins with a start, whose number is the one before its first batch.
const (
	recordBatch         recordKind = 1
	recordStart         recordKind = 2 // the batches before are in the other file, or applied
	recordStartAfterGap recordKind = 3 // numbers may be missing before it
)

var sumTable = crc32.MakeTable(crc32.Castagnoli)

// seedOf makes sums those of one store.
func seedOf(id string) uint32 { return crc32.Checksum([]byte(id), sumTable) }

// bodyTypes and expectationTypes are what may stand in a batch, by the names that records have for them.
var (
	bodyTypes = func() map[string]reflect.Type {
		types := map[string]reflect.Type{"custom": reflect.TypeFor[*parley.Custom]()}
		for _, t := range parley.EventTypes() {
			types[string(t)] = reflect.TypeOf(parley.NewBody(t))
		}
		return types
	}()
	expectationTypes = func() map[string]reflect.Type {
		types := map[string]reflect.Type{}
		for _, e := range []parley.Expectation{
			parley.KeyIs{},
			parley.AliasIs{},
			parley.FenceIs{},
			parley.StatusIn{},
			parley.RecoveryIs{},
			parley.EndedIs{},
			parley.QueuedAtMost{},
			parley.InputIs{},
			parley.TurnIs{},
			parley.ApprovalIs{},
			parley.DeliveryIs{},
			parley.EventIntact{},
			parley.IdentityIs{},
		} {
			types[reflect.TypeOf(e).Name()] = reflect.TypeOf(e)
		}
		return types
	}()
)

// batchCodec turns batches into bytes and back.
var batchCodec = func() *wire.Codec[parley.Batch] {
	codec, err := wire.New[parley.Batch](
		wire.Choices{Interface: reflect.TypeFor[parley.EventBody](), Types: bodyTypes},
		wire.Choices{Interface: reflect.TypeFor[parley.Expectation](), Types: expectationTypes})
	if err != nil {
		panic(err) // a type of the domain that no test has met
	}
	return codec
}()

// recordableTypes are all of them.
var recordableTypes = func() map[reflect.Type]bool {
	types := map[reflect.Type]bool{}
	for _, list := range []map[string]reflect.Type{bodyTypes, expectationTypes} {
		for _, t := range list {
			types[t] = true
		}
	}
	return types
}()

// recordable reports whether a batch may be written down before it is applied. It is not if it redacts events or deletes a session, after
// which the WAL is emptied anyway; nor if it has many changes; nor if there are types in it that an embedding program made out of those of the domain.
func recordable(b *parley.Batch) bool {
	for _, e := range b.Expect {
		if !recordableTypes[reflect.TypeOf(e)] {
			return false
		}
	}
	changes := len(b.Sessions)
	for i := range b.Sessions {
		if changes += len(b.Sessions[i].Inputs); changes > maxRecordChanges {
			return false
		}
		if b.Sessions[i].Delete || len(b.Sessions[i].Redact) > 0 {
			return false
		}
		for j := range b.Sessions[i].Events {
			if !recordableTypes[reflect.TypeOf(b.Sessions[i].Events[j].Body)] {
				return false
			}
		}
	}
	return true
}

// appendStart appends how a file begins.
func (in *intents) appendStart(buf []byte, before uint64) []byte {
	kind := recordStart
	if in.gap {
		kind = recordStartAfterGap
	}
	return in.seal(appendHeader(buf, kind, before), len(buf))
}

// appendBatch appends the record of a batch.
func (in *intents) appendBatch(buf []byte, number uint64, b *parley.Batch) ([]byte, error) {
	at := len(buf)
	buf = appendHeader(buf, recordBatch, number)
	if in.cipher != nil {
		buf = append(buf, make([]byte, checkBytes)...)
	}
	buf, err := batchCodec.Append(buf, b)
	if err != nil {
		return nil, err
	}
	if in.cipher != nil {
		in.cipher.Encrypt(buf[at+recordHeaderBytes:], tweakOf(number))
	}
	return in.seal(buf, at), nil
}

func appendHeader(buf []byte, kind recordKind, number uint64) []byte {
	buf = append(buf, make([]byte, sumBytes+4)...)
	buf = binary.LittleEndian.AppendUint32(buf, uint32(kind))
	return binary.LittleEndian.AppendUint64(buf, number)
}

// seal writes the length and the sum of the record that begins at a place and is the last.
func (in *intents) seal(buf []byte, at int) []byte {
	record := buf[at:]
	binary.LittleEndian.PutUint32(record[sumBytes:], uint32(len(record)-recordHeaderBytes))
	binary.LittleEndian.PutUint32(record, crc32.Update(in.seed, sumTable, record[sumBytes:]))
	return buf
}

// tweakOf makes records of different numbers be encrypted differently.
func tweakOf(number uint64) []byte { return binary.LittleEndian.AppendUint64(nil, number) }

// record is what was read from a file.
type record struct {
	kind   recordKind
	number uint64
	data   []byte
	end    int64 // where the next one begins
}

// errNoRecord says that there is no whole record of this store at a place.
var errNoRecord = errors.New("no record")

// read reads the record at a place of a file of size bytes.
func (in *intents) read(f io.ReaderAt, at, size int64) (record, error) {
	var header [recordHeaderBytes]byte
	if at+recordHeaderBytes > size {
		return record{}, errNoRecord
	}
	if _, err := f.ReadAt(header[:], at); err != nil {
		return record{}, fmt.Errorf("read intents: %w", err)
	}
	r := record{
		kind:   recordKind(binary.LittleEndian.Uint32(header[8:])),
		number: binary.LittleEndian.Uint64(header[12:]),
		end:    at + recordHeaderBytes + int64(binary.LittleEndian.Uint32(header[sumBytes:])),
	}
	if r.end > size {
		return record{}, errNoRecord
	}
	r.data = make([]byte, r.end-at-recordHeaderBytes)
	if _, err := f.ReadAt(r.data, at+recordHeaderBytes); err != nil && len(r.data) > 0 {
		return record{}, fmt.Errorf("read intents: %w", err)
	}
	sum := crc32.Update(crc32.Update(in.seed, sumTable, header[sumBytes:]), sumTable, r.data)
	if sum != binary.LittleEndian.Uint32(header[:]) {
		return record{}, errNoRecord
	}
	if err := in.decrypt(&r); err != nil {
		return record{}, err
	}
	return r, nil
}

func (in *intents) decrypt(r *record) error {
	if in.cipher == nil || r.kind != recordBatch {
		return nil
	}
	if len(r.data) < checkBytes {
		return errNoRecord
	}
	in.cipher.Decrypt(r.data, tweakOf(r.number))
	for _, b := range r.data[:checkBytes] {
		if b != 0 {
			return invalid("the key does not fit the files %s*; put them together with the store they are of, or remove them if another was put in its place",
				in.store.path+intentPrefix)
		}
	}
	r.data = r.data[checkBytes:]
	return nil
}
