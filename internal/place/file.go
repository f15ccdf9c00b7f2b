package place

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Regular says whether a path is a regular file of so many bytes at most, and
// otherwise that it is no such thing as what: a pipe or device would never end.
func Regular(path string, most int64, what string) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", path)
	case info.Size() > most:
		return nil, fmt.Errorf("%s has %d bytes: that is no %s", path, info.Size(), what)
	}
	return info, nil
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
