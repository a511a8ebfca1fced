package access

import (
	"context"
	"crypto/sha256"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/parley-run/parley"
)

// How long codes and the devices that sign in with one are good.
const (
	passcodeTime = 10 * time.Minute
	deviceTime   = 90 * 24 * time.Hour
)

// passcodeLetters has no letters that are taken for others, and codes are so long.
const (
	passcodeLetters = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
	passcodeLength  = 8
)

// newPasscode makes a code that people read and type, such as 7KQM-X2WP.
func newPasscode() string {
	const fair = 256 / len(passcodeLetters) * len(passcodeLetters) // so that no letter is likelier
	code := make([]byte, 0, passcodeLength+1)
	for len(code) < passcodeLength+1 {
		b := int(randomBytes(1)[0])
		if b >= fair {
			continue
		}
		code = append(code, passcodeLetters[b%len(passcodeLetters)])
		if len(code) == passcodeLength/2 {
			code = append(code, '-')
		}
	}
	return string(code)
}

// readPasscode gives a code as it was made, however it was typed: in small letters, with
// other dashes and spaces, or none. What cannot be a code is "".
func readPasscode(typed string) string {
	if len(typed) > 64 {
		return ""
	}
	code := strings.Map(func(r rune) rune {
		switch r {
		case '-', '–', '—', '‐', '‑', ' ', '\t', '\u00a0', '\n', '\r':
			return -1
		}
		return r
	}, typed)
	code = strings.ToUpper(code)
	if len(code) != passcodeLength || strings.Trim(code, passcodeLetters) != "" {
		return ""
	}
	return code[:passcodeLength/2] + "-" + code[passcodeLength/2:]
}

// passcodeHash is what is stored of a code. A code of one kind is none of another.
func passcodeHash(kind parley.PasscodeKind, code string) [sha256.Size]byte {
	return sha256.Sum256([]byte(string(kind) + " " + code))
}

// storePasscode stores a code that an account shows.
func (p *People) storePasscode(ctx context.Context, kind parley.PasscodeKind, id parley.IdentityID, code string, more parley.Batch) error {
	more.At = p.clock.Now()
	more.Passcodes = []parley.PasscodeChange{{New: &parley.Passcode{
		Hash: passcodeHash(kind, code), Kind: kind, Identity: id, CreatedAt: more.At, ExpiresAt: more.At.Add(passcodeTime),
	}}}
	return p.commit(ctx, more)
}

// guesses limits how often codes are entered that are wrong: by who enters them, and
// all in all, as there are few enough codes to try many.
type guesses struct {
	per *Throttle

	mu  sync.Mutex
	all bucket
}

// So many wrong codes at once, and so many a second, all in all.
const (
	guessBurst = 100
	guessRate  = 1.0
)

// start counts an attempt as a wrong one.
func (g *guesses) start(who string, now time.Time) error {
	if err := g.per.attempt(who); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if wait := g.all.take(now, guessRate, guessBurst); wait > 0 {
		return tooOften("there were too many wrong codes", wait)
	}
	return nil
}

// right takes back an attempt that was right.
func (g *guesses) right(who string) {
	g.per.takeBack(who)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.all.putBack()
}

// enterPasscode finds a code that a caller typed. It is used up by the batch that acts on
// it. A wrong one is [parley.CodeNotFound], many of them are [parley.CodeRateLimited].
func (p *People) enterPasscode(ctx context.Context, by Caller, kind parley.PasscodeKind, typed string) (parley.Passcode, error) {
	now := p.clock.Now()
	who := string(by.principal.Identity)
	if err := p.guesses.start(who, now); err != nil {
		return parley.Passcode{}, err
	}
	found, err := p.findPasscode(ctx, kind, readPasscode(typed))
	if errors.Is(err, parley.ErrNotFound) {
		p.failed(entry(by, "", "", "a "+string(kind)+" code that is not good"))
		return parley.Passcode{}, wrongPasscode()
	}
	p.guesses.right(who) // or the store failed, which is not the caller's fault
	return found, err
}

// findPasscode finds a code of a kind, if it is not over.
func (p *People) findPasscode(ctx context.Context, kind parley.PasscodeKind, code string) (parley.Passcode, error) {
	if code == "" {
		return parley.Passcode{}, wrongPasscode()
	}
	hash := passcodeHash(kind, code)
	found, err := p.store.Passcode(ctx, hash, p.clock.Now())
	if err == nil && (!same(found.Hash, hash) || found.Kind != kind) {
		err = wrongPasscode()
	}
	return found, err
}

// usePasscode gives the change that uses up a code.
func usePasscode(c *parley.Passcode) []parley.PasscodeChange {
	return []parley.PasscodeChange{{Use: c.Hash}}
}

func wrongPasscode() error {
	return parley.Errorf(parley.CodeNotFound, "this code is not good: it is mistyped, was used, or is older than ten minutes; ask for another")
}

// LoginCode makes a code with which a device signs in as the caller, once, within ten
// minutes. It is long, as it is part of a link. A later one takes its place.
func (p *People) LoginCode(ctx context.Context, by Caller) (string, error) {
	if err := by.themselves("sign in devices"); err != nil {
		return "", err
	}
	code := randomText(secretBytes)
	return code, p.storePasscode(ctx, parley.PasscodeLogin, by.principal.Identity, code, parley.Batch{})
}

// Login signs a device in with a code from [People.LoginCode], and gives its token,
// which is good for 90 days. A code that is not good is [parley.CodeUnauthorized]; of
// two who use it at once, one gets in. The device is a name for people.
func (p *People) Login(ctx context.Context, code, device string) (secret string, t parley.Token, err error) {
	found, err := p.findPasscode(ctx, parley.PasscodeLogin, code)
	if err != nil {
		return "", parley.Token{}, p.noLogin(err)
	}
	p.change.Lock()
	defer p.change.Unlock()
	who, err := p.person(ctx, found.Identity)
	if err == nil && who.user.ID == "" {
		err = wrongPasscode()
	}
	if err != nil {
		return "", parley.Token{}, p.noLogin(err)
	}
	secret, t = p.newToken(parley.Token{Kind: parley.TokenDevice, Name: TidyName(device), Identity: found.Identity})
	t.ExpiresAt = t.CreatedAt.Add(deviceTime)
	err = p.commit(ctx, parley.Batch{
		Tokens: []parley.TokenChange{{New: &t}}, Passcodes: usePasscode(&found),
		Audit: []parley.AuditEntry{tokenEntry(NewCaller(who.principal("code")), "sign_in", &t)},
	})
	if err != nil {
		return "", parley.Token{}, p.noLogin(err)
	}
	return secret, shown(t), nil
}

// noLogin gives the answer to a code that does not sign in.
func (p *People) noLogin(err error) error {
	if !errors.Is(err, parley.ErrNotFound) {
		return err
	}
	p.failed(parley.AuditEntry{Via: "code", Detail: "a sign-in link that is not good"})
	return parley.Errorf(parley.CodeUnauthorized, "this sign-in link was used, or is older than ten minutes; get another with parley login")
}
