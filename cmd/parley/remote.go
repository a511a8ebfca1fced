package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/client"
)

// dial gives a client of a daemon that runs on the data folder, as its owner. It does
// not connect.
func (a *app) dial(d daemonInfo) (*client.Client, error) {
	if _, err := a.ownerToken(); err != nil {
		return nil, err
	}
	return a.dialWith(d, client.Config{ReconnectFunc: a.reconnecting})
}

// dialWith is dial with a configuration that is not complete yet. The daemon may restart meanwhile, also
// at another address and with another token.
func (a *app) dialWith(d daemonInfo, cfg client.Config) (*client.Client, error) {
	dir, err := a.dataDir()
	if err != nil {
		return nil, err
	}
	var looking sync.Mutex // what commands share is not made for many goroutines
	locked := func(do func() error) error {
		looking.Lock()
		defer looking.Unlock()
		return do()
	}
	// The daemon is on this machine, so no proxy stands in between, and whatever
	// address it has, nothing leaves the machine.
	var dialer net.Dialer
	transport := &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		address := ""
		if err := locked(func() (err error) { address, err = a.daemonAddress(); return err }); err != nil {
			return nil, err
		}
		return dialer.DialContext(ctx, network, address)
	}}
	cfg.TokenFunc = func(context.Context) (token string, err error) {
		return token, locked(func() (err error) { token, err = a.ownerToken(); return err })
	}
	if strings.HasPrefix(d.URL, "https:") { // else a configuration that cannot be read is nothing to stop for
		if transport.TLSClientConfig, err = a.trusted(dir); err != nil {
			return nil, err
		}
	}
	cfg.URL, cfg.Insecure, cfg.HTTP, cfg.UserAgent = nearURL(d.URL), true, &http.Client{Transport: transport}, "parley/"+version
	return client.New(cfg)
}

// ownerToken reads the owner's token, which a daemon leaves in the data folder.
func (a *app) ownerToken() (string, error) {
	dir, err := a.dataDir()
	if err != nil {
		return "", err
	}
	token, err := os.ReadFile(filepath.Join(dir, tokenFile)) //nolint:gosec // G304: it is in the data folder
	if errors.Is(err, fs.ErrNotExist) {
		return "", parley.Errorf(parley.CodeUnauthorized, "there is no %s in %s; start the daemon again, which then writes another", tokenFile, dir)
	}
	if err != nil {
		return "", &parley.Error{Code: parley.CodeUnavailable, Message: "cannot read the owner's token", Err: err}
	}
	return string(token), nil
}

// daemonAddress gives where the daemon of the data folder listens at present.
func (a *app) daemonAddress() (string, error) {
	running, err := a.daemon()
	if err != nil {
		return "", err
	}
	if running == nil {
		return "", errors.New("no daemon runs on the data folder")
	}
	u, err := url.Parse(nearURL(running.URL))
	if err != nil {
		return "", err
	}
	return u.Host, nil
}

// nearURL gives the address of a daemon as this machine reaches it: one that listens
// everywhere listens on loopback.
func nearURL(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return text // the client says what is wrong with it
	}
	ip, err := netip.ParseAddr(u.Hostname())
	if err != nil || !ip.IsUnspecified() {
		return text
	}
	near := netip.IPv6Loopback()
	if ip.Is4() {
		near = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	u.Host = net.JoinHostPort(near.String(), u.Port())
	return u.String()
}

// trusted lets the daemon's own certificate be the only one, whatever name it is
// for: it is in the configuration of both.
func (a *app) trusted(dir string) (*tls.Config, error) {
	loaded, err := a.loadConfig()
	if err != nil {
		return nil, err
	}
	path := loaded.Config.Serve.TLSCert
	if path == "" {
		return nil, nil //nolint:nilnil // the daemon speaks plain HTTP
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: true, //nolint:gosec // G402: VerifyConnection is stricter than what is skipped
		VerifyConnection: func(s tls.ConnectionState) error {
			data, err := os.ReadFile(path) //nolint:gosec // G304: the configuration names it
			if err != nil {
				return err
			}
			for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
				if block.Type == "CERTIFICATE" {
					if bytes.Equal(block.Bytes, s.PeerCertificates[0].Raw) {
						return nil
					}
					break // the others are its chain
				}
			}
			return errors.New("the server has another certificate than serve.tls_cert")
		},
	}, nil
}

// reconnecting tells whoever follows a stream that its connection is lost, and back.
func (a *app) reconnecting(err error, attempt int) {
	switch {
	case err == nil:
		a.say("* the connection is back\n")
	case attempt == 1:
		a.say("* the connection is lost; trying again\n")
	}
}

// remoteHost is a daemon that chat talks to.
type remoteHost struct{ *client.Client }

func (a *app) remoteHost(d daemonInfo) (host, error) {
	c, err := a.dial(d)
	if err != nil {
		return nil, err
	}
	return &remoteHost{c}, nil
}

// Enter implements [host].
func (h *remoteHost) Enter(ctx context.Context, agent string, anew bool) (parley.Session, error) {
	me, err := h.Me(ctx)
	if err != nil {
		return parley.Session{}, err
	}
	in := terminalInbound(parley.Principal{Identity: me.Identity})
	opening := client.Opening{Context: &in, Agent: agent, Source: terminalSource()}
	opened, err := h.Open(ctx, opening)
	if err != nil || opened.Created || !anew {
		return opened.Session, err
	}
	// As anybody starts over who talks to it.
	if _, err := h.Ask(ctx, opened.Session.ID, parley.Input{Parts: []parley.Part{parley.TextPart("/new")}}); err != nil {
		return parley.Session{}, err
	}
	opened, err = h.Open(ctx, opening)
	return opened.Session, err
}

// Start implements [host].
func (h *remoteHost) Start(ctx context.Context, id parley.SessionID, agent string) (parley.Session, error) {
	opened, err := h.Open(ctx, client.Opening{ID: id, Agent: agent, Source: terminalSource()})
	return opened.Session, err
}

// terminalSource is where sessions start that a terminal makes.
func terminalSource() *parley.Source { return &parley.Source{Kind: cliChannel, Interactive: true} }

// Approve implements [host].
func (h *remoteHost) Approve(ctx context.Context, id parley.SessionID, call parley.CallID, allow bool) error {
	return h.Client.Approve(ctx, id, call, allow, client.RememberOnce)
}

// Close implements [host]. What was not answered the daemon goes on with.
func (h *remoteHost) Close() error {
	h.Client.Close()
	return nil
}
