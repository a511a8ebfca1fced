package mcp_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
)

// rawKinds are servers that do what no library lets them do.
var rawKinds = map[string]func() error{
	"exit": func() error {
		fmt.Fprintln(os.Stderr, "no licence for "+hidden+" or "+hidden[:9]+"\x00"+hidden[9:])
		os.Exit(7)
		return nil
	},
	"lastwords": func() error {
		_, _ = os.Stderr.WriteString(strings.Repeat("not the last word\n", 100_000) + "the last word\n")
		os.Exit(9)
		return nil
	},
	"mute":    func() error { _, err := io.Copy(io.Discard, os.Stdin); return err },
	"sleeper": func() error { signal.Ignore(syscall.SIGTERM); put("sleeping"); select {} },
	"stubborn": func() error {
		signal.Ignore(syscall.SIGTERM)
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), kindEnv+"=sleeper")
		if err := child.Start(); err != nil {
			return err
		}
		if err := talk(answer); err != nil {
			return err
		}
		put("ignoring")
		select {}
	},
	"orphans": func() error { // ends when it should, but leaves somebody behind that holds its output
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), kindEnv+"=sleeper")
		child.Stdout = os.Stdout
		if err := child.Start(); err != nil {
			return err
		}
		return talk(answer)
	},
	"errflood": func() error {
		go func() {
			for line := strings.Repeat("e", 1023) + "\n"; ; {
				if _, err := os.Stderr.WriteString(line); err != nil {
					return
				}
			}
		}()
		return talk(answer)
	},
	"garbage": func() error {
		for {
			if _, err := os.Stdout.WriteString("this is not a message\n"); err != nil {
				return err
			}
		}
	},
	"greeting": func() error {
		_, _ = fmt.Fprintf(os.Stdout, "Welcome to my server, %s!\n\n{\"not\": \"a message\"}\n[]\n", hidden)
		return talk(answer)
	},
	"twice": func() error {
		return talk(func(id int, method string) []string {
			wrong := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"wrong"}]}}`, id+1000)
			list := append([]string{wrong, `{"jsonrpc":"2.0","id":"x","result":{}}`, `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}`}, answer(id, method)...)
			return append(list, strings.ReplaceAll(answer(id, method)[0], "answer", "second answer"))
		})
	},
	"batch": func() error {
		return talk(func(id int, method string) []string {
			return []string{"[" + strings.Join(append(answer(id, method), `{"jsonrpc":"2.0","method":"notifications/message","params":{}}`), ",") + "]"}
		})
	},
	"huge": func() error {
		n := 0
		return talk(func(id int, method string) []string {
			if method != "tools/call" {
				return answer(id, method)
			}
			_, _ = fmt.Fprintf(os.Stdout, `{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"`, id)
			for piece := strings.Repeat("x", 1<<20); ; {
				if n++; n > 50 {
					return []string{`"}]}}`}
				}
				if _, err := os.Stdout.WriteString(piece); err != nil {
					return nil
				}
			}
		})
	},
	"unreadable": onCall(`{"content":[{"type":"hologram"}]}`),
	"noresult":   onCall(`7`),
	"closeout": func() error {
		return talk(func(id int, method string) []string {
			if method == "tools/call" {
				_ = os.Stdout.Close()
				return nil
			}
			return answer(id, method)
		})
	},
	"silent": func() error { // lists its tools, and never answers a call
		return talk(func(id int, method string) []string {
			put(method)
			if method == "tools/call" {
				return nil
			}
			return answer(id, method)
		})
	},
	"deaf": func() error { // does not read beyond the list
		_ = talk(func(id int, method string) []string {
			defer func() {
				if method == "tools/list" {
					put("deaf")
				}
			}()
			return answer(id, method)
		}, "tools/list")
		select {}
	},
	"flood": func() error { // asks and tells without end, and answers in between
		return talk(func(id int, method string) []string {
			var list []string
			for i := range 500 {
				list = append(list, fmt.Sprintf(`{"jsonrpc":"2.0","id":"f%d","method":"elicitation/create","params":{}}`, i),
					`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`, `{"jsonrpc":"2.0","method":"notifications/message","params":{}}`)
			}
			return append(list, answer(id, method)...)
		})
	},
	"endless": func() error { // a list of tools that has no end
		n := 0
		return talk(func(id int, method string) []string {
			if method != "tools/list" {
				return answer(id, method)
			}
			n++
			return []string{fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"tools":[{"name":"t%d","inputSchema":{"type":"object"}}],"nextCursor":"c%d"}}`, id, n, n)}
		})
	},
	"circle": func() error {
		return talk(func(id int, method string) []string {
			if method != "tools/list" {
				return answer(id, method)
			}
			return []string{fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"tools":[{"name":"t","inputSchema":{"type":"object"}}],"nextCursor":"again"}}`, id)}
		})
	},
	"odd": func() error {
		return talk(func(id int, method string) []string {
			if method != "tools/list" {
				return answer(id, method)
			}
			return []string{fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"tools":[%s]}}`, id, oddTools())}
		})
	},
	"many": func() error {
		return talk(func(id int, method string) []string {
			if method != "tools/list" {
				return answer(id, method)
			}
			var list []string
			for i := range 300 {
				list = append(list, fmt.Sprintf(`{"name":"t%03d","inputSchema":{"type":"object"}}`, i))
			}
			return []string{fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"tools":[%s]}}`, id, strings.Join(list, ","))}
		})
	},
	"toolless": func() error {
		return talk(func(id int, method string) []string {
			if method == "initialize" {
				return answer(id, method)
			}
			return []string{fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"error":{"code":-32601,"message":"what?"}}`, id)}
		})
	},
}

func onCall(result string) func() error {
	return func() error {
		return talk(func(id int, method string) []string {
			if method == "tools/call" {
				return []string{fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%s}`, id, result)}
			}
			return answer(id, method)
		})
	}
}

func oddTools() string {
	long := strings.Repeat("d", 5000)
	return strings.Join([]string{
		`{"name":"good","description":"Good, ` + hidden + `.\u0000","inputSchema":{"type":"object","properties":{"a":{"type":"string"}}}}`,
		`{"name":"none"}`,
		`{"name":"null","inputSchema":null}`,
		`{"name":"untyped","title":"Its title","inputSchema":{"properties":null,"required":["a"]}}`,
		`{"name":"both","inputSchema":{"type":["object","null"]}}`,
		`{"name":"text","inputSchema":{"type":"string"}}`,
		`{"name":"secret","inputSchema":{"type":"0123456` + hidden + `"}}`,
		`{"name":"` + strings.Repeat("m", 62) + hidden + `","inputSchema":{"type":"object"}}`,
		`{"name":"list","inputSchema":[]}`,
		`{"name":"away","inputSchema":{"type":"object","properties":{"a":{"$ref":"https://example.com/x"}}}}`,
		`{"name":"pattern","inputSchema":{"type":"object","properties":{"a":{"type":"string","pattern":"("}}}}`,
		`{"name":"nul","inputSchema":{"type":"object","description":"\u0000"}}`,
		`{"name":"fat","inputSchema":{"type":"object","description":"` + strings.Repeat("s", 70_000) + `"}}`,
		`{"name":"deep","inputSchema":{"type":"object","properties":` + strings.Repeat(`{"p":{"properties":`, 60) + `{}` + strings.Repeat(`}}`, 60) + `}}`,
		`{"name":"wordy","description":"` + long + `","inputSchema":{"type":"object"}}`,
		`{"name":"good","description":"Another one.","inputSchema":{"type":"object"}}`,
		`{"name":"","inputSchema":{"type":"object"}}`,
		`{"name":"a.b/c","inputSchema":{"type":"object"}}`,
		`{"name":"` + strings.Repeat("n", 100) + `","inputSchema":{"type":"object"}}`,
		`{"name":"` + strings.Repeat("n", 300) + `","inputSchema":{"type":"object"}}`,
		`null`,
	}, ",")
}

// answer is what a good server answers.
func answer(id int, method string) []string {
	result := `{}`
	switch method {
	case "initialize":
		result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"raw","version":"1"}}`
	case "tools/list":
		result = `{"tools":[{"name":"do","inputSchema":{"type":"object"}}]}`
	case "tools/call":
		result = `{"content":[{"type":"text","text":"answer"}]}`
	}
	return []string{fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%s}`, id, result)}
}

// talk answers requests until the input ends, or until one of a method has been
// answered.
func talk(answers func(id int, method string) []string, last ...string) error {
	out := bufio.NewWriter(os.Stdout)
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return nil //nolint:nilerr // that is how it ends
		}
		var req struct {
			ID     *int   `json:"id"`
			Method string `json:"method"`
		}
		if json.Unmarshal(line, &req) != nil {
			continue
		}
		if req.Method == "notifications/cancelled" {
			put("cancelled")
		}
		if req.ID == nil || req.Method == "" {
			continue
		}
		for _, a := range answers(*req.ID, req.Method) {
			_, _ = fmt.Fprintln(out, a)
		}
		if err := out.Flush(); err != nil {
			return err
		}
		if len(last) > 0 && req.Method == last[0] {
			return nil
		}
	}
}
