package secret_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/godbus/dbus/v5"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/soak"
	"github.com/parley-run/parley/secret"
)

// TestSystemKeyring runs itself again on a session bus of its own, with a keyring
// of its own. It needs dbus-run-session and gnome-keyring-daemon; make test
// installs them in a container.
func TestSystemKeyring(t *testing.T) {
	t.Parallel()
	if os.Getenv(busEnv) != "" {
		systemKeyring(t)
		return
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		t.Skip("the keyring is a part of the system, and the user's own")
	}
	for _, program := range []string{"dbus-run-session", "gnome-keyring-daemon"} {
		if _, err := exec.LookPath(program); err != nil {
			soak.SkipOrFail(t, "%s is not installed: make keyring", program)
		}
	}
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "dbus-run-session", "--", os.Args[0], "-test.v", "-test.run=^"+t.Name()+"$", "-test.timeout=2m")
	cmd.Env = append(os.Environ(), busEnv+"=1", "HOME="+dir, "XDG_RUNTIME_DIR="+dir, "XDG_DATA_HOME="+filepath.Join(dir, "data"), "DISPLAY=", "WAYLAND_DISPLAY=")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("%v\n%s", err, out)
	}
}

func systemKeyring(t *testing.T) {
	t.Helper()
	daemon := exec.CommandContext(t.Context(), "gnome-keyring-daemon", "--unlock", "--components=secrets")
	daemon.Stdin = strings.NewReader("the keyring's password")
	if err := daemon.Run(); err != nil {
		t.Fatal(err)
	}
	holderPromises(t, secret.Keyring("main"))

	h, err := secret.OpenKeys("keyring", "", "main")
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Save(t.Context(), [][]byte{key(1)}); err != nil {
		t.Fatal(err)
	}
	wantKeys(t, secret.Keyring("other"))
	ref, err := secret.Parse("keyring:main")
	if err != nil {
		t.Fatal(err)
	}
	v, err := ref.Resolve(t.Context(), secret.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	if keys, err := secret.ParseKeys(v.Reveal()); err != nil || len(keys) != 1 {
		t.Errorf("the item has %d keys, %v", len(keys), err)
	}
	resolve(t, "keyring:missing", secret.Sources{}, parley.CodeNotFound, "no item missing")

	// Locked, it wants a person, and there is none.
	bus, err := dbus.SessionBus()
	if err != nil {
		t.Fatal(err)
	}
	login := []dbus.ObjectPath{"/org/freedesktop/secrets/collection/login"}
	if err := bus.Object("org.freedesktop.secrets", "/org/freedesktop/secrets").
		CallWithContext(t.Context(), "org.freedesktop.Secret.Service.Lock", 0, login).Err; err != nil {
		t.Fatal(err)
	}
	_, err = h.Keys(t.Context())
	wantCode(t, err, parley.CodeUnavailable)
	wantText(t, err, "--key FILE")
}

// TestNoKeyring is what happens on a server: there is no bus to ask.
func TestNoKeyring(t *testing.T) {
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		t.Skip("the keyring is a part of the system")
	}
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+filepath.Join(t.TempDir(), "bus"))
	_, err := secret.Keyring("main").Keys(t.Context())
	wantCode(t, err, parley.CodeUnavailable)
	wantText(t, err, "use a key file: --key FILE")
	err = secret.Keyring("main").Save(t.Context(), [][]byte{key(1)})
	wantCode(t, err, parley.CodeUnavailable)
	if errors.Is(err, parley.ErrOutcomeUnknown) {
		t.Errorf("nothing was done, but the outcome is unknown: %v", err)
	}
	resolve(t, "keyring:main", secret.Sources{}, parley.CodeUnavailable, "give env:NAME or file:PATH")
}
