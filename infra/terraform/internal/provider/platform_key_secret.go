package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"

	"keyplane.dev/terraform-provider-keyplane/internal/secret"
)

// platformKeySecret makes a secret that no key has yet. It asks no server, so that a plan changes nothing.
type platformKeySecret struct{}

func newPlatformKeySecret() ephemeral.EphemeralResource { return &platformKeySecret{} }

type platformKeySecretModel struct {
	Secret string `tfsdk:"secret"`
	Prefix string `tfsdk:"prefix"`
}

func (*platformKeySecret) Metadata(_ context.Context, request ephemeral.MetadataRequest, response *ephemeral.MetadataResponse) {
	response.TypeName = request.ProviderTypeName + "_platform_key_secret"
}

func (*platformKeySecret) Schema(_ context.Context, _ ephemeral.SchemaRequest, response *ephemeral.SchemaResponse) {
	response.Schema = schema.Schema{
		MarkdownDescription: "A new secret, another one in each run: for a store to take once, and for a key to take out of the store.",
		Attributes: map[string]schema.Attribute{
			"secret": schema.StringAttribute{
				Computed: true, Sensitive: true,
				MarkdownDescription: "The secret, of which no server knows until `secret_wo` of a key has taken it.",
			},
			"prefix": schema.StringAttribute{Computed: true, MarkdownDescription: "Its first 12 characters, which authenticate nothing."},
		},
	}
}

func (*platformKeySecret) Open(ctx context.Context, _ ephemeral.OpenRequest, response *ephemeral.OpenResponse) {
	text := secret.Mint()
	response.Diagnostics.Append(response.Result.Set(ctx, &platformKeySecretModel{Secret: text, Prefix: secret.Prefix(text)})...)
}
