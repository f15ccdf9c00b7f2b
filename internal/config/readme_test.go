package config

import (
	"os"
	"strings"
	"testing"
)

// The config.json that README.md shows is a good one.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "```json\n")
	shown, _, _ := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("README.md shows no config.json")
	}
	if c, err := Parse("README.md", []byte(shown)); err != nil || len(c.Warnings) > 0 {
		t.Errorf("%v %v\n%s", err, c.Warnings, shown)
	}
}
