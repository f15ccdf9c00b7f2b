package api

import "assent/plexus"

// Route is what tests know of a route.
type Route struct {
	Method, Path string
	Agents       bool
	Query        []string
	Body         bool
	Status       int
}

// Routes are all routes.
func Routes() (all []Route) {
	for _, r := range routes {
		all = append(all, Route{r.method, r.path, r.agents, r.query, r.body > 0, max(r.status, 200)})
	}
	return all
}

// OpenAPI is the text that is served.
func OpenAPI() []byte { return openAPI }

// Statuses are the statuses that any route may answer beside its own.
var Statuses = statuses

// Waiting are the leaves of a session that wait.
type Waiting struct {
	Agent, Session string
	Made           plexus.Rev
	Leaves         []string
}

// Fair is fair.
func Fair(all []Waiting) (order []plexus.JobName) {
	in := make([]waiting, len(all))
	for i, w := range all {
		in[i] = waiting{w.Agent, w.Session, w.Made, w.Leaves}
	}
	return fair(in)
}

// Shorten is shorten.
var Shorten = shorten
