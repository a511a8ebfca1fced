package telegramserver

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"strconv"
	"strings"
)

// File is a file that a person sends.
type File struct {
	Name string
	MIME string
	Data []byte
	Size int64 // what the server says its size is; 0: that of Data
}

// storedFile is a file that the server holds.
type storedFile struct {
	FileRef
	data []byte
}

// addFile keeps a file under a folder and gives it as messages name it. The caller
// holds mu.
func (s *Server) addFile(folder string, f File) *FileRef {
	n := len(s.files) + 1
	size := cmp.Or(f.Size, int64(len(f.Data)))
	stored := &storedFile{data: f.Data, FileRef: FileRef{
		FileID: fmt.Sprintf("AgACAgIAAxk-file-%d", n), FileUniqueID: fmt.Sprintf("AQAD-%d", n),
		FileName: f.Name, MIME: f.MIME, FileSize: size,
		FilePath: fmt.Sprintf("%s/file_%d%s", folder, n, path.Ext(f.Name)),
	}}
	s.files[stored.FileID] = stored
	s.paths[stored.FilePath] = stored
	shown := stored.FileRef
	shown.FilePath = ""
	if folder == "photos" || folder == "voice" {
		shown.FileName = "" // the wire has none for these
	}
	return &shown
}

// addPhoto keeps a picture, in two sizes. The caller holds mu.
func (s *Server) addPhoto(f File) []FileRef {
	small := s.addFile("photos", File{Name: cmp.Or(f.Name, "small.jpg"), Data: f.Data[:min(len(f.Data), 16)]})
	large := s.addFile("photos", File{Name: cmp.Or(f.Name, "large.jpg"), Data: f.Data, Size: f.Size})
	small.Width, small.Height, large.Width, large.Height = 90, 60, 1280, 853
	return []FileRef{*small, *large}
}

// FileData gives the bytes of a file, as a bot sent them.
func (s *Server) FileData(id string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f, ok := s.files[id]; ok {
		return f.data
	}
	return nil
}

// getFile says where a file can be fetched.
func (s *Server) getFile(c *call) (any, *apiError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, ok := s.files[c.values["file_id"]]
	switch {
	case !ok:
		return nil, badRequest("invalid file_id")
	case f.FileSize > s.cfg.MaxDownload:
		return nil, badRequest("file is too big")
	}
	return FileRef{FileID: f.FileID, FileUniqueID: f.FileUniqueID, FileSize: f.FileSize, FilePath: f.FilePath}, nil
}

// serveFile gives a file. Faults know it as the method "file".
func (s *Server) serveFile(w http.ResponseWriter, r *http.Request, rest string) {
	token, name, _ := strings.Cut(rest, "/")
	c := &call{method: "file", http: r}
	s.mu.Lock()
	f, ok := s.paths[name]
	s.mu.Unlock()
	var failure *apiError
	switch {
	case token != s.cfg.Token:
		failure = errUnauthorized
	case !ok:
		failure = errNotFound
	}
	if fault := s.takeFault(c); fault != nil {
		s.breakBefore(w, c, fault)
		return
	}
	s.log(c, failure)
	if failure != nil {
		write(w, nil, failure)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.Itoa(len(f.data)))
	_, _ = w.Write(f.data) // a client that is gone does not matter
}

// medium is a file of a request, as it is or by its id.
type medium struct {
	kind    string // photo, document or voice
	file    File
	known   *storedFile
	caption formatted
	raw     string // the caption before it was parsed
}

// readMedium reads the file of a request: one that comes with it, or the id of one
// that is known.
func (s *Server) readMedium(c *call, kind, reference, attached string) (medium, *apiError) {
	m := medium{kind: kind}
	if up, ok := c.files[attached]; ok {
		if len(up.data) == 0 {
			return m, badRequest("file must be non-empty")
		}
		if kind == "photo" && len(up.data) > defaultMaxPhoto {
			return m, badRequest(fmt.Sprintf("file of size %d bytes is too big for a photo; the maximum size is %d bytes",
				len(up.data), defaultMaxPhoto))
		}
		m.file = File{Name: up.name, MIME: up.mime, Data: up.data}
		return m, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.known = s.files[reference]; m.known == nil {
		if reference == "" {
			return m, badRequest(fmt.Sprintf("there is no %s in the request", kind))
		}
		return m, badRequest("wrong file identifier/HTTP URL specified")
	}
	return m, nil
}

// attach puts a file into a message. The caller holds mu.
func (s *Server) attach(m *Message, from medium) {
	f := from.file
	if from.known != nil {
		f = File{Name: from.known.FileName, MIME: from.known.MIME, Data: from.known.data, Size: from.known.FileSize}
	}
	switch from.kind {
	case "photo":
		m.Photo = s.addPhoto(f)
	case "voice":
		m.Voice = s.addFile("voice", f)
	default:
		m.Document = s.addFile("documents", f)
	}
	m.Caption, m.CaptionEntities = from.caption.text, from.caption.entities
}

func (s *Server) sendPhoto(c *call) (any, *apiError)    { return s.sendOne(c, "photo") }
func (s *Server) sendDocument(c *call) (any, *apiError) { return s.sendOne(c, "document") }
func (s *Server) sendVoice(c *call) (any, *apiError)    { return s.sendOne(c, "voice") }

// sendOne takes one file with its caption.
func (s *Server) sendOne(c *call, kind string) (any, *apiError) {
	m, failure := s.readMedium(c, kind, c.values[kind], cmp.Or(strings.TrimPrefix(c.values[kind], "attach://"), kind))
	if failure != nil {
		return nil, failure
	}
	if m.caption, failure = s.readCaption(c); failure != nil {
		return nil, failure
	}
	m.raw = c.values["caption"]
	keys, failure := keyboard(&c.params)
	if failure != nil {
		return nil, failure
	}
	sent, failure := s.sendMedia(c, []medium{m}, keys)
	if failure != nil {
		return nil, failure
	}
	return sent[0], nil
}

func (s *Server) readCaption(c *call) (formatted, *apiError) {
	f, failure := s.readText(c, "caption", "caption_entities")
	if failure == nil && units(f.text) > maxCaption {
		failure = badRequest("message caption is too long")
	}
	return f, failure
}

// sendMediaGroup takes an album.
func (s *Server) sendMediaGroup(c *call) (any, *apiError) {
	var items []struct {
		Type      string          `json:"type"`
		Media     string          `json:"media"`
		Caption   string          `json:"caption"`
		ParseMode string          `json:"parse_mode"`
		Entities  json.RawMessage `json:"caption_entities"`
	}
	if c.object("media", &items) != nil {
		return nil, badRequest("can't parse media JSON object")
	}
	if len(items) < 2 || len(items) > 10 {
		return nil, badRequest("group of media must include 2-10 items")
	}
	var media []medium
	for _, item := range items {
		if item.Type != "photo" && item.Type != "document" || item.Type != items[0].Type {
			return nil, badRequest("can't use the media of the specified type in the album")
		}
		m, failure := s.readMedium(c, item.Type, item.Media, strings.TrimPrefix(item.Media, "attach://"))
		if failure != nil {
			return nil, failure
		}
		own := &call{method: c.method, chat: c.chat, params: params{values: map[string]string{
			"caption": item.Caption, "parse_mode": item.ParseMode, "caption_entities": string(item.Entities),
		}}}
		if m.caption, failure = s.readCaption(own); failure != nil {
			return nil, failure
		}
		m.raw = item.Caption
		media = append(media, m)
	}
	return s.sendMedia(c, media, nil)
}

// sendMedia puts files into a chat, all or none.
func (s *Server) sendMedia(c *call, media []medium, keys *Keyboard) ([]*Message, *apiError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	chat, failure := s.writable(c)
	if failure != nil {
		return nil, failure
	}
	to, failure := readPlace(c, chat)
	if failure != nil {
		return nil, failure
	}
	if failure := s.admit(c, chat, len(media), false); failure != nil {
		return nil, failure
	}
	album := ""
	if len(media) > 1 {
		s.nextAlbum++
		album = fmt.Sprintf("1377%013d", s.nextAlbum)
	}
	var out []*Message
	for _, m := range media {
		r := s.put(c, chat, to)
		s.attach(&r.now, m)
		r.raw, r.now.ReplyMarkup, r.now.MediaGroupID = m.raw, keys, album
		r.remember(r.at)
		out = append(out, r.snapshot())
	}
	s.notify()
	return out, nil
}
