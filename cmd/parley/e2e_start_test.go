package main_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io/fs"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// daemonFileOf gives what daemon.json has; nil: there is none.
func daemonFileOf(t *testing.T, dir string) map[string]any {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "daemon.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var info map[string]any
	if err == nil {
		err = json.Unmarshal(data, &info)
	}
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func TestServe_FirstStart(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "not", "yet")
	d := daemonOn(t, dir)
	if !strings.HasPrefix(d.url, "http://127.0.0.1:") || !strings.HasPrefix(d.link, d.url+"/login?code=") {
		t.Errorf("it is at %s, and the link is %s", d.url, d.link)
	}
	for _, text := range []string{"Parley v1.2.3 is at", "'parley login' makes another", "scripted, which answers offline"} {
		if !strings.Contains(d.out.String(), text) {
			t.Errorf("it does not say %q", text)
		}
	}
	info := daemonFileOf(t, dir)
	if info["pid"] != float64(d.cmd.Process.Pid) || info["url"] != d.url || info["version"] != "v1.2.3" || info["started_at"] == "" || len(info) != 4 {
		t.Errorf("daemon.json is %v", info)
	}
	if runtime.GOOS != "windows" {
		for name, mode := range map[string]fs.FileMode{"owner.token": 0o600, "parley.db": 0o600, ".": 0o700} {
			if is, err := os.Stat(filepath.Join(dir, name)); err != nil || is.Mode().Perm()&^mode != 0 {
				t.Errorf("%s: %v, %v; want nobody else to read it", name, is.Mode(), err)
			}
		}
	}
	if strings.Contains(d.err.String(), d.token) || strings.Contains(d.out.String(), d.token) {
		t.Error("the owner's token is printed")
	}
	d.stop()
	if daemonFileOf(t, dir) != nil {
		t.Error("daemon.json is still there after a clean stop")
	}
	again := daemonOn(t, dir)
	if again.token != d.token {
		t.Error("another start made another token")
	}
	if again.link == d.link {
		t.Error("another start shows the same link")
	}
}

func TestServe_SecondInstance(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := daemonOn(t, dir)
	second := parleyRun(t, t.TempDir(), "serve", "--data", dir, "--listen", "127.0.0.1:0")
	second.complains(t, 1, "process "+strconv.Itoa(first.cmd.Process.Pid), first.url, "--data")
	first.ready()
	if info := daemonFileOf(t, dir); info["pid"] != float64(first.cmd.Process.Pid) {
		t.Errorf("daemon.json is %v", info)
	}
	// Also if the first has lost its file, or it is a stranger's.
	if err := os.Remove(filepath.Join(dir, "daemon.json")); err != nil {
		t.Fatal(err)
	}
	third := parleyRun(t, t.TempDir(), "serve", "--data", dir, "--listen", "127.0.0.1:0")
	third.complains(t, 1, "in use")
	first.ready()
}

func TestServe_StaleFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := daemonOn(t, dir)
	session := first.open(`{}`)
	first.kill()
	if info := daemonFileOf(t, dir); info["pid"] != float64(first.cmd.Process.Pid) {
		t.Fatalf("daemon.json is %v after a kill", info)
	}
	second := daemonOn(t, dir)
	if info := daemonFileOf(t, dir); info["pid"] != float64(second.cmd.Process.Pid) || info["url"] != second.url {
		t.Errorf("daemon.json is %v", info)
	}
	if got := second.get("/api/sessions/" + session); got.status != http.StatusOK {
		t.Errorf("the session is gone: %d %s", got.status, got.body)
	}
}

// TestServe_ReusedPID has the file of a daemon that was killed, whose number another
// program has by now.
func TestServe_ReusedPID(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, "daemon.json", mustJSON(t, map[string]any{
		"pid": os.Getpid(), "url": "http://127.0.0.1:1", "started_at": "2026-01-02T03:04:05Z", "version": "v1",
	}))
	d := daemonOn(t, dir)
	if info := daemonFileOf(t, dir); info["pid"] != float64(d.cmd.Process.Pid) {
		t.Errorf("daemon.json is %v", info)
	}
}

func TestServe_Addresses(t *testing.T) {
	t.Parallel()
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := taken.Close(); err != nil {
			t.Error(err)
		}
	})
	for name, c := range map[string]struct {
		listen string
		status int
		has    []string
	}{
		"all addresses":      {"0.0.0.0:0", 1, []string{"0.0.0.0:0", "serve.tls_cert", "serve.trusted_proxies", "--insecure"}},
		"all addresses, 6":   {"[::]:0", 1, []string{"--insecure"}},
		"no host":            {":0", 1, []string{"--insecure"}},
		"another's address":  {"192.0.2.1:0", 1, []string{"--insecure"}},
		"a name":             {"example.com:0", 1, []string{"--insecure"}},
		"mapped":             {"[::ffff:192.0.2.1]:0", 1, []string{"--insecure"}},
		"in use":             {taken.Addr().String(), 1, []string{taken.Addr().String(), "--listen"}},
		"no port":            {"127.0.0.1", 1, []string{"host:port"}},
		"no address at all":  {"nonsense", 1, []string{"host:port"}},
		"a port that cannot": {"127.0.0.1:99999", 1, []string{"99999"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "data")
			parleyRun(t, t.TempDir(), "serve", "--data", dir, "--listen", c.listen).complains(t, c.status, c.has...)
			if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a daemon that cannot be reached made its data folder: %v", err)
			}
		})
	}
}

func TestServe_Insecure(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, t.TempDir(), nil, "--listen", "0.0.0.0:0", "--insecure")
	_, port, err := net.SplitHostPort(strings.TrimPrefix(d.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	d.url = "http://127.0.0.1:" + port
	d.ready()
}

// selfSigned writes a certificate for 127.0.0.1 and its key into one file, and gives
// who trusts it.
func selfSigned(t *testing.T, path string) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "test"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	text = append(text, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})...)
	next := path + ".next" // so that nobody reads half of it
	if err := os.WriteFile(next, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, path); err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(text)
	return pool
}

func TestServe_TLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "cert.pem")
	put(t, dir, "parley.yaml", "serve: {tls_cert: cert.pem}\n")
	trust := selfSigned(t, path)
	// It may be reached by others, as what they send is encrypted.
	d := startDaemon(t, dir, nil, "--listen", "0.0.0.0:0")
	_, port, err := net.SplitHostPort(strings.TrimPrefix(d.url, "https://"))
	if err != nil {
		t.Fatalf("%v in %s", err, d.url)
	}
	d.url = "https://127.0.0.1:" + port
	with := func(pool *x509.CertPool) {
		d.client.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, DisableKeepAlives: true}
	}
	with(trust)
	d.ready()
	login := d.do(http.MethodPost, "/login", "code="+d.link[strings.Index(d.link, "=")+1:], "Authorization:", "Origin: "+d.url, "Content-Type: application/x-www-form-urlencoded")
	if cookie := login.header.Get("Set-Cookie"); login.status != http.StatusSeeOther || !strings.Contains(cookie, "Secure") || !strings.Contains(cookie, "HttpOnly") {
		t.Errorf("signing in gave %d with %q", login.status, cookie)
	}
	plain, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:"+port+"/healthz", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(plain)
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil || resp.StatusCode != http.StatusBadRequest {
		t.Errorf("without TLS: %d, %v", resp.StatusCode, err)
	}
	// A renewed certificate needs no restart.
	renewed := selfSigned(t, path)
	with(renewed)
	eventually(t, "the renewed certificate is used", func() bool {
		got, err := d.try(http.MethodGet, "/healthz", "")
		return err == nil && got.status == http.StatusOK
	})
	d.stop()
}

func TestServe_BadCertificate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, "parley.yaml", "serve: {tls_cert: cert.pem}\n")
	put(t, dir, "cert.pem", "nonsense")
	parleyRun(t, t.TempDir(), "serve", "--data", dir, "--listen", "127.0.0.1:0").complains(t, 1, "serve.tls_cert")
	if daemonFileOf(t, dir) != nil {
		t.Error("it left daemon.json")
	}
}

func TestServe_Encrypted(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	key := filepath.Join(home, "key")
	d := daemonOn(t, dir)
	session := d.open(`{"title":"kept"}`)
	const secret = "a sentence that nobody else may read"
	d.say(session, secret)
	// Not while it runs.
	if got := parleyRun(t, home, "encrypt", "on", "--data", dir, "--key", key); got.status != 1 {
		t.Errorf("the store was encrypted under the daemon: %v", got)
	}
	d.stop()
	if !strings.Contains(storeText(t, dir), secret) {
		t.Error("what is to be hidden cannot be found before")
	}
	if got := parleyRun(t, home, "encrypt", "on", "--data", dir, "--key", key); got.status != 0 {
		t.Fatal(got)
	}
	parleyRun(t, home, "serve", "--data", dir, "--listen", "127.0.0.1:0", "--key", filepath.Join(home, "none")).complains(t, 1, "key")
	d = daemonOn(t, dir, "--key", key)
	if all := d.messages(session); len(all) != 2 || all[0].text() != secret {
		t.Errorf("the messages are %v", all)
	}
	d.say(session, secret+", again")
	d.stop()
	if strings.Contains(storeText(t, dir), secret) {
		t.Error("the store can be read without the key")
	}
}

// storeText gives the bytes of all files in a data folder.
func storeText(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		all.Write(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}
