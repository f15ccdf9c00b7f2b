package live

import (
	"bufio"
	"fmt"
	"io"
	"os"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// serves is the variable by which this program is a server of MCP tools.
const serves = "ASSENT_TEST_SERVES_TOOLS"

// serve is a server with tools that change something: each makes a file.
func serve(in io.Reader, out io.Writer) {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var m struct {
			ID     jsontext.Value `json:"id"`
			Method string         `json:"method"`
			Params struct {
				Version   string `json:"protocolVersion"`
				Arguments struct {
					File string `json:"file"`
				} `json:"arguments"`
			} `json:"params"`
		}
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return
		}
		if len(m.ID) == 0 {
			continue
		}
		result := `{}`
		switch m.Method {
		case "initialize":
			result = `{"protocolVersion":` + quoted(m.Params.Version) + `,"capabilities":{"tools":{}},"serverInfo":{"name":"desk","version":"1"}}`
		case "tools/list":
			const rest = `","inputSchema":{"type":"object","properties":{"file":{"type":"string"},"description":{"type":"string"}},"required":["file"]},"annotations":{"readOnlyHint":false,"destructiveHint":true}}`
			result = `{"tools":[{"name":"mark` + rest + `,{"name":"wipe` + rest + `,{"name":"draw` + rest + `]}`
		case "tools/call":
			text := "made"
			if err := os.WriteFile(m.Params.Arguments.File, nil, 0o600); err != nil {
				text = err.Error()
			}
			result = `{"content":[{"type":"text","text":` + quoted(text) + `}]}`
		}
		fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result)
	}
}
