package blob

import (
	"bytes"
	"mime"
	"net/http"
	"strings"
)

// sniffBytes is how much of the content its type is found from.
const sniffBytes = 512

// signatures are of media that chats send and the standard library does not
// know.
var signatures = []struct{ start, kind string }{
	{"fLaC", "audio/flac"},
	{"#!AMR", "audio/amr"},
	{"\xff\xfb", "audio/mpeg"},
	{"\xff\xf3", "audio/mpeg"},
	{"\xff\xf2", "audio/mpeg"},
	{"\xff\xf1", "audio/aac"},
	{"\xff\xf9", "audio/aac"},
	{"II*\x00", "image/tiff"},
	{"MM\x00*", "image/tiff"},
}

// brands are what the container of MP4 and its relatives says it holds.
var brands = map[string]string{
	"M4A ": "audio/mp4", "M4B ": "audio/mp4",
	"heic": "image/heic", "heix": "image/heic", "heim": "image/heic", "heis": "image/heic", "hevc": "image/heic",
	"mif1": "image/heif", "msf1": "image/heif", "avif": "image/avif", "avis": "image/avif",
	"qt  ": "video/quicktime",
	"isom": "video/mp4", "iso2": "video/mp4", "iso4": "video/mp4", "iso5": "video/mp4", "iso6": "video/mp4",
	"avc1": "video/mp4", "dash": "video/mp4", "M4V ": "video/mp4", "mp41": "video/mp4", "mp42": "video/mp4",
	"3gp4": "video/3gpp", "3gp5": "video/3gpp", "3gp6": "video/3gpp", "3g2a": "video/3gpp2",
}

const (
	textType  = "text/plain; charset=utf-8"
	bytesType = "application/octet-stream"
)

// typeOf finds the type of content from how it begins. Nobody is asked what it
// is: a sender may be wrong, or lie. What a browser would run as a page, such as
// HTML and SVG, is text.
func typeOf(start []byte) string {
	for _, s := range signatures {
		if bytes.HasPrefix(start, []byte(s.start)) {
			return s.kind
		}
	}
	if len(start) >= 12 && string(start[4:8]) == "ftyp" {
		if kind := brands[string(start[8:12])]; kind != "" {
			return kind
		}
	}
	if bytes.HasPrefix(start, []byte("OggS")) {
		return oggType(start)
	}
	found := http.DetectContentType(start)
	kind, _, err := mime.ParseMediaType(found)
	switch {
	case err != nil:
		return bytesType
	case strings.HasPrefix(kind, "text/") && kind != "text/plain":
		return textType
	}
	return found
}

// oggType tells what an Ogg file holds by the header of its first stream.
func oggType(start []byte) string {
	switch {
	case bytes.Contains(start, []byte("OpusHead")), bytes.Contains(start, []byte("\x01vorbis")), bytes.Contains(start, []byte("Speex")),
		bytes.Contains(start, []byte("\x7fFLAC")):
		return "audio/ogg"
	case bytes.Contains(start, []byte("\x80theora")):
		return "video/ogg"
	}
	return "application/ogg"
}
