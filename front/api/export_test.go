package api

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
type Waiting struct{ Leaves []string }

// Page is page.
func Page(all []Waiting, skip, limit int) (some [][]string) {
	in := make([]waiting, len(all))
	for i, w := range all {
		in[i].leaves = w.Leaves
	}
	for _, w := range page(in, skip, limit) {
		some = append(some, w.leaves)
	}
	return some
}

// Shorten is shorten.
var Shorten = shorten
