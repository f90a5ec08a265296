package provider

import (
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
	number := func(description string) schema.Int64Attribute {
		return schema.Int64Attribute{Optional: true, MarkdownDescription: description}
	}
	texts := func(description string) schema.SetAttribute {
		return schema.SetAttribute{Optional: true, ElementType: types.StringType, MarkdownDescription: description}
	}
	return schema.Schema{
		MarkdownDescription: "An API key: what it may do, and until when. Neither the state nor a plan ever holds its secret.",
		Attributes: map[string]schema.Attribute{
			"id": schema.StringAttribute{Computed: true, PlanModifiers: same, MarkdownDescription: "The key's id."},
			"name": schema.StringAttribute{
				Required: true, PlanModifiers: identity,
				MarkdownDescription: "Its name, which is one living key's in its team. Another name is another key.",
			},
			"team": schema.StringAttribute{
				Required: true, PlanModifiers: identity,
				MarkdownDescription: "The name of its team, which never changes: another team is another key.",
			},
			"namespace": schema.StringAttribute{
				Optional: true, PlanModifiers: identity,
				MarkdownDescription: "A namespace of its team, where the name is to be unique in that.",
			},
			"display_name":   text("A name for people, shown in lists."),
			"owner":          text("Whom to ask about the key, such as an address. It decides nothing."),
			"preset":         text("A named set of scopes, instead of `scopes`: `MCPReadOnly`, `MCPReadWrite` or `GatewayDefault`."),
			"scopes":         texts("What the key may do, instead of `preset`."),
			"gateway_ref":    referenceTo("The one gateway that the key is bound to."),
			"allowed_models": texts("The routes and models that the key may name at a gateway; any where it is left out."),
			"library_access": schema.SingleNestedAttribute{
				Optional:            true,
				MarkdownDescription: "The memory libraries that the key may reach. Only with a memory scope.",
				Attributes: map[string]schema.Attribute{
					"mode": text("`All`, every library of the team; or `Restricted`, those of `library_refs` alone."),
					"library_refs": schema.ListNestedAttribute{
						Optional:            true,
						MarkdownDescription: "The libraries of a restricted key.",
						NestedObject:        schema.NestedAttributeObject{Attributes: referenceFields()},
					},
				},
			},
			"mcp_default_library_ref": referenceTo("The library that an MCP tool uses when a call names none."),
			"subject_access": schema.SingleNestedAttribute{
				Optional:            true,
				MarkdownDescription: "Whose memory the key is for.",
				Attributes: map[string]schema.Attribute{
					"mode":    schema.StringAttribute{Required: true, MarkdownDescription: "`Bound` or `Required`."},
					"subject": text("The subject of a bound key."),
				},
			},
			"allowed_cidrs": texts("The networks that the key may be used from; anywhere where it is left out."),
			"state": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "`Active`, or `Suspended`, which is refused until it is active again. To revoke a key, destroy it.",
			},
			"expires_after": text("How long each version lives, from its mint, such as `2160h`. Not together with `expires_at`."),
			"expires_at":    text("The end of the whole key, RFC 3339."),
			"rate_limit": schema.SingleNestedAttribute{
				Optional:            true,
				MarkdownDescription: "How many requests the key may make.",
				Attributes: map[string]schema.Attribute{
					"requests_per_minute": number("Requests a minute, in the long run."),
					"burst":               number("Requests at once; a minute's worth where it is left out."),
					"tokens_per_minute":   number("Tokens a minute that calls of models use."),
					"scope":               text("Who counts: `Installation`, or each `Replica` by itself."),
					"concurrent":          number("Calls under way at once on each replica."),
				},
			},
			"budgets": schema.ListNestedAttribute{
				Optional:            true,
				MarkdownDescription: "How many tokens the key's calls of models may use, or what they may cost.",
				NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
					"period":       schema.StringAttribute{Required: true, MarkdownDescription: "`Day`, `Week`, `Month` or `Total`."},
					"tokens":       number("Tokens that may be used in a period. Not together with `cost`."),
					"cost":         text("What the calls of a period may cost, such as `\"250.00\"`."),
					"currency":     text("The currency of `cost`."),
					"time_zone":    text("Where the period begins, by its IANA name; UTC where it is left out."),
					"on_exhausted": text("`Refuse`, or `Alert`, which lets calls pass and counts them."),
				}},
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
		},
	}
}

func referenceTo(description string) schema.SingleNestedAttribute {
	return schema.SingleNestedAttribute{Optional: true, MarkdownDescription: description, Attributes: referenceFields()}
}

func referenceFields() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"name":      schema.StringAttribute{Required: true, MarkdownDescription: "Its name."},
		"namespace": schema.StringAttribute{Optional: true, MarkdownDescription: "Its namespace, where several of the team have one of this name."},
	}
}
