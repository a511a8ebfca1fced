package bench

import (
	"context"
	"fmt"
	"time"
)

const (
	sseEvery  = 500 * time.Millisecond // 2 events a second
	sseWarmUp = 3                      // events before the measured ones
)

// sseFanout measures how long an event takes from the request that makes it until
// the last of many streams has it.
func (r *run) sseFanout(ctx context.Context) error {
	clients := r.cfg.Size.Streams
	if err := r.checkFiles(clients); err != nil {
		return err
	}
	return r.withDaemon(ctx, func(ctx context.Context, d *daemonBed, l *loader) error {
		const session = "api:arena"
		if _, err := l.do(ctx, loadJob{Open: &openJob{Sessions: []string{session}}}); err != nil {
			return err
		}
		var at struct {
			Session struct {
				LastSeq uint64 `json:"last_seq"`
			} `json:"session"`
		}
		if err := d.get(ctx, "/api/sessions/"+session, &at); err != nil {
			return err
		}
		r.cfg.ProgressFunc("opening streams", 0, 0)
		if _, err := l.do(ctx, loadJob{Follow: &followJob{
			Sessions: []string{session}, Clients: clients, After: at.Session.LastSeq, Events: sseWarmUp + r.cfg.Size.StreamEvents,
		}}); err != nil {
			return err
		}
		r.cfg.ProgressFunc("measuring "+SSEFanout, 0, 0)
		answer, err := l.do(ctx, loadJob{Fan: &fanJob{Session: session, Every: sseEvery}})
		if err != nil {
			return err
		}
		if m, ok := r.measures[SSEFanout]; ok {
			res := m.result(p99(answer.Took), p99(answer.Alone))
			res.Note = fmt.Sprintf("%d streams, %d events, %.0f a second; median %.1f ms", clients, len(answer.Took), float64(time.Second/sseEvery), median(answer.Took))
			r.results[SSEFanout] = res
		}
		_, err = l.do(ctx, loadJob{Leave: true})
		return err
	})
}

// sseIdle measures the memory of the daemon with many streams that bring nothing,
// beside the same daemon before them.
func (r *run) sseIdle(ctx context.Context) error {
	clients := r.cfg.Size.IdleStreams
	if err := r.checkFiles(clients); err != nil {
		return err
	}
	if resident() < 0 {
		return nil // where the system does not tell, there is no figure
	}
	return r.withDaemon(ctx, func(ctx context.Context, d *daemonBed, l *loader) error {
		p := posting{name: "api:idle", sessions: min(r.cfg.Size.PostSessions, clients)}
		if _, err := l.do(ctx, loadJob{Open: &openJob{Sessions: p.ids()}}); err != nil {
			return err
		}
		r.cfg.ProgressFunc("measuring "+SSEIdle, 0, 0)
		none, err := d.memory(ctx, settleTime)
		if err != nil {
			return err
		}
		if _, err := l.do(ctx, loadJob{Follow: &followJob{Sessions: p.ids(), Clients: clients}}); err != nil {
			return err
		}
		many, err := d.memory(ctx, r.cfg.Size.Idle)
		if err != nil {
			return err
		}
		if m, ok := r.measures[SSEIdle]; ok {
			res := m.result(many-none, none)
			res.Note = fmt.Sprintf("%d streams of %d sessions, looked at for %s; %.1f KiB each, %.1f MiB in all",
				clients, p.sessions, r.cfg.Size.Idle, (many-none)*1024/float64(clients), many)
			r.results[SSEIdle] = res
		}
		_, err = l.do(ctx, loadJob{Leave: true})
		return err
	})
}

// settleTime is how long a daemon may take to have what it needs.
const settleTime = 2 * time.Second

// memory looks at the daemon's resident memory for a while, and gives the median of
// the last half of that, in MiB. Nothing makes the daemon give memory back that it
// would not give back by itself.
func (d *daemonBed) memory(ctx context.Context, during time.Duration) (float64, error) {
	tick := time.NewTicker(during / 20)
	defer tick.Stop()
	var seen []float64
	for range 20 {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
		seen = append(seen, float64(residentOf(d.cmd.Process.Pid))/(1<<20))
	}
	return median(seen[10:]), nil
}

// checkFiles says beforehand if a process cannot have so many streams.
func (r *run) checkFiles(streams int) error {
	if most := openFiles(); most >= 0 && most < int64(streams+filesBesides) {
		return noFiles(streams, most)
	}
	return nil
}
