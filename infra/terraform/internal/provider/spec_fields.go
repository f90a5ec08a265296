// Code generated from crds/ by scripts/generate.ts. DO NOT EDIT.

package provider

import (
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// spec is what a key is to be: in a configuration, and in the API.
type spec struct {
	DisplayName          *string        `tfsdk:"display_name" json:"displayName,omitzero"`
	Preset               *string        `tfsdk:"preset" json:"preset,omitzero"`
	Scopes               []string       `tfsdk:"scopes" json:"scopes,omitzero"`
	GatewayRef           *reference     `tfsdk:"gateway_ref" json:"gatewayRef,omitzero"`
	AllowedModels        []string       `tfsdk:"allowed_models" json:"allowedModels,omitzero"`
	LibraryAccess        *libraryAccess `tfsdk:"library_access" json:"libraryAccess,omitzero"`
	MCPDefaultLibraryRef *reference     `tfsdk:"mcp_default_library_ref" json:"mcpDefaultLibraryRef,omitzero"`
	SubjectAccess        *subjectAccess `tfsdk:"subject_access" json:"subjectAccess,omitzero"`
	AllowedCIDRs         []string       `tfsdk:"allowed_cidrs" json:"allowedCIDRs,omitzero"`
	State                *string        `tfsdk:"state" json:"state,omitzero"`
	ExpiresAfter         *string        `tfsdk:"expires_after" json:"expiresAfter,omitzero"`
	ExpiresAt            *string        `tfsdk:"expires_at" json:"expiresAt,omitzero"`
	RateLimit            *rateLimit     `tfsdk:"rate_limit" json:"rateLimit,omitzero"`
	Budgets              []budget       `tfsdk:"budgets" json:"budgets,omitzero"`
	Owner                *string        `tfsdk:"owner" json:"owner,omitzero"`
}

type budget struct {
	Tokens      *int64  `tfsdk:"tokens" json:"tokens,omitzero"`
	Cost        *string `tfsdk:"cost" json:"cost,omitzero"`
	Currency    *string `tfsdk:"currency" json:"currency,omitzero"`
	Period      string  `tfsdk:"period" json:"period"`
	TimeZone    *string `tfsdk:"time_zone" json:"timeZone,omitzero"`
	OnExhausted *string `tfsdk:"on_exhausted" json:"onExhausted,omitzero"`
}

type rateLimit struct {
	RequestsPerMinute *int64  `tfsdk:"requests_per_minute" json:"requestsPerMinute,omitzero"`
	Burst             *int64  `tfsdk:"burst" json:"burst,omitzero"`
	TokensPerMinute   *int64  `tfsdk:"tokens_per_minute" json:"tokensPerMinute,omitzero"`
	Scope             *string `tfsdk:"scope" json:"scope,omitzero"`
	Concurrent        *int64  `tfsdk:"concurrent" json:"concurrent,omitzero"`
}

type subjectAccess struct {
	Mode    string  `tfsdk:"mode" json:"mode"`
	Subject *string `tfsdk:"subject" json:"subject,omitzero"`
}

type libraryAccess struct {
	Mode        *string     `tfsdk:"mode" json:"mode,omitzero"`
	LibraryRefs []reference `tfsdk:"library_refs" json:"libraryRefs,omitzero"`
}

type reference struct {
	Name      string  `tfsdk:"name" json:"name"`
	Namespace *string `tfsdk:"namespace" json:"namespace,omitzero"`
}

// sortSets puts lists whose order means nothing in one order.
func (given *spec) sortSets() {
	given.Scopes = sorted(given.Scopes)
	given.AllowedModels = sorted(given.AllowedModels)
	given.AllowedCIDRs = sorted(given.AllowedCIDRs)
}

// specAttributes describes a spec's fields.
func specAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"display_name": schema.StringAttribute{
			Optional:            true,
			MarkdownDescription: "The name shown in lists; default: the object's name.",
		},
		"preset": schema.StringAttribute{
			Optional:            true,
			MarkdownDescription: "A set of scopes, instead of scopes. MCPReadOnly: memory:read. MCPReadWrite: memory:read, memory:write. GatewayDefault: gateway:generate, gateway:embed, gateway:routes, memory:read.",
		},
		"scopes": schema.SetAttribute{
			Optional:            true,
			MarkdownDescription: "What the key may do, instead of preset; without wildcards.",
			ElementType:         types.StringType,
		},
		"gateway_ref": schema.SingleNestedAttribute{
			Optional:            true,
			MarkdownDescription: "The only gateway that the key may call; default: any of its team. Needs a gateway scope to have an effect.",
			Attributes: map[string]schema.Attribute{
				"name": schema.StringAttribute{
					Required:            true,
					MarkdownDescription: "The ModelGateway's name.",
				},
				"namespace": schema.StringAttribute{
					Optional:            true,
					MarkdownDescription: "Its namespace, which must be of the same team; default: the key's.",
				},
			},
		},
		"allowed_models": schema.SetAttribute{
			Optional:            true,
			MarkdownDescription: "The routes and models that the key may use; default: any. Needs a gateway scope to have an effect.",
			ElementType:         types.StringType,
		},
		"library_access": schema.SingleNestedAttribute{
			Optional:            true,
			MarkdownDescription: "The memory libraries that the key may use. Only with a memory scope.",
			Attributes: map[string]schema.Attribute{
				"mode": schema.StringAttribute{
					Optional:            true,
					MarkdownDescription: "All: every library of the team. Restricted: only `library_refs`.",
				},
				"library_refs": schema.ListNestedAttribute{
					Optional:            true,
					MarkdownDescription: "The libraries of a Restricted key. A missing one grants nothing and has no substitute.",
					NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
						"name": schema.StringAttribute{
							Required:            true,
							MarkdownDescription: "The MemoryLibrary's name.",
						},
						"namespace": schema.StringAttribute{
							Optional:            true,
							MarkdownDescription: "Its namespace, which must be of the same team; default: the key's.",
						},
					}},
				},
			},
		},
		"mcp_default_library_ref": schema.SingleNestedAttribute{
			Optional:            true,
			MarkdownDescription: "The library of MCP calls that name none; default: the team's. One of `library_refs` when access is Restricted. Only with a memory scope.",
			Attributes: map[string]schema.Attribute{
				"name": schema.StringAttribute{
					Required:            true,
					MarkdownDescription: "The MemoryLibrary's name.",
				},
				"namespace": schema.StringAttribute{
					Optional:            true,
					MarkdownDescription: "Its namespace, which must be of the same team; default: the key's.",
				},
			},
		},
		"subject_access": schema.SingleNestedAttribute{
			Optional:            true,
			MarkdownDescription: "The subject, an end user or agent, whose memory the key uses. The key reads the subject's and the shared atoms of its libraries, and writes only the subject's. Left out, it uses only shared atoms. Only with a memory scope.",
			Attributes: map[string]schema.Attribute{
				"mode": schema.StringAttribute{
					Required:            true,
					MarkdownDescription: "Bound: one subject for every call. Required: each call names one in the header X-Keyplane-Subject.",
				},
				"subject": schema.StringAttribute{
					Optional:            true,
					MarkdownDescription: "The subject of a Bound key.",
				},
			},
		},
		"allowed_cidrs": schema.SetAttribute{
			Optional:            true,
			MarkdownDescription: "The IPv4 and IPv6 networks that the key may be used from; default: any. The client's address is the one that trusted proxies report. The team's list applies too.",
			ElementType:         types.StringType,
		},
		"state": schema.StringAttribute{
			Optional:            true,
			MarkdownDescription: "Active; or Suspended, refused until it is Active again. A key ends with its resource.",
		},
		"expires_after": schema.StringAttribute{
			Optional:            true,
			MarkdownDescription: "The lifetime of each version from its creation, a Go duration such as 2160h. Not together with `expires_at`.",
		},
		"expires_at": schema.StringAttribute{
			Optional:            true,
			MarkdownDescription: "When the whole key expires. A later time revives an expired key. Not together with `expires_after`.",
		},
		"rate_limit": schema.SingleNestedAttribute{
			Optional:            true,
			MarkdownDescription: "The key's limits; default: an unlimited rate, and 256 concurrent calls per server replica.",
			Attributes: map[string]schema.Attribute{
				"requests_per_minute": schema.Int64Attribute{
					Optional:            true,
					MarkdownDescription: "The sustained requests per minute; default: unlimited.",
				},
				"burst": schema.Int64Attribute{
					Optional:            true,
					MarkdownDescription: "Requests at once; default: a minute's worth.",
				},
				"tokens_per_minute": schema.Int64Attribute{
					Optional:            true,
					MarkdownDescription: "The tokens of model calls per minute, sustained and at once; default: unlimited. A call reserves what it is expected to use and is charged what its answer reports.",
				},
				"scope": schema.StringAttribute{
					Optional:            true,
					MarkdownDescription: "Who counts requests and tokens: Installation, all server replicas together; Replica (default), each by itself.",
				},
				"concurrent": schema.Int64Attribute{
					Optional:            true,
					MarkdownDescription: "Concurrent calls per replica, streams included; default: 256.",
				},
			},
		},
		"budgets": schema.ListNestedAttribute{
			Optional:            true,
			MarkdownDescription: "The tokens or cost of the key's model calls per day, week, month or in total. A call reserves what it may use and is charged what its answer reports; without room it is answered 429 budget_exceeded. Use is counted by name, so a key that is declared again continues its count.",
			NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
				"tokens": schema.Int64Attribute{
					Optional:            true,
					MarkdownDescription: "The tokens per period, as answers report them.",
				},
				"cost": schema.StringAttribute{
					Optional:            true,
					MarkdownDescription: "The cost per period by the servers' price list, such as \"250.00\", as text.",
				},
				"currency": schema.StringAttribute{
					Optional:            true,
					MarkdownDescription: "The ISO 4217 currency of cost, that of the servers' price list.",
				},
				"period": schema.StringAttribute{
					Required:            true,
					MarkdownDescription: "When the budget resets: each Day, Week (on Monday) or Month (on its first day); Total: never.",
				},
				"time_zone": schema.StringAttribute{
					Optional:            true,
					MarkdownDescription: "The IANA time zone of the period, such as Europe/Berlin.",
				},
				"on_exhausted": schema.StringAttribute{
					Optional:            true,
					MarkdownDescription: "Refuse: calls without room are answered 429 budget_exceeded. Alert: they pass and are counted.",
				},
			}},
		},
		"owner": schema.StringAttribute{
			Optional:            true,
			MarkdownDescription: "Whom to ask about the key, such as an address. It is shown with the key, also to its holder, and decides nothing.",
		},
	}
}
