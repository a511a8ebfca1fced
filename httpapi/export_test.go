package httpapi

import "reflect"

// RouteInfo is a route as tests see it.
type RouteInfo struct {
	Method, Path, Name string
	Public, Owners     bool
}

// Routes gives everything that is registered.
func Routes(s *Server) []RouteInfo {
	list := make([]RouteInfo, len(s.entries))
	for i, e := range s.entries {
		list[i] = RouteInfo{e.method, e.path, e.name, e.gate.kind == kindPublic, e.gate.kind == kindOwner}
	}
	return list
}

// DecodePost decodes the body of a message that is posted, and gives its text.
func DecodePost(data []byte) (text string, err error) {
	var in postIn
	err = decodeJSON(data, reflect.ValueOf(&in).Elem())
	if in.Text != nil {
		text = *in.Text
	}
	return text, err
}

// Encoded gives how many events were encoded that are still kept.
func Encoded(s *Server) int {
	s.frames.mu.Lock()
	defer s.frames.mu.Unlock()
	return len(s.frames.known)
}
