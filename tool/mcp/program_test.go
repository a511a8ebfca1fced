package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// serve is a server on standard input and output, until the former ends.
func serve(kind string) error {
	appendLine(os.Getenv(fileEnv)+idsSuffix, strconv.Itoa(os.Getpid()))
	if f, ok := rawKinds[kind]; ok {
		return f()
	}
	options := &sdk.ServerOptions{}
	if kind == "paged" {
		options.PageSize = 2
	}
	server := goodServer(options)
	if kind == "modern" {
		server.AddReceivingMiddleware(onlyModern)
	}
	err := server.Run(context.Background(), &sdk.StdioTransport{})
	put("ended")
	return err
}

// onlyModern refuses the handshake of older versions.
func onlyModern(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if method == "initialize" {
			return nil, errors.New("this server is too modern for that")
		}
		return next(ctx, method, req)
	}
}

// put writes down that something has happened.
func put(line string) { appendLine(os.Getenv(fileEnv), line) }

func appendLine(path, line string) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	_, _ = fmt.Fprintln(f, line)
	_ = f.Close()
}

var object = json.RawMessage(`{"type":"object"}`)

// goodServer has a tool for each kind of answer.
func goodServer(options *sdk.ServerOptions) *sdk.Server {
	server := sdk.NewServer(&sdk.Implementation{Name: "good", Version: "1"}, options)
	add := func(name string, f func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error)) {
		server.AddTool(&sdk.Tool{Name: name, Description: "Does " + name + ".", InputSchema: object}, f)
	}
	text := func(s string) *sdk.CallToolResult {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: s}}}
	}
	add("echo", func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		put("echo")
		return text(string(req.Params.Arguments)), nil
	})
	add("fail", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		r := text("it went wrong")
		r.IsError = true
		return r, nil
	})
	add("refuse", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return nil, errors.New("not today, " + hidden)
	})
	add("env", func(_ context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		wd, err := os.Getwd()
		return text(strings.Join(os.Environ(), "\n") + "\nDIR=" + wd), err
	})
	add("mixed", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return mixed(), nil })
	add("structured", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{}, StructuredContent: json.RawMessage(`{"id":1234567890123456789}`)}, nil
	})
	add("large", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return text(strings.Repeat("é", 1<<17)), nil
	})
	add("dirty", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return text("a\x00b hunter2\x00-is-the-password"), nil
	})
	add("crash", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		put("crash")
		fmt.Fprintln(os.Stderr, "panic: out of cheese, "+hidden)
		os.Exit(3)
		return nil, nil
	})
	add("hang", func(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		put("hanging")
		<-ctx.Done()
		put("cancelled")
		return nil, ctx.Err()
	})
	add("progress", func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		for i := range 100 {
			if err := req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: "x", Progress: float64(i)}); err != nil {
				return nil, err
			}
		}
		return text("done"), nil
	})
	add("ask", func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return text(ask(ctx, req)), nil
	})
	add("grow", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		add("grown", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return text("here"), nil })
		return text("grew"), nil
	})
	return server
}

// mixed is a result with content of each kind.
func mixed() *sdk.CallToolResult {
	size := int64(7)
	return &sdk.CallToolResult{Content: []sdk.Content{
		&sdk.TextContent{Text: "first"},
		&sdk.ImageContent{MIMEType: "image/png", Data: []byte("picture")},
		&sdk.AudioContent{MIMEType: "audio/wav", Data: []byte("sound")},
		&sdk.ResourceLink{URI: "file:///a", Name: "a", MIMEType: "text/plain", Size: &size, Description: "A file."},
		&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "file:///b", Text: "inside b"}},
		&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "file:///c", MIMEType: "application/x", Blob: []byte{1, 2, 3}}},
		&sdk.TextContent{Text: "last"},
	}, StructuredContent: map[string]any{"not": "shown"}}
}

// ask asks the client for all that a server can, and gives the answers.
func ask(ctx context.Context, req *sdk.CallToolRequest) string {
	var answers []string
	note := func(what string, err error) { answers = append(answers, fmt.Sprintf("%s: %v", what, err)) }
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	note("ping", req.Session.Ping(ctx, nil))
	_, err := req.Session.ListRoots(ctx, nil) //nolint:staticcheck // servers still ask for them
	note("roots", err)
	_, err = req.Session.CreateMessage(ctx, &sdk.CreateMessageParams{MaxTokens: 1}) //nolint:staticcheck // servers still ask for it
	note("sampling", err)
	_, err = req.Session.Elicit(ctx, &sdk.ElicitParams{Message: "your password?"})
	note("elicitation", err)
	return strings.Join(answers, "\n")
}
