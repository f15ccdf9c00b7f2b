package scheme

import _ "embed"

//go:embed prelude.scm
var prelude string

//go:embed testing.scm
var testLib string

// loadTests defines what (chibi test) and (srfi 64) have in common.
func (m *Machine) loadTests() error {
	if m.globals[m.Symbol("test-begin")] != nil {
		return nil
	}
	if _, err := m.run("testing", testLib, false); err != nil {
		return err
	}
	m.alias("%fails-whole", "%fails-whole")
	return nil
}
