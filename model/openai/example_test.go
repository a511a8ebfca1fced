package openai_test

import (
	"context"
	"fmt"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/model/openai"
)

// A model on this machine, behind Ollama. It needs no key, and what it costs is
// known: nothing.
func ExampleNew() {
	m, err := openai.New(openai.Config{
		Model:    "qwen3:8b",
		Provider: "ollama",
		BaseURL:  "http://127.0.0.1:11434/v1",
		Info:     parley.ModelInfo{Context: 40_960, Price: &parley.Price{}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Info().Name, m.Info().Context)

	_, err = openai.New(openai.Config{Model: "gpt-5"})
	fmt.Println(err)
	_, err = openai.New(openai.Config{Model: "gpt-5", KeyFunc: func(context.Context) (string, error) { return "…", nil }})
	fmt.Println(err)
	// Output:
	// ollama/qwen3:8b 40960
	// openai needs an API key
	// <nil>
}
