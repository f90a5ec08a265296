// A provider for the tests: it keeps secrets in files, as one of a secret store keeps them there, and reads them back.
package main

import (
	"context"
	"log"
	"os"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	opened "github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

func main() {
	options := providerserver.ServeOpts{Address: "keyplane.dev/keyplane/teststore"}
	if err := providerserver.Serve(context.Background(), func() provider.Provider { return &store{} }, options); err != nil {
		log.Fatal(err)
	}
}

type store struct{}

var _ provider.ProviderWithEphemeralResources = (*store)(nil)

func (*store) Metadata(_ context.Context, _ provider.MetadataRequest, response *provider.MetadataResponse) {
	response.TypeName = "teststore"
}

func (*store) Schema(context.Context, provider.SchemaRequest, *provider.SchemaResponse) {}

func (*store) Configure(context.Context, provider.ConfigureRequest, *provider.ConfigureResponse) {}

func (*store) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{func() resource.Resource { return &written{} }}
}

func (*store) DataSources(context.Context) []func() datasource.DataSource { return nil }

func (*store) EphemeralResources(context.Context) []func() ephemeral.EphemeralResource {
	return []func() ephemeral.EphemeralResource{func() ephemeral.EphemeralResource { return &read{} }}
}

// written is a secret in the store.
type written struct{}

func (*written) Metadata(_ context.Context, _ resource.MetadataRequest, response *resource.MetadataResponse) {
	response.TypeName = "teststore_secret"
}

func (*written) Schema(_ context.Context, _ resource.SchemaRequest, response *resource.SchemaResponse) {
	response.Schema = schema.Schema{Attributes: map[string]schema.Attribute{
		"path": schema.StringAttribute{
			Required:      true,
			PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()},
		},
		"value_wo":         schema.StringAttribute{Required: true, WriteOnly: true},
		"value_wo_version": schema.Int64Attribute{Required: true},
		// Known once it is there: what reads the store waits for it.
		"id": schema.StringAttribute{
			Computed:      true,
			PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
		},
	}}
}

type writtenModel struct {
	ID      types.String `tfsdk:"id"`
	Path    string       `tfsdk:"path"`
	Value   types.String `tfsdk:"value_wo"`
	Version int64        `tfsdk:"value_wo_version"`
}

func (one *written) Create(ctx context.Context, request resource.CreateRequest, response *resource.CreateResponse) {
	var plan, config writtenModel
	response.Diagnostics.Append(request.Plan.Get(ctx, &plan)...)
	response.Diagnostics.Append(request.Config.GetAttribute(ctx, path.Root("value_wo"), &config.Value)...)
	if response.Diagnostics.HasError() {
		return
	}
	if err := os.WriteFile(plan.Path, []byte(config.Value.ValueString()), 0o600); err != nil {
		response.Diagnostics.AddError("not written", err.Error())
		return
	}
	plan.ID = types.StringValue(plan.Path)
	response.Diagnostics.Append(response.State.Set(ctx, &plan)...)
}

func (*written) Read(context.Context, resource.ReadRequest, *resource.ReadResponse) {}

func (one *written) Update(ctx context.Context, request resource.UpdateRequest, response *resource.UpdateResponse) {
	created := resource.CreateResponse{State: response.State}
	one.Create(ctx, resource.CreateRequest{Plan: request.Plan, Config: request.Config}, &created)
	response.State, response.Diagnostics = created.State, created.Diagnostics
}

func (*written) Delete(ctx context.Context, request resource.DeleteRequest, response *resource.DeleteResponse) {
	var where string
	response.Diagnostics.Append(request.State.GetAttribute(ctx, path.Root("path"), &where)...)
	if err := os.Remove(where); err != nil {
		response.Diagnostics.AddError("not deleted", err.Error())
	}
}

// read is what the store holds.
type read struct{}

func (*read) Metadata(_ context.Context, _ ephemeral.MetadataRequest, response *ephemeral.MetadataResponse) {
	response.TypeName = "teststore_secret"
}

func (*read) Schema(_ context.Context, _ ephemeral.SchemaRequest, response *ephemeral.SchemaResponse) {
	response.Schema = opened.Schema{Attributes: map[string]opened.Attribute{
		"id":    opened.StringAttribute{Required: true},
		"value": opened.StringAttribute{Computed: true, Sensitive: true},
	}}
}

func (*read) Open(ctx context.Context, request ephemeral.OpenRequest, response *ephemeral.OpenResponse) {
	var where string
	response.Diagnostics.Append(request.Config.GetAttribute(ctx, path.Root("id"), &where)...)
	text, err := os.ReadFile(where)
	if err != nil {
		response.Diagnostics.AddError("not read", err.Error())
		return
	}
	response.Diagnostics.Append(response.Result.SetAttribute(ctx, path.Root("value"), string(text))...)
}
