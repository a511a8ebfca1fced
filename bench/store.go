package bench

import (
	"context"
	"errors"

	"github.com/parley-run/parley"
)

// Store measures a store: what a durable commit costs beside the bare disk, and
// that neither a long history nor a million sessions make anything slower.
//
// It fails with [parley.CodeInvalid] for a configuration it cannot use, with
// [parley.CodeUnavailable] if the disk has no room, and with
// [parley.CodeInternal] if the store lost something it had acknowledged. A bar
// that is not held is no error; see [Report.OK]. When ctx ends the run stops,
// and its folder is removed all the same.
func Store(ctx context.Context, cfg Config) (Report, error) {
	if cfg.ProbeFunc == nil || cfg.EncryptFunc == nil {
		return Report{}, parley.Errorf(parley.CodeInvalid, "a run of the store needs ProbeFunc and EncryptFunc")
	}
	return measureAll(ctx, cfg, storeMeasures(), (*run).store)
}

// store takes the figures of [Store] in an order that keeps them out of each
// other's way: reads while nothing is written, then commits, then what needs the
// stores closed.
func (r *run) store(ctx context.Context) (err error) {
	if r.bed, err = newBed(ctx, r.cfg, r.dir); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.bed.close()) }()
	return r.steps(ctx, []step{
		{r.window, []string{WindowDeep}},
		{r.list, []string{ListPage}},
		{r.alias, []string{AliasLookup}},
		{r.commits, []string{Commit64, Commit1}},
		{r.commitEncrypted, []string{Commit64Encrypted}},
		{r.commitDeep, []string{CommitDeep}},
		{r.cold, []string{StartCold, RSSIdle}},
	})
}
