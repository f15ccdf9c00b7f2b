package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"assent/internal/place"
)

// largestProgram bounds the text of the classifier's program, in bytes.
const largestProgram = 1 << 20

// ProgramPath is the file that autoModeJudge names: "~/" is the home folder, and a
// relative path begins at the folder of config.json.
func ProgramPath(named, home, folder string) string {
	if rest, ok := strings.CutPrefix(named, "~/"); ok {
		return filepath.Join(home, rest)
	}
	if !filepath.IsAbs(named) {
		return filepath.Join(folder, named)
	}
	return named
}

// ReadProgram is the text of the classifier's program in a file that others cannot
// write.
func ReadProgram(path string) (string, error) {
	text, info, err := place.Read(path, largestProgram, "program")
	if err == nil && info.Mode().Perm()&0o022 != 0 {
		err = fmt.Errorf("%s: others may write it (mode %04o); if nobody has: chmod go-w %s", path, info.Mode().Perm(), path)
	}
	if err == nil && strings.TrimSpace(string(text)) == "" {
		err = errors.New(path + " is empty")
	}
	if err != nil {
		return "", fmt.Errorf("the classifier's program cannot be had: %w", err)
	}
	return string(text), nil
}
