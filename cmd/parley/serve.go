package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/config"
	"github.com/parley-run/parley/httpapi"
	"github.com/parley-run/parley/web"
)

// serveOptions are the flags of serve.
type serveOptions struct {
	listen   string
	insecure bool
}

func (a *app) serveCommand() *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the daemon",
		Long: `Run the daemon: it keeps the conversations of the data folder, runs the agents'
turns, and serves the HTTP API and a page to talk in.

SIGTERM and Ctrl-C let running turns end (serve.drain, 30s); a second one stops
at once. SIGHUP reads the configuration again and says what needs a restart.`,
		Example: `  parley serve                            on 127.0.0.1:7788
  parley serve --listen 127.0.0.1:0       on a free port
  parley serve --data ~/work/parley       with another data folder`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context(), o) },
	}
	cmd.Flags().StringVar(&o.listen, "listen", "", "address to listen on, as host:port; port 0 picks one (default: what serve.listen says)")
	cmd.Flags().BoolVar(&o.insecure, "insecure", false, "listen on other addresses than loopback without TLS or a trusted proxy in front")
	return cmd
}

// serve runs the daemon until it is told to stop.
func (a *app) serve(ctx context.Context, o serveOptions) error {
	// SIGHUP is no reason to stop here, so the signals are the daemon's own.
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	ctx = context.WithoutCancel(ctx)
	reserve := a.reserveHeap()
	defer runtime.KeepAlive(reserve)
	if reserve != nil {
		quiet, stop := context.WithCancel(ctx)
		var looks sync.WaitGroup
		looks.Go(func() { newQuietHeap().run(quiet) })
		defer func() { stop(); looks.Wait() }()
	}
	d, err := a.startDaemon(ctx, o)
	if err != nil {
		return err
	}
	if err := errors.Join(d.work(ctx, signals), d.close()); err != nil {
		// The signal that ended it is no interruption: this is what went wrong.
		return &statusError{status: exitFailed, text: describe(err)}
	}
	return nil
}

// daemon is a data folder that is served.
type daemon struct {
	app      *app
	in       *installation
	log      *slog.Logger
	listener net.Listener
	api      *httpapi.Server
	server   *http.Server
	url      string
	health   *health
	observer *observer
}

// startDaemon takes the address and the data folder, in this order: so a daemon
// that cannot be reached leaves nothing behind.
func (a *app) startDaemon(ctx context.Context, o serveOptions) (_ *daemon, err error) {
	loaded, err := a.loadConfig()
	if err != nil {
		return nil, err
	}
	if err := a.noOther(); err != nil {
		return nil, err
	}
	listen := loaded.Config.Serve.Listen
	if o.listen != "" {
		listen = o.listen
	}
	d := &daemon{app: a, log: slog.New(a.logHandler(&loaded.Config.Serve))}
	if d.listener, err = listenOn(ctx, listen, &loaded.Config.Serve, o.insecure); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.close())
		}
	}()
	if d.observer, err = newObserver(ctx, &loaded.Config.Serve, d.log); err != nil {
		return nil, err
	}
	options := installOptions{Log: d.log, Channels: true}
	d.observer.watch(&options)
	if d.in, err = a.install(ctx, options); err != nil {
		if errors.Is(err, parley.ErrUnavailable) {
			err = errors.Join(a.noOther(), err) // it may have been started meanwhile
		}
		return nil, err
	}
	d.log = d.in.options.Log // which has no secrets in it
	d.observer.in = d.in
	if err := d.encrypt(&loaded.Config.Serve); err != nil {
		return nil, err
	}
	if err := d.makeServer(&loaded.Config); err != nil {
		return nil, err
	}
	return d, a.writeDaemon(d.in.dir, daemonInfo{PID: os.Getpid(), URL: d.url, StartedAt: time.Now().UTC().Truncate(time.Second), Version: version})
}

// noOther refuses to be a second daemon.
func (a *app) noOther() error {
	other, err := a.daemon()
	if err != nil || other == nil {
		return err
	}
	return parley.Errorf(parley.CodeConflict, "a daemon runs on this data folder already, as process %d, at %s; stop it first, or name another folder with --data", other.PID, other.URL)
}

// listenOn opens the address. One that others can reach needs something in front
// that encrypts.
func listenOn(ctx context.Context, address string, cfg *config.Serve, insecure bool) (net.Listener, error) {
	host, port, err := net.SplitHostPort(address)
	if _, portErr := strconv.ParseUint(port, 10, 16); err != nil || portErr != nil {
		return nil, parley.Errorf(parley.CodeInvalid, "%q is no address to listen on; it must be host:port, such as 127.0.0.1:7788, with a port from 0 to 65535", address)
	}
	ip, err := netip.ParseAddr(host)
	local := host == "localhost" || err == nil && ip.IsLoopback()
	if !local && !insecure && len(cfg.TrustedProxies) == 0 && cfg.TLSCert == "" {
		return nil, parley.Errorf(parley.CodeInvalid, "%s can be reached by others, and what they send would not be encrypted; give serve.tls_cert, or put a proxy with TLS in front and name it in serve.trusted_proxies, or use --insecure", address)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, &parley.Error{Code: parley.CodeUnavailable, Message: "cannot listen on " + address + "; is something else there? see --listen", Err: err}
	}
	return listener, nil
}

// makeServer makes what answers requests.
func (d *daemon) makeServer(cfg *config.Config) (err error) {
	d.health = newHealth(d.in)
	proxies, err := prefixes(cfg.Serve.TrustedProxies)
	if err != nil {
		return err
	}
	d.api, err = httpapi.New(d.in.engine, httpapi.Config{
		People: d.in.people, Blobs: d.in.media, Outbox: d.in.outbox, RouteFunc: d.in.router, AgentFunc: d.agent, HeadFunc: d.in.store.Head,
		ReadyFunc: d.health.readiness, Web: web.Handler(), PublicURL: cfg.Serve.PublicURL, TrustedProxies: proxies,
		CORS: cfg.Serve.CORS, Metrics: d.observer.handler(), Version: version, Log: d.log,
	})
	if err != nil {
		return err
	}
	d.server = httpapi.NewHTTPServer(d.in.channels.hooks(d.observer.around(d.api)), d.log)
	return nil
}

// encrypt puts TLS over the listener, if there is a certificate. It is read again
// for a connection when its file has changed, so that a renewed one needs no
// restart.
func (d *daemon) encrypt(cfg *config.Serve) error {
	d.url = "http://" + d.listener.Addr().String()
	if cfg.TLSCert == "" {
		return nil
	}
	pair, err := newKeyPair(d.in.dir, cfg.TLSCert, cfg.TLSKey, d.log)
	if err != nil {
		return err
	}
	d.url = "https://" + d.listener.Addr().String()
	d.listener = tls.NewListener(d.listener, &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}, GetCertificate: pair.get})
	return nil
}

// agent is an agent as requests see it.
func (d *daemon) agent(name string) (httpapi.Agent, bool) {
	snapshot, door, err := d.in.start(name)
	return httpapi.Agent{Door: door, Snapshot: snapshot}, err == nil
}

// prefixes reads addresses and networks, which the configuration has checked.
func prefixes(list []string) ([]netip.Prefix, error) {
	var all []netip.Prefix
	for _, text := range list {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			address, err := netip.ParseAddr(text)
			if err != nil {
				return nil, parley.Errorf(parley.CodeInvalid, "serve.trusted_proxies: %q is no address and no network", text)
			}
			prefix = netip.PrefixFrom(address, address.BitLen())
		}
		all = append(all, prefix)
	}
	return all, nil
}

// work serves and runs turns until a signal comes or one of both fails.
func (d *daemon) work(ctx context.Context, signals chan os.Signal) error {
	run, stop := context.WithCancel(ctx)
	defer stop()
	ran, served := make(chan error, 1), make(chan error, 1)
	go func() { ran <- d.in.run(run) }()
	go func() { served <- d.server.Serve(d.listener) }()
	d.observer.serve(d.log)
	if err := d.greet(ctx); err != nil {
		d.log.Error("make a sign-in link", "error", err)
	}
	var failed error
	release := func() {}
	defer func() { release() }()
wait:
	for {
		select {
		case s := <-signals:
			if s == syscall.SIGHUP {
				d.reload(ctx)
				continue
			}
			d.log.Info("stopping: running turns may end; a second signal stops at once", "signal", s.String())
			release = endAtOnce(signals)
			break wait
		case failed = <-ran:
			ran <- nil
			break wait
		case failed = <-served:
			served <- nil
			break wait
		}
	}
	d.health.stopping()
	stop()
	failed = errors.Join(failed, <-ran)
	return errors.Join(failed, d.hangUp(ctx, served))
}

// endAtOnce lets the next signal end the program as it does any other, except for the
// one to read the configuration, until it is released.
func endAtOnce(signals <-chan os.Signal) (release func()) {
	done := make(chan struct{})
	var hearing sync.WaitGroup
	hearing.Go(func() {
		for {
			select {
			case <-done:
				return
			case s := <-signals:
				if s == syscall.SIGHUP {
					continue
				}
				signal.Reset(os.Interrupt, syscall.SIGTERM)
				if p, err := os.FindProcess(os.Getpid()); err == nil && p.Signal(s) != nil {
					_ = p.Kill() // not every system has signals
				}
			}
		}
	})
	return func() {
		close(done)
		hearing.Wait()
	}
}

// hangUp ends streams and requests.
func (d *daemon) hangUp(ctx context.Context, served <-chan error) error {
	ctx, cancel := context.WithTimeout(ctx, hangUpTime)
	defer cancel()
	err := d.api.Close(ctx)
	if shut := d.server.Shutdown(ctx); shut != nil {
		err = errors.Join(err, d.server.Close()) // whoever is still there has had their time
	}
	if e := <-served; e != nil && !errors.Is(e, http.ErrServerClosed) {
		err = errors.Join(err, e)
	}
	return err
}

// hangUpTime is how long requests may take to end when the daemon stops.
const hangUpTime = 5 * time.Second

// reload reads the configuration again.
func (d *daemon) reload(ctx context.Context) {
	loaded, err := d.app.readConfig()
	if err != nil {
		d.log.Error("the configuration cannot be used; nothing was changed", "error", describe(err))
		return
	}
	done, err := d.in.reload(ctx, loaded)
	if err != nil {
		d.log.Error("the configuration cannot be used; nothing was changed", "error", describe(err))
		return
	}
	d.log.Info("the configuration was read again", "applied", done.Applied, "needs_restart", done.Restart)
}

// greet says on the terminal where the daemon is and how to get in.
func (d *daemon) greet(ctx context.Context) error {
	lines := fmt.Sprintf("Parley %s is at %s\n", version, d.url)
	if d.in.first || d.app.outTerminal {
		owner, err := d.in.people.Local(ctx)
		if err != nil {
			return err
		}
		code, err := d.in.people.LoginCode(ctx, owner)
		if err != nil {
			return err
		}
		lines += fmt.Sprintf("  sign in:      %s\n", loginLink(d.url, d.in.config().Serve.PublicURL, code))
		lines += "                (once, within ten minutes; 'parley login' makes another)\n"
	} else {
		// What is printed may end up in a log that others read.
		lines += "  sign in:      'parley login' prints a link\n"
	}
	lines += fmt.Sprintf("  owner token:  %s\n", filepath.Join(d.in.dir, tokenFile))
	if d.in.offline() {
		lines += "  model:        scripted, which answers offline from a script. Set ANTHROPIC_API_KEY or\n" +
			"                OPENAI_API_KEY, or name a model in parley.yaml ('parley config init')\n"
	}
	return d.app.printText(lines)
}

// loginLink is the address that signs somebody in.
func loginLink(url, public, code string) string {
	if public != "" {
		url = public
	}
	return url + "/login?code=" + code
}

// close gives everything back.
func (d *daemon) close() error {
	var err error
	if d.observer != nil {
		ctx, cancel := context.WithTimeout(context.Background(), hangUpTime)
		defer cancel()
		err = d.observer.close(ctx)
	}
	if d.in != nil {
		err = errors.Join(err, d.in.close())
		if d.api != nil {
			err = errors.Join(err, removeDaemon(d.in.dir))
		}
	}
	// It was closed by the server, if there was one.
	if e := d.listener.Close(); e != nil && !errors.Is(e, net.ErrClosed) {
		err = errors.Join(err, e)
	}
	return err
}

// logHandler writes the log: for people, or for programs.
func (a *app) logHandler(cfg *config.Serve) slog.Handler {
	var level slog.Level
	if err := level.UnmarshalText([]byte(cfg.LogLevel)); err != nil {
		level = slog.LevelInfo // the configuration has only levels that there are
	}
	options := &slog.HandlerOptions{Level: level}
	if cfg.Log == "json" {
		return slog.NewJSONHandler(a.err, options)
	}
	return slog.NewTextHandler(a.err, options)
}
