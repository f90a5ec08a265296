package provider

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"keyplane.dev/terraform-provider-keyplane/internal/api"
)

// found is an object that is looked up, by its id or by its name.
type found struct {
	ID        types.String `tfsdk:"id"`
	Name      types.String `tfsdk:"name"`
	Team      types.String `tfsdk:"team"`
	Namespace types.String `tfsdk:"namespace"`
	TeamID    types.String `tfsdk:"team_id"`
}

// lookup is a data source: its model is what it shows of an object besides what all have in common.
type lookup[Model any] struct {
	connected
	kind        api.Kind
	typeName    string
	description string
	attributes  map[string]schema.Attribute
	of          func(ctx context.Context, same found, object *api.Object) (Model, diag.Diagnostics)
}

var _ datasource.DataSourceWithConfigure = (*lookup[found])(nil)

func (source *lookup[Model]) Metadata(_ context.Context, request datasource.MetadataRequest, response *datasource.MetadataResponse) {
	response.TypeName = request.ProviderTypeName + source.typeName
}

func (source *lookup[Model]) Schema(_ context.Context, _ datasource.SchemaRequest, response *datasource.SchemaResponse) {
	given := func(description string) schema.StringAttribute {
		return schema.StringAttribute{Optional: true, Computed: true, MarkdownDescription: description}
	}
	attributes := map[string]schema.Attribute{
		"id":        given("Its id: instead of its name."),
		"name":      given("Its name: instead of its id."),
		"team":      given("The name of its team; needed where several teams have one of this name."),
		"namespace": given("Its namespace; needed where several of the team have one of this name. Empty where it has none."),
		"team_id":   schema.StringAttribute{Computed: true, MarkdownDescription: "The id of its team."},
	}
	maps.Copy(attributes, source.attributes)
	response.Schema = schema.Schema{MarkdownDescription: source.description, Attributes: attributes}
}

func (source *lookup[Model]) Configure(_ context.Context, request datasource.ConfigureRequest, _ *datasource.ConfigureResponse) {
	source.connect(request.ProviderData)
}

func (source *lookup[Model]) Read(ctx context.Context, request datasource.ReadRequest, response *datasource.ReadResponse) {
	given := readGiven(ctx, request.Config, &response.Diagnostics)
	if response.Diagnostics.HasError() || !source.ready(&response.Diagnostics) {
		return
	}
	object, err := source.find(ctx, given)
	if err != nil {
		fail(&response.Diagnostics, fmt.Sprintf("No %s was found", source.kind.Noun), err)
		return
	}
	model, diagnostics := source.of(ctx, foundOf(object), object)
	response.Diagnostics.Append(diagnostics...)
	response.Diagnostics.Append(response.State.Set(ctx, &model)...)
}

func (source *lookup[Model]) find(ctx context.Context, given found) (*api.Object, error) {
	id := given.ID.ValueString()
	if id == "" {
		return source.client.Find(ctx, source.kind, given.Team.ValueString(), given.Namespace.ValueString(), given.Name.ValueString())
	}
	object, err := source.client.Get(ctx, source.kind, id)
	if err == nil && object == nil {
		err = fmt.Errorf("there is no %s %s, or none to be seen with this token", source.kind.Noun, id)
	}
	return object, err
}

func readGiven(ctx context.Context, config tfsdk.Config, diagnostics *diag.Diagnostics) found {
	var given found
	for name, value := range map[string]*types.String{"id": &given.ID, "name": &given.Name, "team": &given.Team, "namespace": &given.Namespace} {
		diagnostics.Append(config.GetAttribute(ctx, path.Root(name), value)...)
	}
	if (given.ID.ValueString() == "") == (given.Name.ValueString() == "") {
		diagnostics.AddError("Which one is meant?", "Give the name, with the team and the namespace where that is needed, or the id alone.")
	}
	return given
}

func foundOf(object *api.Object) found {
	return found{
		ID:        types.StringValue(object.ID),
		Name:      types.StringValue(object.Name),
		Team:      types.StringValue(object.Team),
		Namespace: types.StringValue(object.Namespace),
		TeamID:    types.StringValue(object.TeamID),
	}
}

type foundGateway struct {
	found
	PublicID   types.String `tfsdk:"public_id"`
	Upstreams  []string     `tfsdk:"upstreams"`
	Models     []string     `tfsdk:"models"`
	RoutesOnly types.Bool   `tfsdk:"routes_only"`
}

func newModelGatewaySource() datasource.DataSource {
	texts := func(description string) schema.ListAttribute {
		return schema.ListAttribute{Computed: true, ElementType: types.StringType, MarkdownDescription: description}
	}
	return &lookup[foundGateway]{
		kind:        api.Gateways,
		typeName:    "_model_gateway",
		description: "A model gateway, wherever it was made.",
		attributes: map[string]schema.Attribute{
			"public_id":   schema.StringAttribute{Computed: true, MarkdownDescription: "Its part of addresses: it is called under `/g/PUBLIC_ID/`."},
			"upstreams":   texts("The names of its upstreams."),
			"models":      texts("The models that its routes stand for."),
			"routes_only": schema.BoolAttribute{Computed: true, MarkdownDescription: "Whether its routes are all that may be named."},
		},
		of: func(_ context.Context, same found, object *api.Object) (foundGateway, diag.Diagnostics) {
			var read struct {
				Upstreams []struct {
					Name string `json:"name"`
				} `json:"upstreams"`
				Routes []struct {
					Model string `json:"model"`
				} `json:"routes"`
				RoutesOnly bool `json:"routesOnly"`
			}
			diagnostics := readSpec(object, &read)
			gateway := foundGateway{
				found:      same,
				PublicID:   types.StringValue(object.PublicID),
				RoutesOnly: types.BoolValue(read.RoutesOnly),
				Upstreams:  []string{},
				Models:     []string{},
			}
			for _, upstream := range read.Upstreams {
				gateway.Upstreams = append(gateway.Upstreams, upstream.Name)
			}
			for _, route := range read.Routes {
				gateway.Models = append(gateway.Models, route.Model)
			}
			return gateway, diagnostics
		},
	}
}

type foundLibrary struct {
	found
	DisplayName    types.String `tfsdk:"display_name"`
	Description    types.String `tfsdk:"description"`
	DeletionPolicy types.String `tfsdk:"deletion_policy"`
}

func newMemoryLibrarySource() datasource.DataSource {
	return &lookup[foundLibrary]{
		kind:        api.Libraries,
		typeName:    "_memory_library",
		description: "A memory library, wherever it was made.",
		attributes: map[string]schema.Attribute{
			"display_name":    schema.StringAttribute{Computed: true, MarkdownDescription: "Its name for people."},
			"description":     schema.StringAttribute{Computed: true, MarkdownDescription: "What it is for; null where that is not said."},
			"deletion_policy": schema.StringAttribute{Computed: true, MarkdownDescription: "What becomes of its atoms as it is deleted."},
		},
		of: func(_ context.Context, same found, object *api.Object) (foundLibrary, diag.Diagnostics) {
			var read struct {
				DisplayName    *string `json:"displayName"`
				Description    *string `json:"description"`
				DeletionPolicy *string `json:"deletionPolicy"`
			}
			diagnostics := readSpec(object, &read)
			if read.DisplayName == nil {
				read.DisplayName = &object.Name
			}
			return foundLibrary{
				found:          same,
				DisplayName:    stringOf(read.DisplayName),
				Description:    stringOf(read.Description),
				DeletionPolicy: stringOf(read.DeletionPolicy),
			}, diagnostics
		},
	}
}

type foundKey struct {
	found
	DisplayName     types.String `tfsdk:"display_name"`
	State           types.String `tfsdk:"state"`
	EffectiveScopes []string     `tfsdk:"effective_scopes"`
	Prefix          types.String `tfsdk:"prefix"`
	Version         types.Int64  `tfsdk:"version"`
	ExpiresTime     types.String `tfsdk:"expires_time"`
	IsDeclared      types.Bool   `tfsdk:"is_declared"`
}

func newPlatformKeySource() datasource.DataSource {
	text := func(description string) schema.StringAttribute {
		return schema.StringAttribute{Computed: true, MarkdownDescription: description}
	}
	return &lookup[foundKey]{
		kind:        api.Keys,
		typeName:    "_platform_key",
		description: "A key, wherever it was made or declared, without its secret.",
		attributes: map[string]schema.Attribute{
			"display_name":     text("Its name for people."),
			"state":            text("Whether it works: `active`, `suspended`, `expired` or `revoked`."),
			"effective_scopes": schema.SetAttribute{Computed: true, ElementType: types.StringType, MarkdownDescription: "What it may do."},
			"prefix":           text("The first 12 characters of the version in use."),
			"version":          schema.Int64Attribute{Computed: true, MarkdownDescription: "The number of the version in use."},
			"expires_time":     text("When it, or its version in use, ends; null for never."),
			"is_declared":      schema.BoolAttribute{Computed: true, MarkdownDescription: "Whether a manifest declares it."},
		},
		of: func(_ context.Context, same found, object *api.Object) (foundKey, diag.Diagnostics) {
			current, _ := object.Current()
			return foundKey{
				found:           same,
				DisplayName:     types.StringValue(object.DisplayName),
				State:           types.StringValue(object.State),
				EffectiveScopes: object.Scopes,
				Prefix:          types.StringValue(current.Prefix),
				Version:         types.Int64Value(current.Number),
				ExpiresTime:     stringOf(object.ExpiresAt),
				IsDeclared:      types.BoolValue(object.DeclaredIn != nil),
			}, nil
		},
	}
}

func readSpec(object *api.Object, into any) diag.Diagnostics {
	if err := json.Unmarshal(object.Spec, into); err != nil {
		return diag.Diagnostics{diag.NewErrorDiagnostic("The server's answer cannot be read", err.Error())}
	}
	return nil
}
