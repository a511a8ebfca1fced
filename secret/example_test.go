package secret_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/parley-run/parley/secret"
)

// A program resolves a reference from its configuration. The value does not
// print itself, and the scrubber takes it out of what others print.
func Example() {
	ctx := context.Background()
	var scrubber secret.Scrubber
	sources := secret.Sources{
		Scrubber:      &scrubber,
		LookupEnvFunc: func(name string) (string, bool) { return "open sesame", name == "CAVE_TOKEN" },
	}
	ref, err := secret.Parse("env:CAVE_TOKEN")
	if err != nil {
		log.Fatal(err)
	}
	token, err := ref.Resolve(ctx, sources)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ref, token, len(token.Reveal()))
	fmt.Println(scrubber.Text("GET /cave?token=open+sesame: 403"))

	_, err = secret.Parse("open sesame")
	fmt.Println(err)
	// Output:
	// env:CAVE_TOKEN [secret] 11
	// GET /cave?token=[secret]: 403
	// a secret is not written down but referred to: give env:NAME, file:PATH or keyring:NAME
}

// Keys are exchanged in two steps: first the list has both, and when everything
// is locked with the newer one, the older is dropped.
func ExampleKeyFile() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "parley")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	holder := secret.KeyFile(filepath.Join(dir, "store.key"))
	older, newer := make([]byte, secret.KeySize), make([]byte, secret.KeySize) // of crypto/rand, in a real program
	for _, keys := range [][][]byte{{older}, {newer, older}, {newer}} {
		if err := holder.Save(ctx, keys); err != nil {
			log.Fatal(err)
		}
		held, err := holder.Keys(ctx)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(len(held))
	}
	// Output:
	// 1
	// 2
	// 1
}
