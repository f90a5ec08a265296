package provider

import (
	"encoding/json"
	"reflect"
	"testing"
)

func of[T any](value T) *T { return &value }

func TestSpecsThatSayTheSame(t *testing.T) {
	one := spec{
		DisplayName:   of("reader"),
		Scopes:        []string{"memory:write", "memory:read"},
		State:         of("Active"),
		LibraryAccess: &libraryAccess{Mode: of("All")},
		ExpiresAt:     of("2027-01-31T01:00:00+01:00"),
		Budgets:       []budget{{Period: "Day", Tokens: of(int64(5)), TimeZone: of("UTC"), OnExhausted: of("Refuse")}},
	}
	other := spec{
		Scopes:    []string{"memory:read", "memory:write"},
		ExpiresAt: of("2027-01-31T00:00:00Z"),
		Budgets:   []budget{{Period: "Day", Tokens: of(int64(5))}},
	}
	if !one.equals(other, "reader") {
		t.Error("they differ")
	}
	if one.equals(other, "writer") {
		t.Error("a display name that is not the name says something")
	}
	if one.Budgets[0].TimeZone == nil {
		t.Error("comparing has changed it")
	}
}

// b434: where a list is left out, anything is allowed; the API refuses one that is empty.
func TestAnEmptyListIsSentAsOne(t *testing.T) {
	for want, given := range map[string]spec{
		`{"scopes":[]}`:                        {Scopes: []string{}},
		`{"allowedModels":[]}`:                 {AllowedModels: []string{}},
		`{"allowedCIDRs":[]}`:                  {AllowedCIDRs: []string{}},
		`{"libraryAccess":{"libraryRefs":[]}}`: {LibraryAccess: &libraryAccess{LibraryRefs: []reference{}}},
	} {
		if text, err := json.Marshal(given); err != nil || string(text) != want {
			t.Errorf("%s is sent as %s: %v", want, text, err)
		}
		if given.equals(spec{}, "reader") {
			t.Errorf("%s counts as nothing, and is not sent", want)
		}
	}
}

func TestWhatTheConfigurationWroteStays(t *testing.T) {
	before := spec{Preset: of("MCPReadOnly"), State: of("Active"), ExpiresAfter: of("720h")}
	now := spec{Preset: of("MCPReadOnly"), ExpiresAfter: of("24h"), AllowedCIDRs: []string{"192.0.2.0/24"}}
	want := spec{Preset: of("MCPReadOnly"), State: of("Active"), ExpiresAfter: of("24h"), AllowedCIDRs: []string{"192.0.2.0/24"}}
	if got := asWritten(before, now, "reader"); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}
