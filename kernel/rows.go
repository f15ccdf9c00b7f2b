package kernel

import (
	"cmp"
	"slices"

	"assent/plexus"
	"assent/session"
)

func jobOf(j plexus.Job) session.Job {
	return session.Job{
		ID: session.JobID(j.ID), Parent: session.JobID(j.Parent), Ord: j.Ord,
		Kind: session.Kind(j.Kind), Name: j.Name, Arguments: j.Arguments,
	}
}

func fieldOf(f plexus.Field) session.Field {
	return session.Field{Job: session.JobID(f.Job), Name: f.Name, Value: f.Value}
}

func registerOf(r plexus.Register) session.Register {
	return session.Register{Kernel: r.Session == "", Name: r.Name, Value: r.Value, Rev: session.Rev(r.Rev)}
}

// rowsOf are the rows of a snapshot in the order they were committed.
func rowsOf(snap plexus.Snapshot) session.Rows {
	rows := session.Rows{Upto: session.Rev(snap.Rev)}
	jobs := slices.SortedFunc(slices.Values(snap.Jobs), func(a, b plexus.Job) int { return cmp.Compare(a.Rev, b.Rev) })
	n := 0
	for _, of := range snap.Fields {
		n += len(of)
	}
	fields := make([]plexus.Field, 0, n)
	rows.Jobs, rows.Fields = make([]session.Job, 0, len(jobs)), make([]session.Field, 0, n)
	for _, job := range jobs {
		rows.Jobs = append(rows.Jobs, jobOf(job))
		for _, f := range snap.Fields[job.ID] {
			fields = append(fields, f)
		}
	}
	slices.SortFunc(fields, func(a, b plexus.Field) int { return cmp.Compare(a.Rev, b.Rev) })
	for _, f := range fields {
		rows.Fields = append(rows.Fields, fieldOf(f))
	}
	for _, latest := range []map[string]plexus.Register{snap.Registers, snap.Kernel} {
		for _, r := range latest {
			rows.Registers = append(rows.Registers, registerOf(r))
		}
	}
	slices.SortFunc(rows.Registers, func(a, b session.Register) int { return cmp.Compare(a.Rev, b.Rev) })
	return rows
}

// writesOf are the rows of a save.
func writesOf(id string, save session.Save) []plexus.Row {
	rows := make([]plexus.Row, 0, len(save.Fields)+len(save.Registers))
	for _, r := range save.Registers {
		rows = append(rows, plexus.Register{Session: id, Name: r.Name, Value: r.Value})
	}
	for _, f := range save.Fields {
		rows = append(rows, plexus.Field{Session: id, Job: string(f.Job), Name: f.Name, Value: f.Value})
	}
	return rows
}
