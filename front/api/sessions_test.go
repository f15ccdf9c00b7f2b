package api_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"assent/front/api"
	"assent/front/api/client"
	"assent/front/api/wire"
)

// However an agent calls its sessions, each can be listed and read by its id.
func TestNoSessionHidesAnother(t *testing.T) {
	w := newWorld(t, api.Options{})
	_, err := w.agent.CreateSession(t.Context(), wire.NewSession{ID: "long", Client: strings.Repeat("c", 201), Workspace: w.dir})
	if !errors.Is(err, wire.TooLarge) {
		t.Errorf("a client with a long name: %v", err)
	}
	w.session("hidden", "yolo")
	for i := range 12 {
		w.session(fmt.Sprintf("hidden%d", i), "manual")
	}
	s, err := w.client.Summary(t.Context(), "hidden")
	if err != nil || s.ID != "hidden" || s.CurrentPolicy != "yolo" || s.Workspace != w.dir {
		t.Errorf("by its id: %+v, %v", s, err)
	}
	if _, err := w.client.Summary(t.Context(), "hidde"); !errors.Is(err, wire.NoSession) {
		t.Errorf("the beginning of an id is one: %v", err)
	}
	var ids []string
	for before := wire.Rev(0); ; {
		list, err := w.client.Sessions(t.Context(), client.SessionFilter{Begins: "hidden", Limit: 5, Before: before})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list.Sessions {
			ids, before = append(ids, s.ID), s.Rev
		}
		if !list.More {
			break
		}
	}
	if len(ids) != 13 || ids[12] != "hidden" {
		t.Errorf("page by page: %v", ids)
	}
	if list, err := w.client.Sessions(t.Context(), client.SessionFilter{Limit: 20_000}); err != nil || list.More || len(list.Sessions) != 13 {
		t.Errorf("more than one answer has at most: %d, %v", len(list.Sessions), err)
	}
}
