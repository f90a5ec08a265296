package provider

import (
	"encoding/json"
	"reflect"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/types"
)

// spec is what a key is to be: in a configuration, and in the API.
type spec struct {
	DisplayName          *string        `tfsdk:"display_name" json:"displayName,omitempty"`
	Owner                *string        `tfsdk:"owner" json:"owner,omitempty"`
	Preset               *string        `tfsdk:"preset" json:"preset,omitempty"`
	Scopes               []string       `tfsdk:"scopes" json:"scopes,omitempty"`
	GatewayRef           *reference     `tfsdk:"gateway_ref" json:"gatewayRef,omitempty"`
	AllowedModels        []string       `tfsdk:"allowed_models" json:"allowedModels,omitempty"`
	LibraryAccess        *libraryAccess `tfsdk:"library_access" json:"libraryAccess,omitempty"`
	MCPDefaultLibraryRef *reference     `tfsdk:"mcp_default_library_ref" json:"mcpDefaultLibraryRef,omitempty"`
	SubjectAccess        *subjectAccess `tfsdk:"subject_access" json:"subjectAccess,omitempty"`
	AllowedCIDRs         []string       `tfsdk:"allowed_cidrs" json:"allowedCIDRs,omitempty"`
	State                *string        `tfsdk:"state" json:"state,omitempty"`
	ExpiresAfter         *string        `tfsdk:"expires_after" json:"expiresAfter,omitempty"`
	ExpiresAt            *string        `tfsdk:"expires_at" json:"expiresAt,omitempty"`
	RateLimit            *rateLimit     `tfsdk:"rate_limit" json:"rateLimit,omitempty"`
	Budgets              []budget       `tfsdk:"budgets" json:"budgets,omitempty"`
}

type reference struct {
	Name      string  `tfsdk:"name" json:"name"`
	Namespace *string `tfsdk:"namespace" json:"namespace,omitempty"`
}

type libraryAccess struct {
	Mode        *string     `tfsdk:"mode" json:"mode,omitempty"`
	LibraryRefs []reference `tfsdk:"library_refs" json:"libraryRefs,omitempty"`
}

type subjectAccess struct {
	Mode    string  `tfsdk:"mode" json:"mode"`
	Subject *string `tfsdk:"subject" json:"subject,omitempty"`
}

type rateLimit struct {
	RequestsPerMinute *int64  `tfsdk:"requests_per_minute" json:"requestsPerMinute,omitempty"`
	Burst             *int64  `tfsdk:"burst" json:"burst,omitempty"`
	TokensPerMinute   *int64  `tfsdk:"tokens_per_minute" json:"tokensPerMinute,omitempty"`
	Scope             *string `tfsdk:"scope" json:"scope,omitempty"`
	Concurrent        *int64  `tfsdk:"concurrent" json:"concurrent,omitempty"`
}

type budget struct {
	Period      string  `tfsdk:"period" json:"period"`
	Tokens      *int64  `tfsdk:"tokens" json:"tokens,omitempty"`
	Cost        *string `tfsdk:"cost" json:"cost,omitempty"`
	Currency    *string `tfsdk:"currency" json:"currency,omitempty"`
	TimeZone    *string `tfsdk:"time_zone" json:"timeZone,omitempty"`
	OnExhausted *string `tfsdk:"on_exhausted" json:"onExhausted,omitempty"`
}

// normal fills in defaults, and leaves out what says nothing, so that specs that come to the same are equal.
func (given spec) normal(name string) spec {
	if given.DisplayName != nil && *given.DisplayName == name {
		given.DisplayName = nil
	}
	given.Scopes = sorted(given.Scopes)
	given.AllowedModels = sorted(given.AllowedModels)
	given.AllowedCIDRs = sorted(given.AllowedCIDRs)
	if given.State != nil && *given.State == "Active" {
		given.State = nil
	}
	if access := given.LibraryAccess; access != nil && len(access.LibraryRefs) == 0 && (access.Mode == nil || *access.Mode == "All") {
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
	if len(texts) == 0 {
		return nil
	}
	return slices.Sorted(slices.Values(texts))
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
