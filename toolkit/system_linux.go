package toolkit

import (
	"os"

	"golang.org/x/sys/unix"
)

// ofTheSystem says whether a file is not kept on any disk but made up by the kernel,
// wherever that is mounted: processes, devices, what can be switched.
func ofTheSystem(f *os.File) bool {
	var st unix.Statfs_t
	raw, err := f.SyscallConn()
	if err != nil {
		return true
	}
	var got error
	if err := raw.Control(func(fd uintptr) { got = unix.Fstatfs(int(fd), &st) }); err != nil || got != nil {
		return true
	}
	switch int64(st.Type) {
	case unix.PROC_SUPER_MAGIC, unix.SYSFS_MAGIC, unix.DEBUGFS_MAGIC, unix.TRACEFS_MAGIC, unix.SECURITYFS_MAGIC, unix.SELINUX_MAGIC,
		unix.CGROUP_SUPER_MAGIC, unix.CGROUP2_SUPER_MAGIC, unix.BPF_FS_MAGIC, unix.EFIVARFS_MAGIC, unix.DEVPTS_SUPER_MAGIC, unix.BINDERFS_SUPER_MAGIC:
		return true
	}
	return false
}
