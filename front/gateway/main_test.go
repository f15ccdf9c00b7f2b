package gateway_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"assent/front/api/client"
	"assent/front/gateway"
)

// proxyOf, in the environment of the tests' program, has it be a proxy that asks the
// kernel at that socket; its arguments name the server.
const proxyOf = "GATEWAY_TEST_PROXY"

// workspaceOf is the folder that it works in.
const workspaceOf = "GATEWAY_TEST_WORKSPACE"

func TestMain(m *testing.M) {
	if socket := os.Getenv(proxyOf); socket != "" {
		os.Unsetenv(proxyOf)
		os.Exit(proxy(socket, os.Args[1:]))
	}
	os.Exit(m.Run())
}

func proxy(socket string, args []string) int {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // as the command does
	server := gateway.Program(args, os.Stderr)
	if args[0] == "--url" {
		server = gateway.Address(args[1], http.Header{"X-Key": {"secret"}})
	}
	err := gateway.Run(context.Background(), gateway.Options{
		Server: server, Name: "srv", Workspace: os.Getenv(workspaceOf), In: os.Stdin, Out: os.Stdout, Deadline: time.Hour,
		Kernel: func(bool) (*client.Client, error) { return client.New(socket, client.Options{Agent: true}), nil },
		Log:    func(text string) { fmt.Fprintln(os.Stderr, "proxy:", text) },
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "proxy:", err)
		return 1
	}
	return 0
}
