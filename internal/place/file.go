package place

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"syscall"
)

// ErrIrregular: a pipe, a device or a folder stands where a file should.
var ErrIrregular = errors.New("is not a regular file")

// Open opens a regular file for reading. Whoever can write in its folder may put
// a pipe there between any two looks, and to open one waits until somebody writes:
// so nothing is waited for, and what was opened is looked at, not its name.
func Open(path string) (*os.File, fs.FileInfo, error) {
	// A device may do something when it is opened.
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s %w", path, ErrIrregular)
	}
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err = file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s %w", path, ErrIrregular)
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, info, nil
}

// Read reads a regular file of so many bytes at most, and otherwise says that it
// is no such thing as what. The text is not nil, also of a file that is empty.
func Read(path string, most int64, what string) ([]byte, fs.FileInfo, error) {
	file, info, err := Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	size := info.Size()
	if size <= most {
		text, err := io.ReadAll(io.LimitReader(file, min(most, math.MaxInt64-1)+1))
		if err != nil {
			return nil, nil, err
		}
		if size = int64(len(text)); size <= most {
			return text, info, nil
		}
	}
	return nil, nil, fmt.Errorf("%s has %d bytes: that is no %s", path, size, what)
}

// Replace gives a file another text and mode, durably: whatever happens, it is
// all of it or what was there before.
func Replace(path string, text []byte, mode fs.FileMode) (err error) {
	dir := filepath.Dir(path)
	file, err := os.CreateTemp(dir, ".new-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(file.Name())
		}
	}()
	_, err = file.Write(text)
	if err = errors.Join(err, file.Chmod(mode), file.Sync(), file.Close()); err != nil {
		return err
	}
	if err = os.Rename(file.Name(), path); err != nil {
		return err
	}
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
