package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parley-run/parley"
)

// margin is more than the longest secret has.
const margin = 64 << 10

// result makes a result of what a server answered.
func (s *Server) result(ctx context.Context, answer *sdk.CallToolResult) (parley.ToolResult, error) {
	r := reading{server: s}
	for _, c := range answer.Content {
		if err := r.add(ctx, c); err != nil {
			return parley.ToolResult{}, err
		}
	}
	if !r.hasText && answer.StructuredContent != nil {
		r.line(structured(answer.StructuredContent))
	}
	if answer.InputRequests != nil {
		r.line("The server asks for input before it goes on, which it does not get here.")
	}
	// What is far beyond the limit is not looked at; a secret at the limit is.
	text, much := cut(r.text.String(), s.cfg.MaxResult+margin)
	text, less := cut(plain(s.cfg.Scrubber, text), s.cfg.MaxResult)
	if much || less {
		text += fmt.Sprintf("\n[the rest was left out; a result has at most %d bytes]", s.cfg.MaxResult)
	}
	return parley.ToolResult{Text: text, Media: r.media, IsError: answer.IsError || answer.InputRequests != nil}, nil
}

// structured gives structured content as JSON. A [filter] has put it into a text,
// so that its numbers are those the server wrote.
func structured(content any) string {
	if text, ok := content.(string); ok {
		return text
	}
	data, err := json.Marshal(content)
	if err != nil {
		return "The structured content cannot be written."
	}
	return string(data)
}

// reading is a result while it is made.
type reading struct {
	server  *Server
	text    strings.Builder
	hasText bool
	media   *parley.Media
}

func (r *reading) line(text string) {
	if r.text.Len() > 0 {
		r.text.WriteByte('\n')
	}
	r.text.WriteString(text)
}

func (r *reading) add(ctx context.Context, content sdk.Content) error {
	switch c := content.(type) {
	case *sdk.TextContent:
		r.hasText = r.hasText || c.Text != ""
		r.line(c.Text)
	case *sdk.ImageContent:
		return r.binary(ctx, "image", c.MIMEType, c.Data)
	case *sdk.AudioContent:
		return r.binary(ctx, "audio", c.MIMEType, c.Data)
	case *sdk.ResourceLink:
		r.line(linkTo(c))
	case *sdk.EmbeddedResource:
		return r.resource(ctx, c.Resource)
	default:
		r.line("[content of a kind that is not known here]")
	}
	return nil
}

func (r *reading) resource(ctx context.Context, c *sdk.ResourceContents) error {
	if c == nil {
		return nil
	}
	r.line("[resource " + c.URI + "]")
	if c.Blob != nil {
		return r.binary(ctx, "resource", c.MIMEType, c.Blob)
	}
	r.hasText = r.hasText || c.Text != ""
	r.line(c.Text)
	return nil
}

// binary keeps the first piece of media, which is all that a result can have, and
// says of the others what they were.
func (r *reading) binary(ctx context.Context, kind, mediaType string, data []byte) error {
	what := fmt.Sprintf("%s, %s, %d bytes", kind, orUnknown(mediaType), len(data))
	keep := r.server.cfg.KeepFunc
	switch {
	case len(data) == 0:
		r.line("[" + what + "]")
		return nil
	case keep == nil:
		r.line("[" + what + "; not kept]")
		return nil
	case r.media != nil:
		r.line("[" + what + "; not kept, as a result has one only]")
		return nil
	}
	blob, err := keep(ctx, bytes.NewReader(data))
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r.server.warn("media of a result could not be kept: %v", err)
		r.line("[" + what + "; could not be kept]")
		return nil
	}
	r.media = &parley.Media{Handle: string(blob.Handle), Type: blob.Type, Size: blob.Size}
	r.line("[" + what + "; kept]")
	return nil
}

func linkTo(c *sdk.ResourceLink) string {
	var b strings.Builder
	b.WriteString("[link to " + c.URI)
	for _, more := range []string{c.Name, c.Title, c.MIMEType} {
		if more != "" {
			b.WriteString(", " + more)
		}
	}
	if c.Size != nil {
		fmt.Fprintf(&b, ", %d bytes", *c.Size)
	}
	if c.Description != "" {
		b.WriteString(": " + c.Description)
	}
	b.WriteString("]")
	return b.String()
}

func orUnknown(mediaType string) string {
	if mediaType == "" {
		return "of unknown type"
	}
	return mediaType
}
