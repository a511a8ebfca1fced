package main

import (
	"context"
	"path/filepath"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/internal/disk"
	"github.com/parley-run/parley/secret"
)

// tokenFile holds the owner's token, in the data folder.
const tokenFile = "owner.token"

// openPeople makes the people of the store: the owner, if there is none, with a token
// in the data folder, and the accounts that the configuration links.
func (in *installation) openPeople(ctx context.Context) error {
	c := &in.started.Config
	in.people = access.NewPeople(in.store, access.PeopleConfig{
		Owner: c.Owner.Identities, Links: exactLinks(c.Session.IdentityLinks), Log: in.options.Log,
	})
	token, err := in.people.Setup(ctx)
	if err != nil {
		return err
	}
	in.first = token != ""
	return in.keepToken(ctx, token)
}

// keepToken writes the owner's token into its file. If the file was lost, or its token was revoked, there
// is a new token, and the old one is good for nothing.
func (in *installation) keepToken(ctx context.Context, token string) error {
	path := filepath.Join(in.dir, tokenFile)
	if token == "" {
		ref, err := secret.Parse("file:" + path)
		if err != nil {
			return err
		}
		kept, err := ref.Resolve(ctx, in.sources) // for what is logged
		if err != nil && parley.CodeOf(err) != parley.CodeNotFound {
			return err
		}
		if err == nil {
			if good, err := in.people.IsOwnerToken(ctx, kept.Reveal()); good || err != nil {
				return err
			}
		}
		if token, err = in.people.OwnerToken(ctx); err != nil {
			return err
		}
	}
	in.sources.Scrubber.Add(secret.NewValue(token))
	if err := disk.WriteFile(path, []byte(token+"\n")); err != nil {
		return &parley.Error{Code: parley.CodeUnavailable, Message: "cannot write the owner's token", Err: err}
	}
	return nil
}

// exactLinks gives the accounts of persons that the configuration names with their
// channel; others are known in routing alone.
func exactLinks(links map[string][]string) map[string][]parley.IdentityID {
	out := map[string][]parley.IdentityID{}
	for name, accounts := range links {
		for _, account := range accounts {
			if id := parley.IdentityID(account); id.Validate() == nil {
				out[name] = append(out[name], id)
			}
		}
	}
	return out
}
