package mcp

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/parley-run/parley/secret"
)

// Limits that tests exceed.
const (
	MaxTools       = maxTools
	MaxPages       = maxPages
	MaxSchema      = maxSchema
	MaxDescription = maxDescription
	MaxMessage     = maxMessage
	MaxTail        = maxTail
	MaxSaid        = maxSaid
)

// SetNow gives the server another clock, before it is used.
func (s *Server) SetNow(f func() time.Time) { s.nowFunc = f }

// HideClose lets calls that begin from now on learn of Close from their connection alone.
func (s *Server) HideClose() { s.joinFunc = context.WithCancel }

// Names gives tools their names.
func Names(server string, raw []string) map[string]string { return names(server, raw) }

// SchemaOf makes a schema one of an object.
func SchemaOf(given any) (json.RawMessage, error) { return schemaOf(given, &secret.Scrubber{}) }

// Said gives what a stranger said on one line.
func Said(known *secret.Scrubber, text string) string { return said(known, text) }

// Messages reads all messages of r, and gives how reading ended.
func Messages(r io.Reader) (all []jsonrpc.Message, stray int, err error) {
	from := newLines(r, func([]byte) { stray++ })
	for {
		list, err := from.next()
		if err != nil {
			return all, stray, err
		}
		all = append(all, list...)
	}
}
