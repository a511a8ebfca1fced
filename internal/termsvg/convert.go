//go:build ignore

// Command convert draws a captured screen as an SVG picture:
//
//	go run ./internal/termsvg/convert.go -title 'parley chat' capture.ansi docs/chat.svg
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/parley-run/parley/internal/termsvg"
)

func main() {
	if err := convert(); err != nil {
		fmt.Fprintln(os.Stderr, "convert:", err)
		os.Exit(1)
	}
}

func convert() error {
	var cfg termsvg.Config
	flag.StringVar(&cfg.Title, "title", "", "what stands in the frame of the window")
	flag.BoolVar(&cfg.Light, "light", false, "draw it on a light background")
	flag.IntVar(&cfg.Cols, "cols", 0, "columns of the screen (what it needs)")
	flag.IntVar(&cfg.Rows, "rows", 0, "rows of the screen (what it needs)")
	flag.Parse()
	if flag.NArg() != 2 {
		return fmt.Errorf("give the capture and the picture: convert [flags] CAPTURE PICTURE")
	}
	capture, err := os.ReadFile(flag.Arg(0))
	if err != nil {
		return err
	}
	return os.WriteFile(flag.Arg(1), []byte(termsvg.Render(string(capture), cfg)), 0o644)
}
