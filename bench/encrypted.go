package bench

import (
	"context"
	"errors"
	"path/filepath"
)

// commitEncrypted measures durable admissions by 64 sessions at once to an
// encrypted copy of the store with many sessions, beside the same to the store
// itself.
func (r *run) commitEncrypted(ctx context.Context) (err error) {
	plain := r.bed.many
	r.cfg.ProgressFunc("encrypting the store", 0, 0)
	encrypted, err := r.cfg.EncryptFunc(ctx, r.bed.manyPath, filepath.Join(r.dir, "encrypted.db"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, encrypted.Close()) }()
	plainInboxes, err := openInboxes(ctx, plain, "beside", r.bed.base)
	if err != nil {
		return err
	}
	sealedInboxes, err := openInboxes(ctx, encrypted, "sealed", r.bed.base)
	if err != nil {
		return err
	}
	l := stretch{each: queueLimit, limit: r.cfg.Size.Stretch}
	var p pair
	err = r.rounds(ctx, "measuring "+Commit64Encrypted, r.cfg.Size.CommitRounds, func(i int) error {
		if err := inTurns(i,
			into(&p.value, func() (float64, error) { return admitTogether(ctx, encrypted, sealedInboxes, l) }),
			into(&p.reference, func() (float64, error) { return admitTogether(ctx, plain, plainInboxes, l) }),
		); err != nil {
			return err
		}
		return errors.Join(settle(ctx, encrypted, sealedInboxes...), settle(ctx, plain, plainInboxes...))
	})
	if err != nil {
		return err
	}
	r.record(Commit64Encrypted, &p)
	return errors.Join(verifyAll(ctx, encrypted, sealedInboxes), verifyAll(ctx, plain, plainInboxes))
}
