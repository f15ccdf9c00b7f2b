package daemon

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"assent/front/api/client"
	"assent/front/api/wire"
)

// As another part the test binary plays who asks a kernel: PART SOCKET.
const childPart = "ASSENT_TEST_PART"

func init() {
	part = func() bool {
		name, socket, ok := strings.Cut(os.Getenv(childPart), " ")
		if !ok {
			return false
		}
		if err := play(name, socket); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return true
	}
}

// play is what becomes of the test binary as a part.
func play(part, socket string) error {
	switch part {
	case "opened": // says what a program that it starts has open besides, kept in both ways
		if err := KeepInherited(); err != nil {
			return err
		}
		if socket == "listed" {
			if _, err := unix.FcntlInt(5, unix.F_SETFD, 0); err != nil {
				return err
			}
			if err := keepListed("/dev/fd"); err != nil {
				return err
			}
		}
		out, err := exec.Command("/bin/ls", "-l", "/proc/self/fd").Output()
		fmt.Printf("%s", out)
		return err
	case "runs": // a kernel in this home, with a command that it begins
		return runs(socket)
	case "who": // says for whom it is taken
		c := client.New(socket, client.Options{})
		defer c.Close()
		st, err := c.Status(context.Background())
		if err != nil {
			return err
		}
		fmt.Println(st.You.Role)
	case "agent": // asks, and then lets somebody ask from a terminal that it opens, as often as it is told
		c := client.New(socket, client.Options{Agent: true})
		_, err := c.CreateSession(context.Background(), wire.NewSession{Workspace: "/usr/lib"})
		c.Close()
		fmt.Println("asked", err) // it may not work there, and is known all the same
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			who, close, err := inTerminal("who", socket)
			if err != nil {
				return err
			}
			out, err := who.Output()
			close()
			fmt.Printf("%s", out)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// inTerminal is the test binary as a part, in a session with a terminal of its
// own.
func inTerminal(part, socket string) (cmd *exec.Cmd, close func(), err error) {
	ptmx, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	var n int
	if err = unix.IoctlSetPointerInt(int(ptmx.Fd()), unix.TIOCSPTLCK, 0); err == nil {
		n, err = unix.IoctlGetInt(int(ptmx.Fd()), unix.TIOCGPTN)
	}
	var tty *os.File
	if err == nil {
		tty, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		ptmx.Close()
		return nil, nil, err
	}
	cmd = exec.Command(os.Args[0])
	cmd.Env = []string{childPart + "=" + part + " " + socket, "HOME=" + os.Getenv("HOME")}
	cmd.ExtraFiles = []*os.File{tty} // 3 there
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3}
	return cmd, func() { tty.Close(); ptmx.Close() }, nil
}

// An agent that ends the kernel, starts it anew and opens a terminal is no
// person for it.
func TestAgentRestartsTheKernel(t *testing.T) {
	p := somewhere(t)
	kernel := child(t, p)
	up := func() {
		t.Helper()
		if _, err := Detach(t.Context(), kernel); err != nil {
			t.Fatal(err)
		}
	}
	up()
	person, closePerson, err := inTerminal("who", p.Socket)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	defer closePerson()
	if role, err := person.Output(); err != nil || string(role) != "human\n" {
		t.Skipf("nobody can be a person here: %q %v", role, err)
	}
	agent, closeAgent, err := inTerminal("agent", p.Socket)
	if err != nil {
		t.Fatal(err)
	}
	defer closeAgent()
	stdin, err := agent.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := agent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { stdin.Close(); agent.Wait() }()
	said := bufio.NewReader(stdout)
	if line, err := said.ReadString('\n'); err != nil || !strings.HasPrefix(line, "asked") {
		t.Fatalf("%q %v", line, err)
	}
	from := func(when string) {
		t.Helper()
		if _, err := io.WriteString(stdin, "\n"); err != nil {
			t.Fatal(err)
		}
		if role, err := said.ReadString('\n'); err != nil || role != "agent\n" {
			t.Errorf("%s: from a terminal that the agent opened asks %q, %v", when, role, err)
		}
	}
	from("at once")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := Stop(ctx, p); err != nil {
		t.Fatal(err)
	}
	up()
	from("after a restart")
}
