package floor

import (
	"encoding/json"
)

// bash is a call of a shell in the place where the tests of policies are.
func bash(command string) Call {
	arguments, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		panic(err)
	}
	call := testPlace
	call.Name, call.Arguments = "Bash", arguments
	return call
}
