package approval_test

import (
	"encoding/json"
	"errors"
	"testing"

	"assent/approval"
)

func TestParseMode(t *testing.T) {
	for _, row := range []struct {
		name, mode string
		want       approval.Mode
		err        error
		unattended error
	}{
		{"manual", "manual", approval.Manual, nil, approval.ErrAdmission},
		{"auto", "auto", approval.Auto, nil, nil},
		{"yolo", "yolo", approval.Yolo, nil, nil},
		{"alias", "always-approve", approval.Yolo, nil, nil},
		{"unknown is manual", "turbo", approval.Manual, nil, approval.ErrAdmission},
		{"empty is manual", "", approval.Manual, nil, approval.ErrAdmission},
		{"case counts", "YOLO", approval.Manual, nil, approval.ErrAdmission},
		{"blanks count", " auto", approval.Manual, nil, approval.ErrAdmission},
		{"plan is another catalog", "plan", approval.Manual, approval.ErrCatalog, approval.ErrCatalog},
		{"act is another catalog", "act", approval.Manual, approval.ErrCatalog, approval.ErrCatalog},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := approval.ParseMode(row.mode)
			if got != row.want || !errors.Is(err, row.err) {
				t.Errorf("ParseMode(%q) = %v, %v; want %v, %v", row.mode, got, err, row.want, row.err)
			}
			got, err = approval.AdmitUnattended(row.mode)
			if !errors.Is(err, row.unattended) || err != nil && got != approval.Manual {
				t.Errorf("AdmitUnattended(%q) = %v, %v; want %v", row.mode, got, err, row.unattended)
			}
		})
	}
}

func TestModeIsStoredByItsName(t *testing.T) {
	var mode approval.Mode
	if err := json.Unmarshal([]byte(`"always-approve"`), &mode); err != nil {
		t.Fatal(err)
	}
	if got, err := json.Marshal(mode); string(got) != `"yolo"` || err != nil {
		t.Errorf("stored as %s, %v; want \"yolo\"", got, err)
	}
}
