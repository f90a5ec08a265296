package provider

import (
	"context"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// platformKeySchema describes `keyplane_platform_key`. No attribute that is stored holds a secret.
func platformKeySchema() schema.Schema {
	identity := []planmodifier.String{stringplanmodifier.RequiresReplace()}
	same := []planmodifier.String{stringplanmodifier.UseStateForUnknown()}
	text := func(description string) schema.StringAttribute {
		return schema.StringAttribute{Optional: true, MarkdownDescription: description}
	}
	attributes := specAttributes()
	maps.Copy(attributes, map[string]schema.Attribute{
		"id": schema.StringAttribute{Computed: true, PlanModifiers: same, MarkdownDescription: "The key's id."},
		"name": schema.StringAttribute{
			Required: true, PlanModifiers: identity,
			MarkdownDescription: "Its name, which is one living key's in its team. Another name is another key.",
		},
		"team": schema.StringAttribute{
			Required: true, PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplaceIf(unlessStillTeam, anotherTeam, anotherTeam)},
			MarkdownDescription: "The name of its team, or its id, which never changes: another team is another key.",
		},
		"namespace": schema.StringAttribute{
			Optional: true, PlanModifiers: identity,
			MarkdownDescription: "A namespace of its team, where the name is to be unique in that.",
		},
		"secret_wo": schema.StringAttribute{
			Optional: true, WriteOnly: true, Sensitive: true,
			MarkdownDescription: "The key's secret, best out of the store that it is kept in. The server gets its hash alone, and no state and no plan holds it. It is taken when `secret_wo_version` changes. Without it the key has a secret that is nowhere, until a person makes a version.",
		},
		"secret_wo_version": schema.Int64Attribute{
			Optional:            true,
			MarkdownDescription: "Any number: a change of it makes a new version of the key with the secret that `secret_wo` is then.",
		},
		"overlap": text("How long the version before works on beside a new one; 24h where it is left out, `0s` to end all earlier ones at once."),
		"reason":  text("For the audit log, with each change."),
		"team_id": schema.StringAttribute{Computed: true, PlanModifiers: same, MarkdownDescription: "The team's id."},
		"prefix": schema.StringAttribute{
			Computed:            true,
			MarkdownDescription: "The first 12 characters of the version in use, which identify it in lists and authenticate nothing.",
		},
		"version": schema.Int64Attribute{Computed: true, MarkdownDescription: "The number of the version in use."},
		"effective_scopes": schema.SetAttribute{
			Computed: true, ElementType: types.StringType, MarkdownDescription: "What the key may do, by its preset or scopes.",
		},
		"expires_time": schema.StringAttribute{Computed: true, MarkdownDescription: "When the key, or its version in use, ends; null for never."},
	})
	return schema.Schema{
		MarkdownDescription: "An API key: what it may do, and until when. Neither the state nor a plan ever holds its secret.",
		Attributes:          attributes,
	}
}

const anotherTeam = "Another team is another key."

func unlessStillTeam(ctx context.Context, request planmodifier.StringRequest, response *stringplanmodifier.RequiresReplaceIfFuncResponse) {
	response.RequiresReplace = !isStillTeam(ctx, request.State, request.Private, request.PlanValue, &response.Diagnostics)
}
