package provider

import (
	"encoding/json"
	"reflect"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/types"
)

// normal fills in defaults, and leaves out what says nothing, so that specs that come to the same are equal.
func (given spec) normal(name string) spec {
	if given.DisplayName != nil && *given.DisplayName == name {
		given.DisplayName = nil
	}
	given.sortSets()
	if given.State != nil && *given.State == "Active" {
		given.State = nil
	}
	if access := given.LibraryAccess; access != nil && access.LibraryRefs == nil && (access.Mode == nil || *access.Mode == "All") {
		given.LibraryAccess = nil
	}
	if given.ExpiresAt != nil {
		if at, err := time.Parse(time.RFC3339, *given.ExpiresAt); err == nil {
			utc := at.UTC().Format(time.RFC3339Nano)
			given.ExpiresAt = &utc
		}
	}
	budgets := slices.Clone(given.Budgets)
	for i := range budgets {
		budgets[i].TimeZone = unless(budgets[i].TimeZone, "UTC")
		budgets[i].OnExhausted = unless(budgets[i].OnExhausted, "Refuse")
	}
	if len(budgets) == 0 {
		budgets = nil
	}
	given.Budgets = budgets
	return given
}

func sorted(texts []string) []string {
	texts = slices.Clone(texts)
	slices.Sort(texts)
	return texts
}

// unless leaves out a text that is the default.
func unless(text *string, otherwise string) *string {
	if text != nil && *text == otherwise {
		return nil
	}
	return text
}

func (given spec) equals(other spec, name string) bool {
	return reflect.DeepEqual(given.normal(name), other.normal(name))
}

// asWritten is a spec as the API has it now: where a field says the same as before, as the configuration wrote it.
func asWritten(before, now spec, name string) spec {
	result := now.normal(name)
	was, is := reflect.ValueOf(before.normal(name)), reflect.ValueOf(result)
	for i := range was.NumField() {
		if reflect.DeepEqual(was.Field(i).Interface(), is.Field(i).Interface()) {
			reflect.ValueOf(&result).Elem().Field(i).Set(reflect.ValueOf(before).Field(i))
		}
	}
	return result
}

func parseSpec(text json.RawMessage) (spec, error) {
	var read spec
	err := json.Unmarshal(text, &read)
	return read, err
}

// stringOf is null for what is not there.
func stringOf(text *string) types.String {
	return types.StringPointerValue(text)
}
