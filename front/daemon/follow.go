package daemon

import (
	"context"
	"log/slog"

	"github.com/go-json-experiment/json"

	"assent/plexus"
)

// follow tells of what is committed after a rev, for whoever looks at the
// kernel's output. It ends with ctx.
func follow(ctx context.Context, document *plexus.Store, after plexus.Rev, log *slog.Logger) {
	for rows, err := range document.Watch(ctx, after, plexus.Filter{}) {
		if err != nil {
			if ctx.Err() == nil {
				log.Error("what happens is not told of any more", "error", err)
			}
			return
		}
		for _, row := range rows {
			switch row := row.(type) {
			case plexus.Session:
				line := []any{"id", row.ID, "client", row.Client, "workspace", row.Workspace}
				for _, with := range rows {
					if r, ok := with.(plexus.Register); ok && r.Session == row.ID && r.Name == plexus.SessionAgent {
						line = append(line, "agent", text(r.Value))
					}
				}
				log.Info("session", line...)
			case plexus.Register:
				if row.Writer.Role == plexus.Human {
					log.Info("set", "name", row.Name, "value", row.Value, "session", row.Session, "by", row.Writer)
				}
			case plexus.Field:
				tellField(ctx, document, row, rows, log)
			}
		}
	}
}

// tellField tells of the fields that decide something. together are the rows
// that were written with it.
func tellField(ctx context.Context, document *plexus.Store, f plexus.Field, together []plexus.Row, log *slog.Logger) {
	what := ""
	switch {
	case f.Name == plexus.OrchestrationResult && f.Value == plexus.True:
		what = "allowed"
	case f.Name == plexus.OrchestrationResult:
		what = "refused"
	case f.Name == plexus.Approved && f.Value == plexus.True:
		what = "answered yes"
	case f.Name == plexus.Approved:
		what = "answered no"
	case f.Name == plexus.Cancelled:
		what = "cancelled"
	case f.Name == plexus.PolicyResult && (f.Value == `"ask"` || f.Value == `"deny"`):
		what = "not allowed by the floor alone"
	default:
		return
	}
	line := []any{"call", f.Session + "/" + f.Job}
	if leaf, err := document.Job(ctx, f.Session, f.Job); err == nil {
		line = append(line, "tool", leaf.Job.Name)
	}
	why := plexus.LicenseReason
	if f.Name == plexus.PolicyResult {
		why = plexus.PolicyMessage
	}
	for _, row := range together {
		if r, ok := row.(plexus.Field); ok && r.Job == f.Job && r.Name == why {
			line = append(line, "why", text(r.Value))
		}
	}
	if asked, ok := f.Writer.Asked(); ok {
		line = append(line, "by", asked)
	} else if f.Writer.Role == plexus.Human {
		line = append(line, "by", f.Writer)
	}
	log.Info(what, line...)
}

// text is a JSON text as it reads; other values stay JSON.
func text(value string) string {
	var s string
	if json.Unmarshal([]byte(value), &s) != nil {
		return value
	}
	return s
}
