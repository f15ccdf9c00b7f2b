// Command assent approves what an AI agent is about to do. See package
// assent/front/cli for its commands.
package main

import (
	"os"

	"assent/front/cli"
)

func main() { os.Exit(cli.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
