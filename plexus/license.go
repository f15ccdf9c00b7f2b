package plexus

import "context"

// EachRegister gives every revision of the registers of these names, of all
// sessions and the kernel, the oldest first.
func (s *Store) EachRegister(ctx context.Context, f func(Register), names ...string) error {
	where, args := "", make([]any, len(names))
	for i, name := range names {
		if args[i] = name; i > 0 {
			where += " OR "
		}
		where += "name = ?"
	}
	if where == "" {
		return nil
	}
	return s.told(ctx, func(v view) error {
		return v.scan(selects[`'r'`]+" WHERE "+where+" ORDER BY rev", func(row Row) error {
			f(row.(Register))
			return nil
		}, args...)
	})
}

// License is an orchestrationResult, and the leaf it is of.
type License struct {
	Job   Job // with the beginnings of its texts
	Field     // the orchestrationResult
}

// Licenses are those after a rev that follow from a line of the law, by its name,
// the oldest first.
func (s *Store) Licenses(ctx context.Context, after Rev, reason string) (found []License, err error) {
	const of = `(SELECT session, job FROM field WHERE rev > ? AND name = 'licenseReason' AND value = ?)`
	err = s.found(ctx, func(v view) error {
		type name struct{ session, job string }
		jobs := make(map[name]Job)
		found = nil
		err := v.scanLong(briefly[`'j'`]+` WHERE (session, id) IN `+of, func(row Row, _ string) error {
			j := row.(Job)
			jobs[name{j.Session, j.ID}] = j
			return nil
		}, int64(after), Text(reason))
		if err != nil {
			return err
		}
		return v.scan(selects[`'f'`]+` WHERE name = 'orchestrationResult' AND (session, job) IN `+of+` ORDER BY rev`, func(row Row) error {
			f := row.(Field)
			found = append(found, License{jobs[name{f.Session, f.Job}], f})
			return nil
		}, int64(after), Text(reason))
	})
	return found, err
}
