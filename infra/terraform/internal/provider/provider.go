// Package provider is what a configuration sees of Keyplane: its resources, ephemeral resources and data sources.
package provider

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"keyplane.dev/terraform-provider-keyplane/internal/api"
)

// Version is that of Keyplane, which this is a part of.
const Version = "0.1.0"

// New makes the provider.
func New() provider.Provider { return &keyplane{} }

type keyplane struct{}

var _ provider.ProviderWithEphemeralResources = (*keyplane)(nil)

func (*keyplane) Metadata(_ context.Context, _ provider.MetadataRequest, response *provider.MetadataResponse) {
	response.TypeName = "keyplane"
	response.Version = Version
}

func (*keyplane) Schema(_ context.Context, _ provider.SchemaRequest, response *provider.SchemaResponse) {
	response.Schema = schema.Schema{
		MarkdownDescription: "Keys of an installation of Keyplane, by its management API.",
		Attributes: map[string]schema.Attribute{
			"url": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "Where the server is, such as `https://keys.example.com`; else the variable `KEYPLANE_URL`.",
			},
			"token_file": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "The file that holds the token, which is read anew for each request; else the variable `KEYPLANE_TOKEN_FILE`.",
			},
			"token": schema.StringAttribute{
				Optional:            true,
				Sensitive:           true,
				MarkdownDescription: "The token itself, best of an ephemeral value; else the variable `KEYPLANE_TOKEN`. A file counts before it.",
			},
		},
	}
}

type configuration struct {
	URL       types.String `tfsdk:"url"`
	TokenFile types.String `tfsdk:"token_file"`
	Token     types.String `tfsdk:"token"`
}

func (*keyplane) Configure(ctx context.Context, request provider.ConfigureRequest, response *provider.ConfigureResponse) {
	var given configuration
	response.Diagnostics.Append(request.Config.Get(ctx, &given)...)
	if response.Diagnostics.HasError() {
		return
	}
	if given.URL.IsUnknown() || given.TokenFile.IsUnknown() || given.Token.IsUnknown() {
		// A plan goes on without a server as far as it asks none.
		return
	}
	address := or(given.URL, "KEYPLANE_URL")
	tokens := api.Tokens{File: or(given.TokenFile, "KEYPLANE_TOKEN_FILE"), Token: or(given.Token, "KEYPLANE_TOKEN")}
	if given.TokenFile.ValueString() == "" && given.Token.ValueString() != "" {
		tokens.File = ""
	}
	if fault := faultOfURL(address); fault != "" {
		response.Diagnostics.AddAttributeError(path.Root("url"), "Where is the Keyplane server?", fault)
	}
	if tokens.File == "" && tokens.Token == "" {
		response.Diagnostics.AddAttributeError(path.Root("token_file"), "A token is missing",
			"Name its file as token_file or in the variable KEYPLANE_TOKEN_FILE, or give it as token or in KEYPLANE_TOKEN.")
	}
	if response.Diagnostics.HasError() {
		return
	}
	agent := fmt.Sprintf("terraform-provider-keyplane/%s (%s)", Version, request.TerraformVersion)
	client := api.New(strings.TrimRight(address, "/"), tokens, agent)
	response.ResourceData = client
	response.DataSourceData = client
	response.EphemeralResourceData = client
}

func or(given types.String, variable string) string {
	if given.ValueString() != "" {
		return given.ValueString()
	}
	return os.Getenv(variable)
}

func faultOfURL(text string) string {
	if text == "" {
		return "Write url = \"https://keys.example.com\" in the provider's block, or set the variable KEYPLANE_URL."
	}
	address, err := url.Parse(text)
	if err != nil || (address.Scheme != "http" && address.Scheme != "https") || address.Host == "" {
		return "It must be an http or https URL, such as https://keys.example.com."
	}
	if address.User != nil || address.RawQuery != "" || address.Fragment != "" {
		return "It must be without credentials, query and fragment."
	}
	return ""
}

func (*keyplane) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{newPlatformKey}
}

func (*keyplane) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{newModelGatewaySource, newMemoryLibrarySource, newPlatformKeySource}
}

func (*keyplane) EphemeralResources(context.Context) []func() ephemeral.EphemeralResource {
	return []func() ephemeral.EphemeralResource{newPlatformKeySecret, newEphemeralKey}
}
