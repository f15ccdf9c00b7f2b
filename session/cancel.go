package session

// Cancelling are the jobs at and under one, "" for the whole session, that
// somebody wants cancelled and that the document does not say so of yet.
func (m *Machine) Cancelling(under JobID) []JobID {
	top := m.root
	if under != "" {
		top = m.jobs[under]
	}
	if top == nil {
		return nil
	}
	var jobs []JobID
	top.walk(func(n *node) {
		if n.cancelling() {
			jobs = append(jobs, n.id)
		}
	})
	return jobs
}

// IsCancelling reports whether a job is one of [Machine.Cancelling].
func (m *Machine) IsCancelling(job JobID) bool {
	n := m.jobs[job]
	return n != nil && n.cancelling()
}

func (n *node) cancelling() bool {
	if n.leaf == nil {
		return n.cancel && !n.cancelled && !n.completed
	}
	return n.leaf.cancel && !n.leaf.Cancelled && !n.leaf.Completed
}
