//go:build unix && !linux

package toolkit

// wait is the end of the command and of its group.
func (g *group) wait() error {
	err := g.cmd.Wait()
	g.end()
	return err
}
