// Package place says where assent keeps its things on one person's machine, and
// whether those places can be trusted.
//
// [Of] computes paths from an environment that is handed in: it reads nothing,
// so two programs with the same environment always find each other. [Prepare]
// makes the folders and refuses those that another user could write in or
// look into. [Take] is the lock that makes one daemon of many.
//
// It never looks at the process's own environment, never loosens a permission
// and never follows a symlink where it would have to write.
//
// Who may set a program's environment decides which daemon the program asks:
// XDG_RUNTIME_DIR and HOME are as powerful as the socket they lead to. A client
// that must not be fooled by them checks who answers (see package
// assent/internal/peer), and there is deliberately no further variable that
// names a socket.
//
// Start reading at [Of].
package place
