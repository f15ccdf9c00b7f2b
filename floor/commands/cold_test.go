package commands

import "testing"

// BenchmarkCold is what reading the entry of a program costs when it is first
// met.
func BenchmarkCold(b *testing.B) {
	for _, name := range []string{"ls", "git", "npm", "docker", "az"} {
		b.Run(name, func(b *testing.B) {
			c := Default().chunks[name]
			b.ReportAllocs()
			for b.Loop() {
				if _, err := parseEntry(c.file, c.line, c.source()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkIndex is what finding all entries costs.
func BenchmarkIndex(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		index()
	}
}
