package trace

import (
	"net/url"
	"os"
	"strings"

	"github.com/parley-run/parley"
)

// checkEnvironment refuses what the exporter would leave out after a line on the
// standard error, which may show a credential.
func checkEnvironment() error {
	for _, name := range []string{"OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"} {
		if !headersOK(os.Getenv(name)) {
			return parley.Errorf(parley.CodeInvalid, "%s must be name=value pairs with commas between them; escape other characters as in an address", name)
		}
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"} {
		if !endpointOK(os.Getenv(name)) {
			return parley.Errorf(parley.CodeInvalid, "%s must be an address such as http://127.0.0.1:4318, without a user or a query; a credential belongs into OTEL_EXPORTER_OTLP_HEADERS", name)
		}
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"} {
		switch os.Getenv(name) {
		case "", "http/protobuf", "http/json":
		default:
			return parley.Errorf(parley.CodeInvalid, "%s must be http/protobuf or http/json, or not be set: traces are sent over HTTP alone", name)
		}
	}
	return nil
}

func headersOK(value string) bool {
	if strings.TrimSpace(value) == "" {
		return true
	}
	for pair := range strings.SplitSeq(value, ",") {
		name, text, found := strings.Cut(pair, "=")
		if !found || !tokenOK(strings.TrimSpace(name)) {
			return false
		}
		if _, err := url.PathUnescape(text); err != nil {
			return false
		}
	}
	return true
}

// tokenOK reports whether a text can be the name of a header.
func tokenOK(name string) bool {
	return name != "" && strings.IndexFunc(name, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	}) < 0
}

func endpointOK(value string) bool {
	if value == "" {
		return true
	}
	u, err := url.Parse(value)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil && u.RawQuery == "" && u.Fragment == ""
}
