// Package live has no code but tests: the real clients, at their own models'
// protocols, with the hook that `assent connect` has written and a kernel of
// their own. A scripted model makes them call tools; what counts is what then ran.
//
// They run where ASSENT_TEST_CLIENTS names the folder that `make test-clients`
// fills with the programs, and say why where they do not.
package live
