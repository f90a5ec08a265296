// Generated from crds/ by scripts/generate.ts. Change the schema there and run `node scripts/generate.ts`.
import type { Input } from "@pulumi/pulumi";

export type ProviderArgs = {
  /** Where Keyplane's server is, such as https://keyplane.example.com. KEYPLANE_URL where it is left out. */
  url?: Input<string> | undefined;
  /** The path of the file with the token that the management API is asked with; it is read again when it changes. KEYPLANE_TOKEN_FILE where it is left out. A token itself is never configuration: KEYPLANE_TOKEN may hold it. */
  tokenFile?: Input<string> | undefined;
};

/** An API key: what it may do, and how long it lives. */
export type PlatformKeyArgs = {
  /** The key's name, unique in its namespace; also its label's value, hence at most 63 characters. Made from the resource's name where it is left out. */
  name?: Input<string> | undefined;
  /** The team that it belongs to, by its name. */
  team: Input<string>;
  /** One of the namespaces of a team that was made here; none where it is left out. */
  namespace?: Input<string> | undefined;
  /** The name shown in lists; default: the object's name. */
  displayName?: Input<string> | undefined;
  /** A set of scopes, instead of scopes. MCPReadOnly: memory:read. MCPReadWrite: memory:read, memory:write. GatewayDefault: gateway:generate, gateway:embed, gateway:routes, memory:read. */
  preset?: Input<"MCPReadOnly" | "MCPReadWrite" | "GatewayDefault"> | undefined;
  /** What the key may do, instead of preset; without wildcards. */
  scopes?: Input<Array<Input<"gateway:generate" | "gateway:embed" | "gateway:routes" | "memory:read" | "memory:write" | "gateway:files">>> | undefined;
  /** The only gateway that the key may call; default: any of its team. Needs a gateway scope to have an effect. */
  gatewayRef?: Input<{
    /** The ModelGateway's name. */
    name: Input<string>;
    /** Its namespace, which must be of the same team; default: the key's. */
    namespace?: Input<string> | undefined;
  }> | undefined;
  /** The routes and models that the key may use; default: any. Needs a gateway scope to have an effect. */
  allowedModels?: Input<Input<string>[]> | undefined;
  /** The memory libraries that the key may use. Only with a memory scope. */
  libraryAccess?: Input<{
    /** All: every library of the team. Restricted: only libraryRefs. Default `"All"`. */
    mode?: Input<"All" | "Restricted"> | undefined;
    /** The libraries of a Restricted key. A missing one grants nothing and has no substitute. */
    libraryRefs?: Input<Array<Input<{
      /** The MemoryLibrary's name. */
      name: Input<string>;
      /** Its namespace, which must be of the same team; default: the key's. */
      namespace?: Input<string> | undefined;
    }>>> | undefined;
  }> | undefined;
  /** The library of MCP calls that name none; default: the team's. One of libraryRefs when access is Restricted. Only with a memory scope. */
  mcpDefaultLibraryRef?: Input<{
    /** The MemoryLibrary's name. */
    name: Input<string>;
    /** Its namespace, which must be of the same team; default: the key's. */
    namespace?: Input<string> | undefined;
  }> | undefined;
  /** The subject, an end user or agent, whose memory the key uses. The key reads the subject's and the shared atoms of its libraries, and writes only the subject's. Left out, it uses only shared atoms. Only with a memory scope. */
  subjectAccess?: Input<{
    /** Bound: one subject for every call. Required: each call names one in the header X-Keyplane-Subject. */
    mode: Input<"Bound" | "Required">;
    /** The subject of a Bound key. */
    subject?: Input<string> | undefined;
  }> | undefined;
  /** The IPv4 and IPv6 networks that the key may be used from; default: any. The client's address is the one that trusted proxies report. The team's list applies too. */
  allowedCIDRs?: Input<Input<string>[]> | undefined;
  /** Active; or Suspended, refused until it is Active again. A key ends with its resource. Default `"Active"`. */
  state?: Input<"Active" | "Suspended"> | undefined;
  /** The lifetime of each version from its creation, a Go duration such as 2160h. Not together with expiresAt. */
  expiresAfter?: Input<string> | undefined;
  /** When the whole key expires. A later time revives an expired key. Not together with expiresAfter. */
  expiresAt?: Input<string> | undefined;
  /** The key's limits; default: an unlimited rate, and 256 concurrent calls per server replica. */
  rateLimit?: Input<{
    /** The sustained requests per minute; default: unlimited. */
    requestsPerMinute?: Input<number> | undefined;
    /** Requests at once; default: a minute's worth. */
    burst?: Input<number> | undefined;
    /** The tokens of model calls per minute, sustained and at once; default: unlimited. A call reserves what it is expected to use and is charged what its answer reports. */
    tokensPerMinute?: Input<number> | undefined;
    /** Who counts requests and tokens: Installation, all server replicas together; Replica (default), each by itself. */
    scope?: Input<"Replica" | "Installation"> | undefined;
    /** Concurrent calls per replica, streams included; default: 256. */
    concurrent?: Input<number> | undefined;
  }> | undefined;
  /** The tokens or cost of the key's model calls per day, week, month or in total. A call reserves what it may use and is charged what its answer reports; without room it is answered 429 budget_exceeded. Use is counted by name, so a key that is declared again continues its count. */
  budgets?: Input<Array<Input<{
    /** The tokens per period, as answers report them. */
    tokens?: Input<number> | undefined;
    /** The cost per period by the servers' price list, such as "250.00", as text. */
    cost?: Input<string> | undefined;
    /** The ISO 4217 currency of cost, that of the servers' price list. */
    currency?: Input<string> | undefined;
    /** When the budget resets: each Day, Week (on Monday) or Month (on its first day); Total: never. */
    period: Input<"Day" | "Week" | "Month" | "Total">;
    /** The IANA time zone of the period, such as Europe/Berlin. Default `"UTC"`. */
    timeZone?: Input<string> | undefined;
    /** Refuse: calls without room are answered 429 budget_exceeded. Alert: they pass and are counted. Default `"Refuse"`. */
    onExhausted?: Input<"Refuse" | "Alert"> | undefined;
  }>>> | undefined;
  /** Whom to ask about the key, such as an address. It is shown with the key, also to its holder, and decides nothing. */
  owner?: Input<string> | undefined;
  /** secret, the key comes out as secret, encrypted in the state; or none, it comes out nowhere and only its hash is kept. Default `"secret"`. */
  deliver?: Input<"secret" | "none"> | undefined;
  /** When a new version replaces the current one, and how long both work. */
  rotation?: Input<{
    /** How old the key may become before an up puts a new one in its place: a Go duration such as 720h. Without it nothing rotates by time. */
    interval?: Input<string> | undefined;
    /** How long the old key works on beside the new one: a Go duration; 0s for not at all. Default `"24h"`. */
    overlap?: Input<string> | undefined;
    /** Any text. A change creates a new version. */
    trigger?: Input<string> | undefined;
  }> | undefined;
  /** Why, for the audit log. Not a place for a secret. */
  reason?: Input<string> | undefined;
};

/** An API key: what it may do, and how long it lives. */
export type PlatformKeyState = {
  /** The key's name, unique in its namespace; also its label's value, hence at most 63 characters. */
  name: string;
  /** The team that it belongs to, by its name. */
  team: string;
  /** One of the namespaces of a team that was made here; none where it is left out. */
  namespace?: string | undefined;
  /** The name shown in lists; default: the object's name. */
  displayName?: string | undefined;
  /** A set of scopes, instead of scopes. MCPReadOnly: memory:read. MCPReadWrite: memory:read, memory:write. GatewayDefault: gateway:generate, gateway:embed, gateway:routes, memory:read. */
  preset?: "MCPReadOnly" | "MCPReadWrite" | "GatewayDefault" | undefined;
  /** What the key may do, instead of preset; without wildcards. */
  scopes?: Array<"gateway:generate" | "gateway:embed" | "gateway:routes" | "memory:read" | "memory:write" | "gateway:files"> | undefined;
  /** The only gateway that the key may call; default: any of its team. Needs a gateway scope to have an effect. */
  gatewayRef?: {
    /** The ModelGateway's name. */
    name: string;
    /** Its namespace, which must be of the same team; default: the key's. */
    namespace?: string | undefined;
  } | undefined;
  /** The routes and models that the key may use; default: any. Needs a gateway scope to have an effect. */
  allowedModels?: string[] | undefined;
  /** The memory libraries that the key may use. Only with a memory scope. */
  libraryAccess?: {
    /** All: every library of the team. Restricted: only libraryRefs. Default `"All"`. */
    mode?: "All" | "Restricted" | undefined;
    /** The libraries of a Restricted key. A missing one grants nothing and has no substitute. */
    libraryRefs?: Array<{
      /** The MemoryLibrary's name. */
      name: string;
      /** Its namespace, which must be of the same team; default: the key's. */
      namespace?: string | undefined;
    }> | undefined;
  } | undefined;
  /** The library of MCP calls that name none; default: the team's. One of libraryRefs when access is Restricted. Only with a memory scope. */
  mcpDefaultLibraryRef?: {
    /** The MemoryLibrary's name. */
    name: string;
    /** Its namespace, which must be of the same team; default: the key's. */
    namespace?: string | undefined;
  } | undefined;
  /** The subject, an end user or agent, whose memory the key uses. The key reads the subject's and the shared atoms of its libraries, and writes only the subject's. Left out, it uses only shared atoms. Only with a memory scope. */
  subjectAccess?: {
    /** Bound: one subject for every call. Required: each call names one in the header X-Keyplane-Subject. */
    mode: "Bound" | "Required";
    /** The subject of a Bound key. */
    subject?: string | undefined;
  } | undefined;
  /** The IPv4 and IPv6 networks that the key may be used from; default: any. The client's address is the one that trusted proxies report. The team's list applies too. */
  allowedCIDRs?: string[] | undefined;
  /** Active; or Suspended, refused until it is Active again. A key ends with its resource. Default `"Active"`. */
  state?: "Active" | "Suspended" | undefined;
  /** The lifetime of each version from its creation, a Go duration such as 2160h. Not together with expiresAt. */
  expiresAfter?: string | undefined;
  /** When the whole key expires. A later time revives an expired key. Not together with expiresAfter. */
  expiresAt?: string | undefined;
  /** The key's limits; default: an unlimited rate, and 256 concurrent calls per server replica. */
  rateLimit?: {
    /** The sustained requests per minute; default: unlimited. */
    requestsPerMinute?: number | undefined;
    /** Requests at once; default: a minute's worth. */
    burst?: number | undefined;
    /** The tokens of model calls per minute, sustained and at once; default: unlimited. A call reserves what it is expected to use and is charged what its answer reports. */
    tokensPerMinute?: number | undefined;
    /** Who counts requests and tokens: Installation, all server replicas together; Replica (default), each by itself. */
    scope?: "Replica" | "Installation" | undefined;
    /** Concurrent calls per replica, streams included; default: 256. */
    concurrent?: number | undefined;
  } | undefined;
  /** The tokens or cost of the key's model calls per day, week, month or in total. A call reserves what it may use and is charged what its answer reports; without room it is answered 429 budget_exceeded. Use is counted by name, so a key that is declared again continues its count. */
  budgets?: Array<{
    /** The tokens per period, as answers report them. */
    tokens?: number | undefined;
    /** The cost per period by the servers' price list, such as "250.00", as text. */
    cost?: string | undefined;
    /** The ISO 4217 currency of cost, that of the servers' price list. */
    currency?: string | undefined;
    /** When the budget resets: each Day, Week (on Monday) or Month (on its first day); Total: never. */
    period: "Day" | "Week" | "Month" | "Total";
    /** The IANA time zone of the period, such as Europe/Berlin. Default `"UTC"`. */
    timeZone?: string | undefined;
    /** Refuse: calls without room are answered 429 budget_exceeded. Alert: they pass and are counted. Default `"Refuse"`. */
    onExhausted?: "Refuse" | "Alert" | undefined;
  }> | undefined;
  /** Whom to ask about the key, such as an address. It is shown with the key, also to its holder, and decides nothing. */
  owner?: string | undefined;
  /** secret, the key comes out as secret, encrypted in the state; or none, it comes out nowhere and only its hash is kept. Default `"secret"`. */
  deliver?: "secret" | "none" | undefined;
  /** When a new version replaces the current one, and how long both work. */
  rotation?: {
    /** How old the key may become before an up puts a new one in its place: a Go duration such as 720h. Without it nothing rotates by time. */
    interval?: string | undefined;
    /** How long the old key works on beside the new one: a Go duration; 0s for not at all. Default `"24h"`. */
    overlap?: string | undefined;
    /** Any text. A change creates a new version. */
    trigger?: string | undefined;
  } | undefined;
  /** Why, for the audit log. Not a place for a secret. */
  reason?: string | undefined;
  /** The key's permanent id. */
  keyID: string;
  /** The current version's first 12 characters, which never authenticate. */
  prefix: string;
  /** The scopes that preset or scopes grant. */
  effectiveScopes: string[];
  /** The id of its team. */
  teamId: string;
  /** Its versions, the newest first. */
  versions: Array<{
    /** Counts from 1. */
    number: number;
    /** Whether it works, is being replaced, or has ended. */
    state: "reserved" | "active" | "retiring" | "retired" | "revoked";
    /** When it was created or imported. */
    mintedAt: string;
    /** When its delivery was confirmed. */
    activatedAt?: string | undefined;
    /** The latest end of a retiring version. */
    retiresAt?: string | undefined;
    /** When it ends by expiresAfter. */
    expiresAt?: string | undefined;
    /** The first 12 characters of this version. */
    prefix: string;
  }>;
  /** The key. Undefined with deliver: none, and of a key that was imported or is only looked up. A secret. */
  secret: string;
  /** The key before the last rotation, for as long as it works beside the new one. A secret. */
  previousSecret?: string | undefined;
  /** When the current version ends, by expiresAfter or expiresAt. */
  expiresTime?: string | undefined;
  /** The receipt of its revocation, where it is revoked. */
  revocation?: {
    /** Why. */
    reason: string;
    /** When, RFC 3339. */
    at: string;
    /** Its place in the change feed. */
    sequence?: number | undefined;
    /** Whether no server replica accepts the key any more. */
    confirmed: boolean;
  } | undefined;
};

/** A team: its namespaces, and the people and machines that may manage its keys by the management API. */
export type PlatformTeamArgs = {
  /** The team's name, at most 63 characters. Made from the resource's name where it is left out. */
  name?: Input<string> | undefined;
  /** The name shown in lists; default: the object's name. */
  displayName?: Input<string> | undefined;
  /** The team's namespaces. A namespace belongs to at most one team: the one that holds it, or else the oldest that claims it. The cluster's and Keyplane's own belong to none. Default `[]`. */
  namespaces?: Input<Input<string>[]> | undefined;
  /** The team's members, each by exactly one of OIDC subject, OIDC group and Kubernetes ServiceAccount. Default `[]`. */
  members?: Input<Array<Input<{
    /** admin and member view, create and revoke keys; viewer only views them. */
    role: Input<"admin" | "member" | "viewer">;
    /** The subject of an OIDC token. */
    subject?: Input<string> | undefined;
    /** A group of an OIDC token. */
    group?: Input<string> | undefined;
    /** A Kubernetes ServiceAccount. */
    serviceAccount?: Input<{
      /** Its namespace. */
      namespace: Input<string>;
      /** Its name. */
      name: Input<string>;
    }> | undefined;
    /** The libraries that the member's tokens may use over MCP; default: all of the team. A missing one grants nothing. Of several entries for a person, those with the strongest role apply. */
    libraryRefs?: Input<Array<Input<{
      /** The MemoryLibrary's name. */
      name: Input<string>;
      /** The MemoryLibrary's namespace, one of the team's; left out for a library that is in no namespace. */
      namespace?: Input<string> | undefined;
    }>>> | undefined;
  }>>> | undefined;
  /** Defaults for MCP clients whose key has none. */
  mcpAgentPolicy?: Input<{
    /** The library when neither the call nor the key names one. */
    defaultLibraryRef?: Input<{
      /** The MemoryLibrary's name. */
      name: Input<string>;
      /** The MemoryLibrary's namespace, one of the team's; left out for a library that is in no namespace. */
      namespace?: Input<string> | undefined;
    }> | undefined;
  }> | undefined;
  /** The IPv4 and IPv6 networks that the team's keys, and its members' tokens over MCP, may be used from; default: any. A key's own list applies too. It does not restrict console sign-in or the management API. */
  allowedCIDRs?: Input<Input<string>[]> | undefined;
  /** The tokens or cost of the model calls of all the team's keys and libraries per day, week, month or in total; checked and counted as a key's budgets. A team that is declared again continues its count. */
  budgets?: Input<Array<Input<{
    /** The tokens per period, as answers report them. */
    tokens?: Input<number> | undefined;
    /** The cost per period by the servers' price list, such as "250.00", as text. */
    cost?: Input<string> | undefined;
    /** The ISO 4217 currency of cost, that of the servers' price list. */
    currency?: Input<string> | undefined;
    /** When the budget resets: each Day, Week (on Monday) or Month (on its first day); Total: never. */
    period: Input<"Day" | "Week" | "Month" | "Total">;
    /** The IANA time zone of the period, such as Europe/Berlin. Default `"UTC"`. */
    timeZone?: Input<string> | undefined;
    /** Refuse: calls without room are answered 429 budget_exceeded. Alert: they pass and are counted. Default `"Refuse"`. */
    onExhausted?: Input<"Refuse" | "Alert"> | undefined;
  }>>> | undefined;
  /** The limits of all the team's keys together, with its members' tokens over MCP and its libraries' model calls; default: unlimited. A key's own limits apply too. */
  rateLimit?: Input<{
    /** The sustained requests per minute; default: unlimited. */
    requestsPerMinute?: Input<number> | undefined;
    /** Requests at once; default: a minute's worth. */
    burst?: Input<number> | undefined;
    /** The tokens of model calls per minute, sustained and at once; default: unlimited. A call reserves what it is expected to use and is charged what its answer reports. */
    tokensPerMinute?: Input<number> | undefined;
    /** Who counts requests and tokens: Installation, all server replicas together; Replica (default), each by itself. */
    scope?: Input<"Replica" | "Installation"> | undefined;
    /** Concurrent calls per replica, streams included; default: unlimited. */
    concurrent?: Input<number> | undefined;
  }> | undefined;
  /** What happens to a key that is reported as leaked. */
  leaks?: Input<{
    /** Alert records it and sets a condition of the key; Revoke also ends the key at once. If an old version has leaked beside a newer one, only the old one ends. Default `"Alert"`. */
    action?: Input<"Revoke" | "Alert"> | undefined;
  }> | undefined;
  /** Receivers of events of the team's keys, as a signed POST (Standard Webhooks). Default `[]`. */
  webhooks?: Input<Array<Input<{
    /** The https URL that receives events. Private addresses are refused unless the installation allows them as upstreams; only these may use http. Redirects are not followed. */
    url: Input<string>;
    /** The events to post. */
    events: Input<Array<Input<"key.expiring" | "key.rotated" | "key.consumer_late" | "key.revoked" | "key.leaked" | "key.budget_reached" | "team.budget_reached">>>;
    /** The signing secret: whsec_ and 24 to 64 random bytes in base64. It goes in and never comes out. Left out in a change, the one that is stored stays, as long as the URL does. A secret. */
    secret?: Input<string> | undefined;
  }>>> | undefined;
};

/** A team: its namespaces, and the people and machines that may manage its keys by the management API. */
export type PlatformTeamState = {
  /** The team's name, at most 63 characters. */
  name: string;
  /** The name shown in lists; default: the object's name. */
  displayName?: string | undefined;
  /** The team's namespaces. A namespace belongs to at most one team: the one that holds it, or else the oldest that claims it. The cluster's and Keyplane's own belong to none. Default `[]`. */
  namespaces?: string[] | undefined;
  /** The team's members, each by exactly one of OIDC subject, OIDC group and Kubernetes ServiceAccount. Default `[]`. */
  members?: Array<{
    /** admin and member view, create and revoke keys; viewer only views them. */
    role: "admin" | "member" | "viewer";
    /** The subject of an OIDC token. */
    subject?: string | undefined;
    /** A group of an OIDC token. */
    group?: string | undefined;
    /** A Kubernetes ServiceAccount. */
    serviceAccount?: {
      /** Its namespace. */
      namespace: string;
      /** Its name. */
      name: string;
    } | undefined;
    /** The libraries that the member's tokens may use over MCP; default: all of the team. A missing one grants nothing. Of several entries for a person, those with the strongest role apply. */
    libraryRefs?: Array<{
      /** The MemoryLibrary's name. */
      name: string;
      /** The MemoryLibrary's namespace, one of the team's; left out for a library that is in no namespace. */
      namespace?: string | undefined;
    }> | undefined;
  }> | undefined;
  /** Defaults for MCP clients whose key has none. */
  mcpAgentPolicy?: {
    /** The library when neither the call nor the key names one. */
    defaultLibraryRef?: {
      /** The MemoryLibrary's name. */
      name: string;
      /** The MemoryLibrary's namespace, one of the team's; left out for a library that is in no namespace. */
      namespace?: string | undefined;
    } | undefined;
  } | undefined;
  /** The IPv4 and IPv6 networks that the team's keys, and its members' tokens over MCP, may be used from; default: any. A key's own list applies too. It does not restrict console sign-in or the management API. */
  allowedCIDRs?: string[] | undefined;
  /** The tokens or cost of the model calls of all the team's keys and libraries per day, week, month or in total; checked and counted as a key's budgets. A team that is declared again continues its count. */
  budgets?: Array<{
    /** The tokens per period, as answers report them. */
    tokens?: number | undefined;
    /** The cost per period by the servers' price list, such as "250.00", as text. */
    cost?: string | undefined;
    /** The ISO 4217 currency of cost, that of the servers' price list. */
    currency?: string | undefined;
    /** When the budget resets: each Day, Week (on Monday) or Month (on its first day); Total: never. */
    period: "Day" | "Week" | "Month" | "Total";
    /** The IANA time zone of the period, such as Europe/Berlin. Default `"UTC"`. */
    timeZone?: string | undefined;
    /** Refuse: calls without room are answered 429 budget_exceeded. Alert: they pass and are counted. Default `"Refuse"`. */
    onExhausted?: "Refuse" | "Alert" | undefined;
  }> | undefined;
  /** The limits of all the team's keys together, with its members' tokens over MCP and its libraries' model calls; default: unlimited. A key's own limits apply too. */
  rateLimit?: {
    /** The sustained requests per minute; default: unlimited. */
    requestsPerMinute?: number | undefined;
    /** Requests at once; default: a minute's worth. */
    burst?: number | undefined;
    /** The tokens of model calls per minute, sustained and at once; default: unlimited. A call reserves what it is expected to use and is charged what its answer reports. */
    tokensPerMinute?: number | undefined;
    /** Who counts requests and tokens: Installation, all server replicas together; Replica (default), each by itself. */
    scope?: "Replica" | "Installation" | undefined;
    /** Concurrent calls per replica, streams included; default: unlimited. */
    concurrent?: number | undefined;
  } | undefined;
  /** What happens to a key that is reported as leaked. */
  leaks?: {
    /** Alert records it and sets a condition of the key; Revoke also ends the key at once. If an old version has leaked beside a newer one, only the old one ends. Default `"Alert"`. */
    action?: "Revoke" | "Alert" | undefined;
  } | undefined;
  /** Receivers of events of the team's keys, as a signed POST (Standard Webhooks). Default `[]`. */
  webhooks?: Array<{
    /** The https URL that receives events. Private addresses are refused unless the installation allows them as upstreams; only these may use http. Redirects are not followed. */
    url: string;
    /** The events to post. */
    events: Array<"key.expiring" | "key.rotated" | "key.consumer_late" | "key.revoked" | "key.leaked" | "key.budget_reached" | "team.budget_reached">;
    /** The signing secret: whsec_ and 24 to 64 random bytes in base64. It goes in and never comes out. Left out in a change, the one that is stored stays, as long as the URL does. A secret. */
    secret?: string | undefined;
  }> | undefined;
  /** Webhooks without a signing secret, to which nothing is sent. */
  missingSecrets: string[];
};

/** A gateway to model providers, served under /g/ and its public id. Clients never see provider credentials. */
export type ModelGatewayArgs = {
  /** The gateway's name, unique in its namespace, at most 63 characters. Made from the resource's name where it is left out. */
  name?: Input<string> | undefined;
  /** The team that it belongs to, by its name. */
  team: Input<string>;
  /** One of the namespaces of a team that was made here; none where it is left out. */
  namespace?: Input<string> | undefined;
  /** The gateway's id in URLs, unique in the installation; default: generated. Immutable. */
  publicID?: Input<string> | undefined;
  /** Whether to serve only models that a route names. Default `false`. */
  routesOnly?: Input<boolean> | undefined;
  /** The calls that it serves, by kind; others get 404. The reference of the gateway's calls lists which paths are of which kind. Default `["generate","embed","models"]`. */
  operations?: Input<Array<Input<"generate" | "embed" | "models" | "images" | "audio" | "moderations" | "responses" | "files" | "batches" | "vectorStores">>> | undefined;
  /** The providers. A request goes to the first one of its path's dialect, unless a route names another. */
  upstreams: Input<Array<Input<{
    /** The name that routes refer to. */
    name: Input<string>;
    /** The API it speaks. */
    dialect: Input<"openai" | "gemini" | "anthropic">;
    /** The http or https URL of its origin, with a path prefix if it has one, as the provider gives it for the dialect's SDK. The operation's path, such as /v1/chat/completions, is appended: with openai, without its version where the prefix has one, such as /v1, /api/paas/v4 or /v1beta/openai; with gemini, where the prefix is one; with anthropic, where it ends in /v1. Private addresses are refused unless the installation allows them. */
    baseURL: Input<string>;
    /** The provider's credential. It goes in and never comes out. Left out in a change, the one that is stored stays, as long as the upstream's dialect and baseURL do. A secret. */
    credential?: Input<string> | undefined;
    /** True, without a credential, for an upstream that calls go to without one. */
    noCredential?: Input<boolean> | undefined;
  }>>>;
  /** Names that clients may use for a model, and their targets. Default `[]`. */
  routes?: Input<Array<Input<{
    /** The name in the client's request. */
    model: Input<string>;
    /** The route's id, sent in the answer's header x-keyplane-route-id. */
    routeID: Input<string>;
    /** The name of the upstream. */
    upstream: Input<string>;
    /** The model to request from it. */
    upstreamModel: Input<string>;
    /** Its share of first calls; without weights, all. */
    weight?: Input<number> | undefined;
    /** Key keeps a key's calls at one upstream. */
    sticky?: Input<"Key"> | undefined;
    /** The limits of calls that name the route, of all keys together, such as for an upstream's quota; default: unlimited. The limits of keys and teams apply too. A call counts once, with its fallbacks. */
    rateLimit?: Input<{
      /** The sustained requests per minute; default: unlimited. */
      requestsPerMinute?: Input<number> | undefined;
      /** Requests at once; default: a minute's worth. */
      burst?: Input<number> | undefined;
      /** The tokens of model calls per minute, sustained and at once; default: unlimited. A call reserves what it is expected to use and is charged what its answer reports. */
      tokensPerMinute?: Input<number> | undefined;
      /** Who counts requests and tokens: Installation, all server replicas together; Replica (default), each by itself. */
      scope?: Input<"Replica" | "Installation"> | undefined;
      /** Concurrent calls per replica, streams included; default: unlimited. */
      concurrent?: Input<number> | undefined;
    }> | undefined;
    /** What to try, in this order, when the upstream refuses the connection, answers 429 or 5xx, or times out. Default `[]`. */
    fallbacks?: Input<Array<Input<{
      /** The name of the upstream, of the same dialect as the route's. */
      upstream: Input<string>;
      /** The model to request from it. */
      upstreamModel: Input<string>;
      /** Its share of first calls; default: 0. */
      weight?: Input<number> | undefined;
    }>>> | undefined;
    /** Retries at the same upstream after 429, 5xx or a failed connection, before the fallbacks; default: none. */
    retry?: Input<{
      /** The retries at each upstream. */
      attempts: Input<number>;
    }> | undefined;
    /** The times of its calls. */
    timeouts?: Input<{
      /** Seconds until the answer begins, over all attempts; default: 600 for each upstream, or 60 where a fallback is left. */
      firstByteSeconds?: Input<number> | undefined;
      /** Seconds without a piece of the answer; default 300. */
      idleSeconds?: Input<number> | undefined;
    }> | undefined;
  }>>> | undefined;
};

/** A gateway to model providers, served under /g/ and its public id. Clients never see provider credentials. */
export type ModelGatewayState = {
  /** The gateway's name, unique in its namespace, at most 63 characters. */
  name: string;
  /** The team that it belongs to, by its name. */
  team: string;
  /** One of the namespaces of a team that was made here; none where it is left out. */
  namespace?: string | undefined;
  /** The gateway's id in URLs, unique in the installation; default: generated. Immutable. */
  publicID: string;
  /** Whether to serve only models that a route names. Default `false`. */
  routesOnly?: boolean | undefined;
  /** The calls that it serves, by kind; others get 404. The reference of the gateway's calls lists which paths are of which kind. Default `["generate","embed","models"]`. */
  operations?: Array<"generate" | "embed" | "models" | "images" | "audio" | "moderations" | "responses" | "files" | "batches" | "vectorStores"> | undefined;
  /** The providers. A request goes to the first one of its path's dialect, unless a route names another. */
  upstreams: Array<{
    /** The name that routes refer to. */
    name: string;
    /** The API it speaks. */
    dialect: "openai" | "gemini" | "anthropic";
    /** The http or https URL of its origin, with a path prefix if it has one, as the provider gives it for the dialect's SDK. The operation's path, such as /v1/chat/completions, is appended: with openai, without its version where the prefix has one, such as /v1, /api/paas/v4 or /v1beta/openai; with gemini, where the prefix is one; with anthropic, where it ends in /v1. Private addresses are refused unless the installation allows them. */
    baseURL: string;
    /** The provider's credential. It goes in and never comes out. Left out in a change, the one that is stored stays, as long as the upstream's dialect and baseURL do. A secret. */
    credential?: string | undefined;
    /** True, without a credential, for an upstream that calls go to without one. */
    noCredential?: boolean | undefined;
  }>;
  /** Names that clients may use for a model, and their targets. Default `[]`. */
  routes?: Array<{
    /** The name in the client's request. */
    model: string;
    /** The route's id, sent in the answer's header x-keyplane-route-id. */
    routeID: string;
    /** The name of the upstream. */
    upstream: string;
    /** The model to request from it. */
    upstreamModel: string;
    /** Its share of first calls; without weights, all. */
    weight?: number | undefined;
    /** Key keeps a key's calls at one upstream. */
    sticky?: "Key" | undefined;
    /** The limits of calls that name the route, of all keys together, such as for an upstream's quota; default: unlimited. The limits of keys and teams apply too. A call counts once, with its fallbacks. */
    rateLimit?: {
      /** The sustained requests per minute; default: unlimited. */
      requestsPerMinute?: number | undefined;
      /** Requests at once; default: a minute's worth. */
      burst?: number | undefined;
      /** The tokens of model calls per minute, sustained and at once; default: unlimited. A call reserves what it is expected to use and is charged what its answer reports. */
      tokensPerMinute?: number | undefined;
      /** Who counts requests and tokens: Installation, all server replicas together; Replica (default), each by itself. */
      scope?: "Replica" | "Installation" | undefined;
      /** Concurrent calls per replica, streams included; default: unlimited. */
      concurrent?: number | undefined;
    } | undefined;
    /** What to try, in this order, when the upstream refuses the connection, answers 429 or 5xx, or times out. Default `[]`. */
    fallbacks?: Array<{
      /** The name of the upstream, of the same dialect as the route's. */
      upstream: string;
      /** The model to request from it. */
      upstreamModel: string;
      /** Its share of first calls; default: 0. */
      weight?: number | undefined;
    }> | undefined;
    /** Retries at the same upstream after 429, 5xx or a failed connection, before the fallbacks; default: none. */
    retry?: {
      /** The retries at each upstream. */
      attempts: number;
    } | undefined;
    /** The times of its calls. */
    timeouts?: {
      /** Seconds until the answer begins, over all attempts; default: 600 for each upstream, or 60 where a fallback is left. */
      firstByteSeconds?: number | undefined;
      /** Seconds without a piece of the answer; default 300. */
      idleSeconds?: number | undefined;
    } | undefined;
  }> | undefined;
  /** The id of its team. */
  teamId: string;
  /** Upstreams whose credential is missing, which forward nothing. */
  missingCredentials: string[];
};

/** A library of atoms: remembered statements that keys with a memory scope read and write. */
export type MemoryLibraryArgs = {
  /** The library's name, unique in its namespace, at most 63 characters. Made from the resource's name where it is left out. */
  name?: Input<string> | undefined;
  /** The team that it belongs to, by its name. */
  team: Input<string>;
  /** One of the namespaces of a team that was made here; none where it is left out. */
  namespace?: Input<string> | undefined;
  /** The name shown in lists; default: the object's name. */
  displayName?: Input<string> | undefined;
  /** What belongs in the library, for people and models. */
  description?: Input<string> | undefined;
  /** When the declaration is deleted: Retain the atoms for a later library of the same name; or Delete them. Default `"Retain"`. */
  deletionPolicy?: Input<"Retain" | "Delete"> | undefined;
  /** Search by meaning. Each atom is embedded after its save through a gateway of the team, with a key of the library that may call only this model there. The atoms' text is sent to that gateway. Left out, search uses words only. */
  embedding?: Input<{
    /** The ModelGateway to embed through, with an upstream that speaks openai or gemini. */
    gatewayRef: Input<{
      /** The ModelGateway's name. */
      name: Input<string>;
      /** Its namespace, which must be of the same team; default: the library's. */
      namespace?: Input<string> | undefined;
    }>;
    /** The embedding model or a logical route of the gateway. A change embeds all atoms again. */
    model: Input<string>;
    /** The vector's length, for a model that can return shorter ones. */
    dimensions?: Input<number> | undefined;
  }> | undefined;
  /** Lets a model extract atoms from submitted conversations after the call, through a gateway of the team, with a key of the library that may call only this model there. The conversations are sent to that gateway. Left out, the library accepts no conversation. */
  extraction?: Input<{
    /** The ModelGateway to read conversations through. */
    gatewayRef: Input<{
      /** The ModelGateway's name. */
      name: Input<string>;
      /** Its namespace, which must be of the same team; default: the library's. */
      namespace?: Input<string> | undefined;
    }>;
    /** The model or a logical route of the gateway. */
    model: Input<string>;
    /** The tokens of conversations per day (UTC), estimated with the model's longest answers. Beyond it, conversations are refused until the next day. Default `1000000`. */
    tokensPerDay?: Input<number> | undefined;
  }> | undefined;
};

/** A library of atoms: remembered statements that keys with a memory scope read and write. */
export type MemoryLibraryState = {
  /** The library's name, unique in its namespace, at most 63 characters. */
  name: string;
  /** The team that it belongs to, by its name. */
  team: string;
  /** One of the namespaces of a team that was made here; none where it is left out. */
  namespace?: string | undefined;
  /** The name shown in lists; default: the object's name. */
  displayName?: string | undefined;
  /** What belongs in the library, for people and models. */
  description?: string | undefined;
  /** When the declaration is deleted: Retain the atoms for a later library of the same name; or Delete them. Default `"Retain"`. */
  deletionPolicy?: "Retain" | "Delete" | undefined;
  /** Search by meaning. Each atom is embedded after its save through a gateway of the team, with a key of the library that may call only this model there. The atoms' text is sent to that gateway. Left out, search uses words only. */
  embedding?: {
    /** The ModelGateway to embed through, with an upstream that speaks openai or gemini. */
    gatewayRef: {
      /** The ModelGateway's name. */
      name: string;
      /** Its namespace, which must be of the same team; default: the library's. */
      namespace?: string | undefined;
    };
    /** The embedding model or a logical route of the gateway. A change embeds all atoms again. */
    model: string;
    /** The vector's length, for a model that can return shorter ones. */
    dimensions?: number | undefined;
  } | undefined;
  /** Lets a model extract atoms from submitted conversations after the call, through a gateway of the team, with a key of the library that may call only this model there. The conversations are sent to that gateway. Left out, the library accepts no conversation. */
  extraction?: {
    /** The ModelGateway to read conversations through. */
    gatewayRef: {
      /** The ModelGateway's name. */
      name: string;
      /** Its namespace, which must be of the same team; default: the library's. */
      namespace?: string | undefined;
    };
    /** The model or a logical route of the gateway. */
    model: string;
    /** The tokens of conversations per day (UTC), estimated with the model's longest answers. Beyond it, conversations are refused until the next day. Default `1000000`. */
    tokensPerDay?: number | undefined;
  } | undefined;
  /** The id of its team. */
  teamId: string;
};

export type GetKeyArgs = {
  /** Its id. */
  id?: string | undefined;
  /** The key's name, unique in its namespace; also its label's value, hence at most 63 characters. */
  name?: string | undefined;
  /** The team that it belongs to, by its name. */
  team?: string | undefined;
  /** One of the namespaces of a team that was made here; none where it is left out. */
  namespace?: string | undefined;
};

/** An API key: what it may do, and how long it lives. */
export type GetKeyResult = {
  /** Its id. */
  id: string;
  /** The key's name, unique in its namespace; also its label's value, hence at most 63 characters. */
  name: string;
  /** The team that it belongs to, by its name. */
  team: string;
  /** One of the namespaces of a team that was made here; none where it is left out. */
  namespace?: string | undefined;
  /** The name shown in lists; default: the object's name. */
  displayName?: string | undefined;
  /** A set of scopes, instead of scopes. MCPReadOnly: memory:read. MCPReadWrite: memory:read, memory:write. GatewayDefault: gateway:generate, gateway:embed, gateway:routes, memory:read. */
  preset?: "MCPReadOnly" | "MCPReadWrite" | "GatewayDefault" | undefined;
  /** What the key may do, instead of preset; without wildcards. */
  scopes?: Array<"gateway:generate" | "gateway:embed" | "gateway:routes" | "memory:read" | "memory:write" | "gateway:files"> | undefined;
  /** The only gateway that the key may call; default: any of its team. Needs a gateway scope to have an effect. */
  gatewayRef?: {
    /** The ModelGateway's name. */
    name: string;
    /** Its namespace, which must be of the same team; default: the key's. */
    namespace?: string | undefined;
  } | undefined;
  /** The routes and models that the key may use; default: any. Needs a gateway scope to have an effect. */
  allowedModels?: string[] | undefined;
  /** The memory libraries that the key may use. Only with a memory scope. */
  libraryAccess?: {
    /** All: every library of the team. Restricted: only libraryRefs. Default `"All"`. */
    mode?: "All" | "Restricted" | undefined;
    /** The libraries of a Restricted key. A missing one grants nothing and has no substitute. */
    libraryRefs?: Array<{
      /** The MemoryLibrary's name. */
      name: string;
      /** Its namespace, which must be of the same team; default: the key's. */
      namespace?: string | undefined;
    }> | undefined;
  } | undefined;
  /** The library of MCP calls that name none; default: the team's. One of libraryRefs when access is Restricted. Only with a memory scope. */
  mcpDefaultLibraryRef?: {
    /** The MemoryLibrary's name. */
    name: string;
    /** Its namespace, which must be of the same team; default: the key's. */
    namespace?: string | undefined;
  } | undefined;
  /** The subject, an end user or agent, whose memory the key uses. The key reads the subject's and the shared atoms of its libraries, and writes only the subject's. Left out, it uses only shared atoms. Only with a memory scope. */
  subjectAccess?: {
    /** Bound: one subject for every call. Required: each call names one in the header X-Keyplane-Subject. */
    mode: "Bound" | "Required";
    /** The subject of a Bound key. */
    subject?: string | undefined;
  } | undefined;
  /** The IPv4 and IPv6 networks that the key may be used from; default: any. The client's address is the one that trusted proxies report. The team's list applies too. */
  allowedCIDRs?: string[] | undefined;
  /** Active; or Suspended, refused until it is Active again. A key ends with its resource. Default `"Active"`. */
  state?: "Active" | "Suspended" | undefined;
  /** The lifetime of each version from its creation, a Go duration such as 2160h. Not together with expiresAt. */
  expiresAfter?: string | undefined;
  /** When the whole key expires. A later time revives an expired key. Not together with expiresAfter. */
  expiresAt?: string | undefined;
  /** The key's limits; default: an unlimited rate, and 256 concurrent calls per server replica. */
  rateLimit?: {
    /** The sustained requests per minute; default: unlimited. */
    requestsPerMinute?: number | undefined;
    /** Requests at once; default: a minute's worth. */
    burst?: number | undefined;
    /** The tokens of model calls per minute, sustained and at once; default: unlimited. A call reserves what it is expected to use and is charged what its answer reports. */
    tokensPerMinute?: number | undefined;
    /** Who counts requests and tokens: Installation, all server replicas together; Replica (default), each by itself. */
    scope?: "Replica" | "Installation" | undefined;
    /** Concurrent calls per replica, streams included; default: 256. */
    concurrent?: number | undefined;
  } | undefined;
  /** The tokens or cost of the key's model calls per day, week, month or in total. A call reserves what it may use and is charged what its answer reports; without room it is answered 429 budget_exceeded. Use is counted by name, so a key that is declared again continues its count. */
  budgets?: Array<{
    /** The tokens per period, as answers report them. */
    tokens?: number | undefined;
    /** The cost per period by the servers' price list, such as "250.00", as text. */
    cost?: string | undefined;
    /** The ISO 4217 currency of cost, that of the servers' price list. */
    currency?: string | undefined;
    /** When the budget resets: each Day, Week (on Monday) or Month (on its first day); Total: never. */
    period: "Day" | "Week" | "Month" | "Total";
    /** The IANA time zone of the period, such as Europe/Berlin. Default `"UTC"`. */
    timeZone?: string | undefined;
    /** Refuse: calls without room are answered 429 budget_exceeded. Alert: they pass and are counted. Default `"Refuse"`. */
    onExhausted?: "Refuse" | "Alert" | undefined;
  }> | undefined;
  /** Whom to ask about the key, such as an address. It is shown with the key, also to its holder, and decides nothing. */
  owner?: string | undefined;
  /** The key's permanent id. */
  keyID: string;
  /** The current version's first 12 characters, which never authenticate. */
  prefix: string;
  /** The scopes that preset or scopes grant. */
  effectiveScopes: string[];
  /** The id of its team. */
  teamId: string;
  /** Its versions, the newest first. */
  versions: Array<{
    /** Counts from 1. */
    number: number;
    /** Whether it works, is being replaced, or has ended. */
    state: "reserved" | "active" | "retiring" | "retired" | "revoked";
    /** When it was created or imported. */
    mintedAt: string;
    /** When its delivery was confirmed. */
    activatedAt?: string | undefined;
    /** The latest end of a retiring version. */
    retiresAt?: string | undefined;
    /** When it ends by expiresAfter. */
    expiresAt?: string | undefined;
    /** The first 12 characters of this version. */
    prefix: string;
  }>;
  /** When the current version ends, by expiresAfter or expiresAt. */
  expiresTime?: string | undefined;
  /** The receipt of its revocation, where it is revoked. */
  revocation?: {
    /** Why. */
    reason: string;
    /** When, RFC 3339. */
    at: string;
    /** Its place in the change feed. */
    sequence?: number | undefined;
    /** Whether no server replica accepts the key any more. */
    confirmed: boolean;
  } | undefined;
};

export type GetTeamArgs = {
  /** Its id. */
  id?: string | undefined;
  /** The team's name, at most 63 characters. */
  name?: string | undefined;
};

/** A team: its namespaces, and the people and machines that may manage its keys by the management API. */
export type GetTeamResult = {
  /** Its id. */
  id: string;
  /** The team's name, at most 63 characters. */
  name: string;
  /** The name shown in lists; default: the object's name. */
  displayName?: string | undefined;
  /** The team's namespaces. A namespace belongs to at most one team: the one that holds it, or else the oldest that claims it. The cluster's and Keyplane's own belong to none. Default `[]`. */
  namespaces?: string[] | undefined;
  /** The team's members, each by exactly one of OIDC subject, OIDC group and Kubernetes ServiceAccount. Default `[]`. */
  members?: Array<{
    /** admin and member view, create and revoke keys; viewer only views them. */
    role: "admin" | "member" | "viewer";
    /** The subject of an OIDC token. */
    subject?: string | undefined;
    /** A group of an OIDC token. */
    group?: string | undefined;
    /** A Kubernetes ServiceAccount. */
    serviceAccount?: {
      /** Its namespace. */
      namespace: string;
      /** Its name. */
      name: string;
    } | undefined;
    /** The libraries that the member's tokens may use over MCP; default: all of the team. A missing one grants nothing. Of several entries for a person, those with the strongest role apply. */
    libraryRefs?: Array<{
      /** The MemoryLibrary's name. */
      name: string;
      /** The MemoryLibrary's namespace, one of the team's; left out for a library that is in no namespace. */
      namespace?: string | undefined;
    }> | undefined;
  }> | undefined;
  /** Defaults for MCP clients whose key has none. */
  mcpAgentPolicy?: {
    /** The library when neither the call nor the key names one. */
    defaultLibraryRef?: {
      /** The MemoryLibrary's name. */
      name: string;
      /** The MemoryLibrary's namespace, one of the team's; left out for a library that is in no namespace. */
      namespace?: string | undefined;
    } | undefined;
  } | undefined;
  /** The IPv4 and IPv6 networks that the team's keys, and its members' tokens over MCP, may be used from; default: any. A key's own list applies too. It does not restrict console sign-in or the management API. */
  allowedCIDRs?: string[] | undefined;
  /** The tokens or cost of the model calls of all the team's keys and libraries per day, week, month or in total; checked and counted as a key's budgets. A team that is declared again continues its count. */
  budgets?: Array<{
    /** The tokens per period, as answers report them. */
    tokens?: number | undefined;
    /** The cost per period by the servers' price list, such as "250.00", as text. */
    cost?: string | undefined;
    /** The ISO 4217 currency of cost, that of the servers' price list. */
    currency?: string | undefined;
    /** When the budget resets: each Day, Week (on Monday) or Month (on its first day); Total: never. */
    period: "Day" | "Week" | "Month" | "Total";
    /** The IANA time zone of the period, such as Europe/Berlin. Default `"UTC"`. */
    timeZone?: string | undefined;
    /** Refuse: calls without room are answered 429 budget_exceeded. Alert: they pass and are counted. Default `"Refuse"`. */
    onExhausted?: "Refuse" | "Alert" | undefined;
  }> | undefined;
  /** The limits of all the team's keys together, with its members' tokens over MCP and its libraries' model calls; default: unlimited. A key's own limits apply too. */
  rateLimit?: {
    /** The sustained requests per minute; default: unlimited. */
    requestsPerMinute?: number | undefined;
    /** Requests at once; default: a minute's worth. */
    burst?: number | undefined;
    /** The tokens of model calls per minute, sustained and at once; default: unlimited. A call reserves what it is expected to use and is charged what its answer reports. */
    tokensPerMinute?: number | undefined;
    /** Who counts requests and tokens: Installation, all server replicas together; Replica (default), each by itself. */
    scope?: "Replica" | "Installation" | undefined;
    /** Concurrent calls per replica, streams included; default: unlimited. */
    concurrent?: number | undefined;
  } | undefined;
  /** What happens to a key that is reported as leaked. */
  leaks?: {
    /** Alert records it and sets a condition of the key; Revoke also ends the key at once. If an old version has leaked beside a newer one, only the old one ends. Default `"Alert"`. */
    action?: "Revoke" | "Alert" | undefined;
  } | undefined;
  /** Receivers of events of the team's keys, as a signed POST (Standard Webhooks). Default `[]`. */
  webhooks?: Array<{
    /** The https URL that receives events. Private addresses are refused unless the installation allows them as upstreams; only these may use http. Redirects are not followed. */
    url: string;
    /** The events to post. */
    events: Array<"key.expiring" | "key.rotated" | "key.consumer_late" | "key.revoked" | "key.leaked" | "key.budget_reached" | "team.budget_reached">;
    /** The signing secret: whsec_ and 24 to 64 random bytes in base64. It goes in and never comes out. Left out in a change, the one that is stored stays, as long as the URL does. A secret. */
    secret?: string | undefined;
  }> | undefined;
  /** Webhooks without a signing secret, to which nothing is sent. */
  missingSecrets: string[];
};

export type GetGatewayArgs = {
  /** Its id. */
  id?: string | undefined;
  /** The gateway's name, unique in its namespace, at most 63 characters. */
  name?: string | undefined;
  /** The team that it belongs to, by its name. */
  team?: string | undefined;
  /** One of the namespaces of a team that was made here; none where it is left out. */
  namespace?: string | undefined;
};

/** A gateway to model providers, served under /g/ and its public id. Clients never see provider credentials. */
export type GetGatewayResult = {
  /** Its id. */
  id: string;
  /** The gateway's name, unique in its namespace, at most 63 characters. */
  name: string;
  /** The team that it belongs to, by its name. */
  team: string;
  /** One of the namespaces of a team that was made here; none where it is left out. */
  namespace?: string | undefined;
  /** The gateway's id in URLs, unique in the installation; default: generated. Immutable. */
  publicID: string;
  /** Whether to serve only models that a route names. Default `false`. */
  routesOnly?: boolean | undefined;
  /** The calls that it serves, by kind; others get 404. The reference of the gateway's calls lists which paths are of which kind. Default `["generate","embed","models"]`. */
  operations?: Array<"generate" | "embed" | "models" | "images" | "audio" | "moderations" | "responses" | "files" | "batches" | "vectorStores"> | undefined;
  /** The providers. A request goes to the first one of its path's dialect, unless a route names another. */
  upstreams: Array<{
    /** The name that routes refer to. */
    name: string;
    /** The API it speaks. */
    dialect: "openai" | "gemini" | "anthropic";
    /** The http or https URL of its origin, with a path prefix if it has one, as the provider gives it for the dialect's SDK. The operation's path, such as /v1/chat/completions, is appended: with openai, without its version where the prefix has one, such as /v1, /api/paas/v4 or /v1beta/openai; with gemini, where the prefix is one; with anthropic, where it ends in /v1. Private addresses are refused unless the installation allows them. */
    baseURL: string;
    /** The provider's credential. It goes in and never comes out. Left out in a change, the one that is stored stays, as long as the upstream's dialect and baseURL do. A secret. */
    credential?: string | undefined;
    /** True, without a credential, for an upstream that calls go to without one. */
    noCredential?: boolean | undefined;
  }>;
  /** Names that clients may use for a model, and their targets. Default `[]`. */
  routes?: Array<{
    /** The name in the client's request. */
    model: string;
    /** The route's id, sent in the answer's header x-keyplane-route-id. */
    routeID: string;
    /** The name of the upstream. */
    upstream: string;
    /** The model to request from it. */
    upstreamModel: string;
    /** Its share of first calls; without weights, all. */
    weight?: number | undefined;
    /** Key keeps a key's calls at one upstream. */
    sticky?: "Key" | undefined;
    /** The limits of calls that name the route, of all keys together, such as for an upstream's quota; default: unlimited. The limits of keys and teams apply too. A call counts once, with its fallbacks. */
    rateLimit?: {
      /** The sustained requests per minute; default: unlimited. */
      requestsPerMinute?: number | undefined;
      /** Requests at once; default: a minute's worth. */
      burst?: number | undefined;
      /** The tokens of model calls per minute, sustained and at once; default: unlimited. A call reserves what it is expected to use and is charged what its answer reports. */
      tokensPerMinute?: number | undefined;
      /** Who counts requests and tokens: Installation, all server replicas together; Replica (default), each by itself. */
      scope?: "Replica" | "Installation" | undefined;
      /** Concurrent calls per replica, streams included; default: unlimited. */
      concurrent?: number | undefined;
    } | undefined;
    /** What to try, in this order, when the upstream refuses the connection, answers 429 or 5xx, or times out. Default `[]`. */
    fallbacks?: Array<{
      /** The name of the upstream, of the same dialect as the route's. */
      upstream: string;
      /** The model to request from it. */
      upstreamModel: string;
      /** Its share of first calls; default: 0. */
      weight?: number | undefined;
    }> | undefined;
    /** Retries at the same upstream after 429, 5xx or a failed connection, before the fallbacks; default: none. */
    retry?: {
      /** The retries at each upstream. */
      attempts: number;
    } | undefined;
    /** The times of its calls. */
    timeouts?: {
      /** Seconds until the answer begins, over all attempts; default: 600 for each upstream, or 60 where a fallback is left. */
      firstByteSeconds?: number | undefined;
      /** Seconds without a piece of the answer; default 300. */
      idleSeconds?: number | undefined;
    } | undefined;
  }> | undefined;
  /** The id of its team. */
  teamId: string;
  /** Upstreams whose credential is missing, which forward nothing. */
  missingCredentials: string[];
};
