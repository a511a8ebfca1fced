package route_test

import (
	"testing"

	"github.com/parley-run/parley/route"
)

func BenchmarkLines(b *testing.B) {
	rt := newRouter(b, route.Config{})
	l := route.NewLines(rt)
	line := []byte(`{"agent_id":"main","context":{"channel":"telegram","account":"","space_type":"","space_id":"","chat_type":"group","chat_id":"-1001","topic_id":"42","sender_id":"7","sender_id_alt":""},"dimensions":["chat"],"group_sessions_per_user":false,"thread_sessions_per_user":false,"identity_links":{"alice":["telegram:7"]}}`)
	var out []byte
	b.ReportAllocs()
	for b.Loop() {
		out, _ = l.Append(out[:0], line)
	}
}
