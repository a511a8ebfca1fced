// Package secret keeps credentials out of sight. A configuration holds a [Ref]
// ("env:NAME", "file:PATH", "keyring:NAME") instead of a secret. Resolving it
// gives a [Value], which never prints itself, and a [Scrubber] takes values out
// of what others print. A [Holder] keeps the keys that unlock encrypted stores,
// in a file or in the system's keyring. No error of this package holds a secret.
//
// A question to the system's keyring runs on a goroutine, as the system may show
// a prompt and wait for a person. Who asks waits for it, or until the context
// ends; then the goroutine stays until the system answers, and later questions
// queue behind it. Nothing else here starts one.
//
// The package must not import any other of the module but the root.
package secret
