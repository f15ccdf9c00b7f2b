package toolkit

import (
	"os/exec"
	"syscall"
)

// endsWithHost has a program killed when the host is gone, however that ended. What
// the program itself started is not: it is only told by the end of its input.
func endsWithHost(cmd *exec.Cmd) { cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL }
