package cli

import "assent/internal/drawn"

// What goes to a terminal passes here, under the short names that every command
// uses.

func draw(text string) drawn.Line { return drawn.Draw(text) }

func cell(r rune, size, column int) (shown string, width int) { return drawn.Cell(r, size, column) }

func columnsOf(s string) int { return drawn.Columns(s) }

func wrap(s string, width int) []string { return drawn.Wrap(s, width) }

func oneLine(s string, limit int) string { return drawn.OneLine(s, limit) }

func middle(s string, limit int) string { return drawn.Middle(s, limit) }
