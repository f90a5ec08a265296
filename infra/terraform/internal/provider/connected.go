package provider

import (
	"github.com/hashicorp/terraform-plugin-framework/diag"

	"keyplane.dev/terraform-provider-keyplane/internal/api"
	"keyplane.dev/terraform-provider-keyplane/internal/secret"
)

// connected is what asks the server: the client is given to it once the provider is configured.
type connected struct {
	client *api.Client
}

func (one *connected) connect(data any) {
	// Nil while only the configuration's form is checked.
	if client, isClient := data.(*api.Client); isClient {
		one.client = client
	}
}

// ready says whether there is a server to ask, and in the diagnostics why not.
func (one *connected) ready(diagnostics *diag.Diagnostics) bool {
	if one.client == nil {
		diagnostics.AddError("Keyplane's server is not known yet",
			"The provider's url or token follows from what is not made yet: give it as a variable, or make that first with -target.")
	}
	return one.client != nil
}

// fail adds what went wrong with an object, without the secrets that it was done with.
func fail(diagnostics *diag.Diagnostics, summary string, err error) {
	diagnostics.AddError(summary, secret.Redact(err.Error()))
}
