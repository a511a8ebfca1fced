package main

import (
	"crypto/tls"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/parley-run/parley"
)

// keyPair is a certificate and its key in files, which may be renewed.
type keyPair struct {
	cert, key string
	log       *slog.Logger

	mu      sync.Mutex
	present *tls.Certificate
	written time.Time // the file that present was read from
}

// newKeyPair reads a certificate and its key. Without a key file, the key is in that
// of the certificate.
func newKeyPair(dir, cert, key string, log *slog.Logger) (*keyPair, error) {
	if key == "" {
		key = cert
	}
	in := func(path string) string {
		if filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(dir, path)
	}
	p := &keyPair{cert: in(cert), key: in(key), log: log}
	if err := p.read(); err != nil {
		return nil, &parley.Error{Code: parley.CodeInvalid, Message: "the certificate of serve.tls_cert cannot be used", Err: err}
	}
	return p, nil
}

// read reads the files, if they have changed.
func (p *keyPair) read() error {
	info, err := os.Stat(p.cert)
	if err != nil {
		return err
	}
	if p.present != nil && info.ModTime().Equal(p.written) {
		return nil
	}
	pair, err := tls.LoadX509KeyPair(p.cert, p.key)
	if err != nil {
		return err
	}
	p.present, p.written = &pair, info.ModTime()
	return nil
}

// get gives the certificate for a connection. One that cannot be read any more is
// used as it was.
func (p *keyPair) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.read(); err != nil {
		p.log.Error("read the certificate again", "error", err)
	}
	return p.present, nil
}
