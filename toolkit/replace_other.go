//go:build !linux

package toolkit

import (
	"errors"
	"io/fs"
	"os"
)

func exchange(*os.Root, string, string) error { return errors.ErrUnsupported }

func changeTime(fs.FileInfo) int { return 0 }

func keepOwner(*os.File, fs.FileInfo) error { return nil }

func copyAttributes(_, _ *os.File) error { return nil }
