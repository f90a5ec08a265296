package provider

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"keyplane.dev/terraform-provider-keyplane/internal/api"
	"keyplane.dev/terraform-provider-keyplane/internal/secret"
)

// ephemeralKey is a key for as long as a plan or an apply goes on.
type ephemeralKey struct{ connected }

func newEphemeralKey() ephemeral.EphemeralResource { return &ephemeralKey{} }

var (
	_ ephemeral.EphemeralResourceWithConfigure = (*ephemeralKey)(nil)
	_ ephemeral.EphemeralResourceWithClose     = (*ephemeralKey)(nil)
)

type ephemeralKeyModel struct {
	Team                 string         `tfsdk:"team"`
	Namespace            *string        `tfsdk:"namespace"`
	DisplayName          *string        `tfsdk:"display_name"`
	Preset               *string        `tfsdk:"preset"`
	Scopes               []string       `tfsdk:"scopes"`
	GatewayRef           *reference     `tfsdk:"gateway_ref"`
	AllowedModels        []string       `tfsdk:"allowed_models"`
	LibraryAccess        *libraryAccess `tfsdk:"library_access"`
	MCPDefaultLibraryRef *reference     `tfsdk:"mcp_default_library_ref"`
	ExpiresAfter         *string        `tfsdk:"expires_after"`
	ID                   types.String   `tfsdk:"id"`
	Name                 types.String   `tfsdk:"name"`
	Prefix               types.String   `tfsdk:"prefix"`
	Secret               types.String   `tfsdk:"secret"`
}

const (
	// The key of the private data under which its end finds the key.
	madeKey = "made"
	// How long a key lives that is not revoked, since its run was killed.
	longestRun = "1h"
)

func (*ephemeralKey) Metadata(_ context.Context, request ephemeral.MetadataRequest, response *ephemeral.MetadataResponse) {
	response.TypeName = request.ProviderTypeName + "_ephemeral_key"
}

func (*ephemeralKey) Schema(_ context.Context, _ ephemeral.SchemaRequest, response *ephemeral.SchemaResponse) {
	text := func(description string) schema.StringAttribute {
		return schema.StringAttribute{Optional: true, MarkdownDescription: description}
	}
	texts := func(description string) schema.SetAttribute {
		return schema.SetAttribute{Optional: true, ElementType: types.StringType, MarkdownDescription: description}
	}
	fields := map[string]schema.Attribute{
		"name":      schema.StringAttribute{Required: true, MarkdownDescription: "Its name."},
		"namespace": text("Its namespace, where several of the team have one of this name."),
	}
	response.Schema = schema.Schema{
		MarkdownDescription: "A key that is made as a plan or an apply needs it, and is revoked as that ends.",
		Attributes: map[string]schema.Attribute{
			"team":           schema.StringAttribute{Required: true, MarkdownDescription: "The name of its team."},
			"namespace":      text("A namespace of its team."),
			"display_name":   text("A name for people, shown in lists."),
			"preset":         text("A named set of scopes, instead of `scopes`."),
			"scopes":         texts("What the key may do, instead of `preset`."),
			"gateway_ref":    schema.SingleNestedAttribute{Optional: true, Attributes: fields, MarkdownDescription: "The one gateway that the key is bound to."},
			"allowed_models": texts("The routes and models that the key may name at a gateway."),
			"library_access": schema.SingleNestedAttribute{
				Optional:            true,
				MarkdownDescription: "The memory libraries that the key may reach.",
				Attributes: map[string]schema.Attribute{
					"mode": text("`All` or `Restricted`."),
					"library_refs": schema.ListNestedAttribute{
						Optional:            true,
						NestedObject:        schema.NestedAttributeObject{Attributes: fields},
						MarkdownDescription: "The libraries of a restricted key.",
					},
				},
			},
			"mcp_default_library_ref": schema.SingleNestedAttribute{Optional: true, Attributes: fields, MarkdownDescription: "The library that an MCP tool uses when a call names none."},
			"expires_after":           text("When the key ends by itself, should the run be killed: `" + longestRun + "` where it is left out. A run that goes on for longer loses it."),
			"id":                      schema.StringAttribute{Computed: true, MarkdownDescription: "The key's id."},
			"name":                    schema.StringAttribute{Computed: true, MarkdownDescription: "Its name, by chance."},
			"prefix":                  schema.StringAttribute{Computed: true, MarkdownDescription: "The first 12 characters of the secret, which authenticate nothing."},
			"secret":                  schema.StringAttribute{Computed: true, Sensitive: true, MarkdownDescription: "The key itself."},
		},
	}
}

func (key *ephemeralKey) Configure(_ context.Context, request ephemeral.ConfigureRequest, _ *ephemeral.ConfigureResponse) {
	key.connect(request.ProviderData)
}

func (key *ephemeralKey) Open(ctx context.Context, request ephemeral.OpenRequest, response *ephemeral.OpenResponse) {
	var model ephemeralKeyModel
	response.Diagnostics.Append(request.Config.Get(ctx, &model)...)
	if response.Diagnostics.HasError() || !key.ready(&response.Diagnostics) {
		return
	}
	life := longestRun
	if model.ExpiresAfter != nil {
		life = *model.ExpiresAfter
	}
	text := secret.Mint()
	object, err := key.client.CreateKey(ctx, api.NewKey{
		Name:      "ephemeral-" + secret.Hash(text)[:12],
		Team:      model.Team,
		Namespace: textOf(model.Namespace),
		Spec: spec{
			DisplayName:          model.DisplayName,
			Preset:               model.Preset,
			Scopes:               model.Scopes,
			GatewayRef:           model.GatewayRef,
			AllowedModels:        model.AllowedModels,
			LibraryAccess:        model.LibraryAccess,
			MCPDefaultLibraryRef: model.MCPDefaultLibraryRef,
			ExpiresAfter:         &life,
		},
		Source: sourceOf(text),
		Reason: "for a run of OpenTofu or Terraform",
	})
	if err != nil {
		fail(&response.Diagnostics, fmt.Sprintf("An ephemeral key of the team %q was not made", model.Team), err)
		return
	}
	made, err := json.Marshal(api.Object{ID: object.ID, TeamID: object.TeamID})
	if err != nil {
		fail(&response.Diagnostics, "The key's id cannot be kept", err)
		return
	}
	response.Diagnostics.Append(response.Private.SetKey(ctx, madeKey, made)...)
	model.ID, model.Name = types.StringValue(object.ID), types.StringValue(object.Name)
	model.Secret, model.Prefix = types.StringValue(text), types.StringValue(secret.Prefix(text))
	response.Diagnostics.Append(response.Result.Set(ctx, &model)...)
}

func (key *ephemeralKey) Close(ctx context.Context, request ephemeral.CloseRequest, response *ephemeral.CloseResponse) {
	text, diagnostics := request.Private.GetKey(ctx, madeKey)
	response.Diagnostics.Append(diagnostics...)
	var made api.Object
	if err := json.Unmarshal(text, &made); err != nil || !key.ready(&response.Diagnostics) {
		return
	}
	if err := key.client.DeleteKey(ctx, made.ID, made.TeamID, "the run that it was made for is over"); err != nil {
		fail(&response.Diagnostics, fmt.Sprintf("The ephemeral key %s was not revoked", made.ID), err)
	}
}
