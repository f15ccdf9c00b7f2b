//go:build !unix

package toolkit

import "os/exec"

type group struct{ cmd *exec.Cmd }

func grouped(cmd *exec.Cmd) *group { return &group{cmd} }

func (g *group) wait() error { return g.cmd.Wait() }
