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
  /** A name for people, shown in lists. The object's name is shown where it is left out. */
  displayName?: Input<string> | undefined;
  /** A named set of scopes, instead of scopes. MCPReadOnly is memory:read; MCPReadWrite is memory:read and memory:write; GatewayDefault is gateway:generate, gateway:embed, gateway:routes and memory:read. */
  preset?: Input<"MCPReadOnly" | "MCPReadWrite" | "GatewayDefault"> | undefined;
  /** What the key may do, instead of preset. There are no wildcards. */
  scopes?: Input<Array<Input<"gateway:generate" | "gateway:embed" | "gateway:routes" | "memory:read" | "memory:write">>> | undefined;
  /** The one gateway that the key is bound to. Without it the key may call any gateway of its team. Of effect only with a gateway scope. */
  gatewayRef?: Input<{
    /** The ModelGateway's name. */
    name: Input<string>;
    /** Its namespace, which must be of the same team; the key's own where it is left out. */
    namespace?: Input<string> | undefined;
  }> | undefined;
  /** The routes and models that the key may name at a gateway; any where it is left out. Of effect only with a gateway scope. */
  allowedModels?: Input<Input<string>[]> | undefined;
  /** The memory libraries that the key may reach. Only with a memory scope. */
  libraryAccess?: Input<{
    /** All, every library of the team; or Restricted, those of libraryRefs alone. Default `"All"`. */
    mode?: Input<"All" | "Restricted"> | undefined;
    /** The libraries of a Restricted key. One that does not exist grants nothing, and is not replaced by anything. */
    libraryRefs?: Input<Array<Input<{
      /** The MemoryLibrary's name. */
      name: Input<string>;
      /** Its namespace, which must be of the same team; the key's own where it is left out. */
      namespace?: Input<string> | undefined;
    }>>> | undefined;
  }> | undefined;
  /** The library that an MCP tool uses when a call names none; the team's default where it is left out. One of libraryRefs when access is Restricted. Only with a memory scope. */
  mcpDefaultLibraryRef?: Input<{
    /** The MemoryLibrary's name. */
    name: Input<string>;
    /** Its namespace, which must be of the same team; the key's own where it is left out. */
    namespace?: Input<string> | undefined;
  }> | undefined;
  /** Whose memory the key is for: a subject is an end user or an agent. The key reads what is shared in its libraries and what is the subject's, and writes only the latter. Left out, it is for what is shared, and reaches nothing of any subject. Only with a memory scope. */
  subjectAccess?: Input<{
    /** Bound, every call is of the one subject; or Required, each call names one in the header X-Keyplane-Subject. */
    mode: Input<"Bound" | "Required">;
    /** The subject of a Bound key. */
    subject?: Input<string> | undefined;
  }> | undefined;
  /** The networks that the key may be used from, of IPv4 and IPv6; anywhere where it is left out. The address is the one that the server's trusted proxies name. The team's own list holds besides. */
  allowedCIDRs?: Input<Input<string>[]> | undefined;
  /** Active; or Suspended, refused until it is Active again. A key ends with its resource. Default `"Active"`. */
  state?: Input<"Active" | "Suspended"> | undefined;
  /** How long each minted version lives, from its mint: a Go duration such as 2160h. Not together with expiresAt. */
  expiresAfter?: Input<string> | undefined;
  /** The end of the whole key, RFC 3339. Moving it later revives an expired key. Not together with expiresAfter. */
  expiresAt?: Input<string> | undefined;
  /** How many requests the key may make. Where it is left out the rate is unlimited, and 256 calls may be under way at once on each server replica. */
  rateLimit?: Input<{
    /** Requests a minute, in the long run; unlimited where it is left out. */
    requestsPerMinute?: Input<number> | undefined;
    /** Requests at once; a minute's worth where it is left out. */
    burst?: Input<number> | undefined;
    /** Tokens a minute that calls of models use in the long run, and at once; unlimited where it is left out. A call is let through where there is room for what it is expected to use, and charged what its answer reports. */
    tokensPerMinute?: Input<number> | undefined;
    /** Who counts requests and tokens: Installation, all server replicas together, or Replica, each by itself, where it is left out. */
    scope?: Input<"Replica" | "Installation"> | undefined;
    /** Calls under way at once on each replica, an answer that streams included; 256 where it is left out. */
    concurrent?: Input<number> | undefined;
  }> | undefined;
  /** How many tokens the key's calls of models may use, or what they may cost, by day, week, month or in all. A call is let through where there is room for what it may use, and charged what its answer reports; else it is answered 429 with budget_exceeded. What was used is counted by name: a key that is declared again goes on with it. */
  budgets?: Input<Array<Input<{
    /** Tokens that may be used in a period, by what answers report. */
    tokens?: Input<number> | undefined;
    /** What the calls of a period may cost by the servers' price list, such as "250.00". Text, so that it is exact. */
    cost?: Input<string> | undefined;
    /** The currency of cost by ISO 4217, which is the one of the servers' price list. */
    currency?: Input<string> | undefined;
    /** When the budget resets: each Day, each Week on Monday, each Month on its first day; Total, never. */
    period: Input<"Day" | "Week" | "Month" | "Total">;
    /** Where the period begins, by its IANA name, such as Europe/Berlin. Default `"UTC"`. */
    timeZone?: Input<string> | undefined;
    /** Refuse answers calls that there is no room for with 429 and budget_exceeded; Alert lets them pass, and counts them. Default `"Refuse"`. */
    onExhausted?: Input<"Refuse" | "Alert"> | undefined;
  }>>> | undefined;
  /** secret, the key comes out as secret, encrypted in the state; or none, it comes out nowhere and only its hash is kept. Default `"secret"`. */
  deliver?: Input<"secret" | "none"> | undefined;
  /** When a new version takes the place of the present one, and for how long both work. */
  rotation?: Input<{
    /** How old the key may become before an up puts a new one in its place: a Go duration such as 720h. Without it nothing rotates by time. */
    interval?: Input<string> | undefined;
    /** How long the old key works on beside the new one: a Go duration; 0s for not at all. Default `"24h"`. */
    overlap?: Input<string> | undefined;
    /** Any text. A change of it mints a new version. */
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
  /** A name for people, shown in lists. The object's name is shown where it is left out. */
  displayName?: string | undefined;
  /** A named set of scopes, instead of scopes. MCPReadOnly is memory:read; MCPReadWrite is memory:read and memory:write; GatewayDefault is gateway:generate, gateway:embed, gateway:routes and memory:read. */
  preset?: "MCPReadOnly" | "MCPReadWrite" | "GatewayDefault" | undefined;
  /** What the key may do, instead of preset. There are no wildcards. */
  scopes?: Array<"gateway:generate" | "gateway:embed" | "gateway:routes" | "memory:read" | "memory:write"> | undefined;
  /** The one gateway that the key is bound to. Without it the key may call any gateway of its team. Of effect only with a gateway scope. */
  gatewayRef?: {
    /** The ModelGateway's name. */
    name: string;
    /** Its namespace, which must be of the same team; the key's own where it is left out. */
    namespace?: string | undefined;
  } | undefined;
  /** The routes and models that the key may name at a gateway; any where it is left out. Of effect only with a gateway scope. */
  allowedModels?: string[] | undefined;
  /** The memory libraries that the key may reach. Only with a memory scope. */
  libraryAccess?: {
    /** All, every library of the team; or Restricted, those of libraryRefs alone. Default `"All"`. */
    mode?: "All" | "Restricted" | undefined;
    /** The libraries of a Restricted key. One that does not exist grants nothing, and is not replaced by anything. */
    libraryRefs?: Array<{
      /** The MemoryLibrary's name. */
      name: string;
      /** Its namespace, which must be of the same team; the key's own where it is left out. */
      namespace?: string | undefined;
    }> | undefined;
  } | undefined;
  /** The library that an MCP tool uses when a call names none; the team's default where it is left out. One of libraryRefs when access is Restricted. Only with a memory scope. */
  mcpDefaultLibraryRef?: {
    /** The MemoryLibrary's name. */
    name: string;
    /** Its namespace, which must be of the same team; the key's own where it is left out. */
    namespace?: string | undefined;
  } | undefined;
  /** Whose memory the key is for: a subject is an end user or an agent. The key reads what is shared in its libraries and what is the subject's, and writes only the latter. Left out, it is for what is shared, and reaches nothing of any subject. Only with a memory scope. */
  subjectAccess?: {
    /** Bound, every call is of the one subject; or Required, each call names one in the header X-Keyplane-Subject. */
    mode: "Bound" | "Required";
    /** The subject of a Bound key. */
    subject?: string | undefined;
  } | undefined;
  /** The networks that the key may be used from, of IPv4 and IPv6; anywhere where it is left out. The address is the one that the server's trusted proxies name. The team's own list holds besides. */
  allowedCIDRs?: string[] | undefined;
  /** Active; or Suspended, refused until it is Active again. A key ends with its resource. Default `"Active"`. */
  state?: "Active" | "Suspended" | undefined;
  /** How long each minted version lives, from its mint: a Go duration such as 2160h. Not together with expiresAt. */
  expiresAfter?: string | undefined;
  /** The end of the whole key, RFC 3339. Moving it later revives an expired key. Not together with expiresAfter. */
  expiresAt?: string | undefined;
  /** How many requests the key may make. Where it is left out the rate is unlimited, and 256 calls may be under way at once on each server replica. */
  rateLimit?: {
    /** Requests a minute, in the long run; unlimited where it is left out. */
    requestsPerMinute?: number | undefined;
    /** Requests at once; a minute's worth where it is left out. */
    burst?: number | undefined;
    /** Tokens a minute that calls of models use in the long run, and at once; unlimited where it is left out. A call is let through where there is room for what it is expected to use, and charged what its answer reports. */
    tokensPerMinute?: number | undefined;
    /** Who counts requests and tokens: Installation, all server replicas together, or Replica, each by itself, where it is left out. */
    scope?: "Replica" | "Installation" | undefined;
    /** Calls under way at once on each replica, an answer that streams included; 256 where it is left out. */
    concurrent?: number | undefined;
  } | undefined;
  /** How many tokens the key's calls of models may use, or what they may cost, by day, week, month or in all. A call is let through where there is room for what it may use, and charged what its answer reports; else it is answered 429 with budget_exceeded. What was used is counted by name: a key that is declared again goes on with it. */
  budgets?: Array<{
    /** Tokens that may be used in a period, by what answers report. */
    tokens?: number | undefined;
    /** What the calls of a period may cost by the servers' price list, such as "250.00". Text, so that it is exact. */
    cost?: string | undefined;
    /** The currency of cost by ISO 4217, which is the one of the servers' price list. */
    currency?: string | undefined;
    /** When the budget resets: each Day, each Week on Monday, each Month on its first day; Total, never. */
    period: "Day" | "Week" | "Month" | "Total";
    /** Where the period begins, by its IANA name, such as Europe/Berlin. Default `"UTC"`. */
    timeZone?: string | undefined;
    /** Refuse answers calls that there is no room for with 429 and budget_exceeded; Alert lets them pass, and counts them. Default `"Refuse"`. */
    onExhausted?: "Refuse" | "Alert" | undefined;
  }> | undefined;
  /** secret, the key comes out as secret, encrypted in the state; or none, it comes out nowhere and only its hash is kept. Default `"secret"`. */
  deliver?: "secret" | "none" | undefined;
  /** When a new version takes the place of the present one, and for how long both work. */
  rotation?: {
    /** How old the key may become before an up puts a new one in its place: a Go duration such as 720h. Without it nothing rotates by time. */
    interval?: string | undefined;
    /** How long the old key works on beside the new one: a Go duration; 0s for not at all. Default `"24h"`. */
    overlap?: string | undefined;
    /** Any text. A change of it mints a new version. */
    trigger?: string | undefined;
  } | undefined;
  /** Why, for the audit log. Not a place for a secret. */
  reason?: string | undefined;
  /** The key's id, the same for as long as the key lives. */
  keyID: string;
  /** The first 12 characters of the current version. They identify it and never authenticate. */
  prefix: string;
  /** The scopes that preset or scopes come to. */
  effectiveScopes: string[];
  /** The id of its team. */
  teamId: string;
  /** Its versions, the newest first. */
  versions: Array<{
    /** Counts from 1. */
    number: number;
    /** Whether it works, takes leave, or has ended. */
    state: "reserved" | "active" | "retiring" | "retired" | "revoked";
    /** When it was minted or learned. */
    mintedAt: string;
    /** When it was known to be delivered. */
    activatedAt?: string | undefined;
    /** When a retiring version ends at the latest. */
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

/** A team: the namespaces that belong to it, and the people and machines that may see and manage its keys by the management API. */
export type PlatformTeamArgs = {
  /** The team's name, at most 63 characters. Made from the resource's name where it is left out. */
  name?: Input<string> | undefined;
  /** A name for people. The object's name is shown where it is left out. */
  displayName?: Input<string> | undefined;
  /** The namespaces that belong to the team. A namespace belongs to one team at most: to the one that holds it, or else to the oldest that claims it. The cluster's own and Keyplane's belong to none. Default `[]`. */
  namespaces?: Input<Input<string>[]> | undefined;
  /** Who belongs to the team, by OIDC subject, OIDC group or Kubernetes ServiceAccount. Default `[]`. */
  members?: Input<Array<Input<{
    /** admin and member view, create and revoke keys; viewer only views. */
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
    /** The libraries that the member's tokens reach over MCP; all of the team's where it is left out. One that does not exist grants nothing. Where several entries make a person a member, those with the strongest role count. */
    libraryRefs?: Input<Array<Input<{
      /** The MemoryLibrary's name. */
      name: Input<string>;
      /** The MemoryLibrary's namespace, one of the team's; left out for a library that is in no namespace. */
      namespace?: Input<string> | undefined;
    }>>> | undefined;
  }>>> | undefined;
  /** What the team's MCP clients get where their key says nothing. */
  mcpAgentPolicy?: Input<{
    /** The library that an MCP tool uses when neither the call nor the key names one. */
    defaultLibraryRef?: Input<{
      /** The MemoryLibrary's name. */
      name: Input<string>;
      /** The MemoryLibrary's namespace, one of the team's; left out for a library that is in no namespace. */
      namespace?: Input<string> | undefined;
    }> | undefined;
  }> | undefined;
  /** The networks that the team's keys may be used from, and its members' tokens over MCP, of IPv4 and IPv6; anywhere where it is left out. A key's own list holds besides. Signing in to the console and the management API are not restricted by it. */
  allowedCIDRs?: Input<Input<string>[]> | undefined;
  /** How many tokens the calls of models of all the team's keys and libraries may use, or what they may cost, by day, week, month or in all. A call is let through where there is room for what it may use, and charged what its answer reports; else it is answered 429 with budget_exceeded. What was used is counted by name: a team that is declared again goes on with it. */
  budgets?: Input<Array<Input<{
    /** Tokens that may be used in a period, by what answers report. */
    tokens?: Input<number> | undefined;
    /** What the calls of a period may cost by the servers' price list, such as "250.00". Text, so that it is exact. */
    cost?: Input<string> | undefined;
    /** The currency of cost by ISO 4217, which is the one of the servers' price list. */
    currency?: Input<string> | undefined;
    /** When the budget resets: each Day, each Week on Monday, each Month on its first day; Total, never. */
    period: Input<"Day" | "Week" | "Month" | "Total">;
    /** Where the period begins, by its IANA name, such as Europe/Berlin. Default `"UTC"`. */
    timeZone?: Input<string> | undefined;
    /** Refuse answers calls that there is no room for with 429 and budget_exceeded; Alert lets them pass, and counts them. Default `"Refuse"`. */
    onExhausted?: Input<"Refuse" | "Alert"> | undefined;
  }>>> | undefined;
  /** How many requests all of the team's keys may make together, its members' tokens over MCP and its libraries' calls of models included; unlimited where it is left out. A key's own limit holds besides. */
  rateLimit?: Input<{
    /** Requests a minute, in the long run; unlimited where it is left out. */
    requestsPerMinute?: Input<number> | undefined;
    /** Requests at once; a minute's worth where it is left out. */
    burst?: Input<number> | undefined;
    /** Tokens a minute that calls of models use in the long run, and at once; unlimited where it is left out. A call is let through where there is room for what it is expected to use, and charged what its answer reports. */
    tokensPerMinute?: Input<number> | undefined;
    /** Who counts requests and tokens: Installation, all server replicas together, or Replica, each by itself, where it is left out. */
    scope?: Input<"Replica" | "Installation"> | undefined;
    /** Calls under way at once on each replica, an answer that streams included; unlimited where it is left out. */
    concurrent?: Input<number> | undefined;
  }> | undefined;
  /** What happens to a key of the team that is reported as leaked. */
  leaks?: Input<{
    /** Alert (default) records it, and says so with the key; Revoke ends the key at once too. An old version that works on beside a newer one is ended alone. Default `"Alert"`. */
    action?: Input<"Revoke" | "Alert"> | undefined;
  }> | undefined;
  /** Webhooks that are notified of what happens to the team's keys, by a signed POST (Standard Webhooks). Default `[]`. */
  webhooks?: Input<Array<Input<{
    /** Where events are posted to: an https URL. Private addresses are refused unless the installation allows them as upstreams, and there alone http will do. Redirects are not followed. */
    url: Input<string>;
    /** Which events are posted. */
    events: Input<Array<Input<"key.expiring" | "key.rotated" | "key.consumer_late" | "key.revoked" | "key.leaked" | "key.budget_reached" | "team.budget_reached">>>;
    /** The signing secret: whsec_ and 24 to 64 random bytes in base64. It goes in and never comes out. Left out in a change, the one that is stored stays, as long as the URL does. A secret. */
    secret?: Input<string> | undefined;
  }>>> | undefined;
};

/** A team: the namespaces that belong to it, and the people and machines that may see and manage its keys by the management API. */
export type PlatformTeamState = {
  /** The team's name, at most 63 characters. */
  name: string;
  /** A name for people. The object's name is shown where it is left out. */
  displayName?: string | undefined;
  /** The namespaces that belong to the team. A namespace belongs to one team at most: to the one that holds it, or else to the oldest that claims it. The cluster's own and Keyplane's belong to none. Default `[]`. */
  namespaces?: string[] | undefined;
  /** Who belongs to the team, by OIDC subject, OIDC group or Kubernetes ServiceAccount. Default `[]`. */
  members?: Array<{
    /** admin and member view, create and revoke keys; viewer only views. */
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
    /** The libraries that the member's tokens reach over MCP; all of the team's where it is left out. One that does not exist grants nothing. Where several entries make a person a member, those with the strongest role count. */
    libraryRefs?: Array<{
      /** The MemoryLibrary's name. */
      name: string;
      /** The MemoryLibrary's namespace, one of the team's; left out for a library that is in no namespace. */
      namespace?: string | undefined;
    }> | undefined;
  }> | undefined;
  /** What the team's MCP clients get where their key says nothing. */
  mcpAgentPolicy?: {
    /** The library that an MCP tool uses when neither the call nor the key names one. */
    defaultLibraryRef?: {
      /** The MemoryLibrary's name. */
      name: string;
      /** The MemoryLibrary's namespace, one of the team's; left out for a library that is in no namespace. */
      namespace?: string | undefined;
    } | undefined;
  } | undefined;
  /** The networks that the team's keys may be used from, and its members' tokens over MCP, of IPv4 and IPv6; anywhere where it is left out. A key's own list holds besides. Signing in to the console and the management API are not restricted by it. */
  allowedCIDRs?: string[] | undefined;
  /** How many tokens the calls of models of all the team's keys and libraries may use, or what they may cost, by day, week, month or in all. A call is let through where there is room for what it may use, and charged what its answer reports; else it is answered 429 with budget_exceeded. What was used is counted by name: a team that is declared again goes on with it. */
  budgets?: Array<{
    /** Tokens that may be used in a period, by what answers report. */
    tokens?: number | undefined;
    /** What the calls of a period may cost by the servers' price list, such as "250.00". Text, so that it is exact. */
    cost?: string | undefined;
    /** The currency of cost by ISO 4217, which is the one of the servers' price list. */
    currency?: string | undefined;
    /** When the budget resets: each Day, each Week on Monday, each Month on its first day; Total, never. */
    period: "Day" | "Week" | "Month" | "Total";
    /** Where the period begins, by its IANA name, such as Europe/Berlin. Default `"UTC"`. */
    timeZone?: string | undefined;
    /** Refuse answers calls that there is no room for with 429 and budget_exceeded; Alert lets them pass, and counts them. Default `"Refuse"`. */
    onExhausted?: "Refuse" | "Alert" | undefined;
  }> | undefined;
  /** How many requests all of the team's keys may make together, its members' tokens over MCP and its libraries' calls of models included; unlimited where it is left out. A key's own limit holds besides. */
  rateLimit?: {
    /** Requests a minute, in the long run; unlimited where it is left out. */
    requestsPerMinute?: number | undefined;
    /** Requests at once; a minute's worth where it is left out. */
    burst?: number | undefined;
    /** Tokens a minute that calls of models use in the long run, and at once; unlimited where it is left out. A call is let through where there is room for what it is expected to use, and charged what its answer reports. */
    tokensPerMinute?: number | undefined;
    /** Who counts requests and tokens: Installation, all server replicas together, or Replica, each by itself, where it is left out. */
    scope?: "Replica" | "Installation" | undefined;
    /** Calls under way at once on each replica, an answer that streams included; unlimited where it is left out. */
    concurrent?: number | undefined;
  } | undefined;
  /** What happens to a key of the team that is reported as leaked. */
  leaks?: {
    /** Alert (default) records it, and says so with the key; Revoke ends the key at once too. An old version that works on beside a newer one is ended alone. Default `"Alert"`. */
    action?: "Revoke" | "Alert" | undefined;
  } | undefined;
  /** Webhooks that are notified of what happens to the team's keys, by a signed POST (Standard Webhooks). Default `[]`. */
  webhooks?: Array<{
    /** Where events are posted to: an https URL. Private addresses are refused unless the installation allows them as upstreams, and there alone http will do. Redirects are not followed. */
    url: string;
    /** Which events are posted. */
    events: Array<"key.expiring" | "key.rotated" | "key.consumer_late" | "key.revoked" | "key.leaked" | "key.budget_reached" | "team.budget_reached">;
    /** The signing secret: whsec_ and 24 to 64 random bytes in base64. It goes in and never comes out. Left out in a change, the one that is stored stays, as long as the URL does. A secret. */
    secret?: string | undefined;
  }> | undefined;
  /** Webhooks without a signing secret, to which nothing is sent. */
  missingSecrets: string[];
};

/** A gateway to model providers, served under /g/ and its public id. Provider credentials stay on the server's side. */
export type ModelGatewayArgs = {
  /** The gateway's name, unique in its namespace, at most 63 characters. Made from the resource's name where it is left out. */
  name?: Input<string> | undefined;
  /** The team that it belongs to, by its name. */
  team: Input<string>;
  /** One of the namespaces of a team that was made here; none where it is left out. */
  namespace?: Input<string> | undefined;
  /** The gateway's id in URLs, unique over all gateways of an installation; generated where it is left out. Does not change. */
  publicID?: Input<string> | undefined;
  /** Whether only models that a route names are served. Default `false`. */
  routesOnly?: Input<boolean> | undefined;
  /** The providers behind the gateway. A request goes to the first one of its path's dialect, unless a route names another. */
  upstreams: Input<Array<Input<{
    /** Its name, which routes refer to. */
    name: Input<string>;
    /** The API it speaks. */
    dialect: Input<"openai" | "gemini" | "anthropic">;
    /** Where it is: an http or https URL of its origin and, where it has one, a path prefix, such as the provider gives for the SDK of the dialect. The operation's path, such as /v1/chat/completions, is put behind it: with the dialect openai without its version where the prefix has one, such as /v1, /api/paas/v4 or /v1beta/openai; with the others without its version where the prefix ends in the same one. Private addresses are refused unless the installation allows them. */
    baseURL: Input<string>;
    /** The provider's credential. It goes in and never comes out. Left out in a change, the one that is stored stays, as long as the upstream's dialect and baseURL do. A secret. */
    credential?: Input<string> | undefined;
  }>>>;
  /** Names that clients may use for a model, and where each one leads. Default `[]`. */
  routes?: Input<Array<Input<{
    /** The name, as a client writes it in its request. */
    model: Input<string>;
    /** The route's id, which the answer's header x-keyplane-route-id carries. */
    routeID: Input<string>;
    /** The name of the upstream. */
    upstream: Input<string>;
    /** The model that is asked of it. */
    upstreamModel: Input<string>;
    /** How many calls that name the route are let through, of all keys together, as an upstream's quota wants it; unlimited where it is left out. The limits of keys and teams hold besides. A call that is passed on to fallbacks counts once. */
    rateLimit?: Input<{
      /** Requests a minute, in the long run; unlimited where it is left out. */
      requestsPerMinute?: Input<number> | undefined;
      /** Requests at once; a minute's worth where it is left out. */
      burst?: Input<number> | undefined;
      /** Tokens a minute that calls of models use in the long run, and at once; unlimited where it is left out. A call is let through where there is room for what it is expected to use, and charged what its answer reports. */
      tokensPerMinute?: Input<number> | undefined;
      /** Who counts requests and tokens: Installation, all server replicas together, or Replica, each by itself, where it is left out. */
      scope?: Input<"Replica" | "Installation"> | undefined;
      /** Calls under way at once on each replica, an answer that streams included; unlimited where it is left out. */
      concurrent?: Input<number> | undefined;
    }> | undefined;
    /** What is tried in this order when the upstream refuses the connection, or answers 429 or 5xx, or nothing within its time. Default `[]`. */
    fallbacks?: Input<Array<Input<{
      /** The name of the upstream, of the same dialect as the route's. */
      upstream: Input<string>;
      /** The model that is asked of it. */
      upstreamModel: Input<string>;
    }>>> | undefined;
  }>>> | undefined;
};

/** A gateway to model providers, served under /g/ and its public id. Provider credentials stay on the server's side. */
export type ModelGatewayState = {
  /** The gateway's name, unique in its namespace, at most 63 characters. */
  name: string;
  /** The team that it belongs to, by its name. */
  team: string;
  /** One of the namespaces of a team that was made here; none where it is left out. */
  namespace?: string | undefined;
  /** The gateway's id in URLs, unique over all gateways of an installation; generated where it is left out. Does not change. */
  publicID: string;
  /** Whether only models that a route names are served. Default `false`. */
  routesOnly?: boolean | undefined;
  /** The providers behind the gateway. A request goes to the first one of its path's dialect, unless a route names another. */
  upstreams: Array<{
    /** Its name, which routes refer to. */
    name: string;
    /** The API it speaks. */
    dialect: "openai" | "gemini" | "anthropic";
    /** Where it is: an http or https URL of its origin and, where it has one, a path prefix, such as the provider gives for the SDK of the dialect. The operation's path, such as /v1/chat/completions, is put behind it: with the dialect openai without its version where the prefix has one, such as /v1, /api/paas/v4 or /v1beta/openai; with the others without its version where the prefix ends in the same one. Private addresses are refused unless the installation allows them. */
    baseURL: string;
    /** The provider's credential. It goes in and never comes out. Left out in a change, the one that is stored stays, as long as the upstream's dialect and baseURL do. A secret. */
    credential?: string | undefined;
  }>;
  /** Names that clients may use for a model, and where each one leads. Default `[]`. */
  routes?: Array<{
    /** The name, as a client writes it in its request. */
    model: string;
    /** The route's id, which the answer's header x-keyplane-route-id carries. */
    routeID: string;
    /** The name of the upstream. */
    upstream: string;
    /** The model that is asked of it. */
    upstreamModel: string;
    /** How many calls that name the route are let through, of all keys together, as an upstream's quota wants it; unlimited where it is left out. The limits of keys and teams hold besides. A call that is passed on to fallbacks counts once. */
    rateLimit?: {
      /** Requests a minute, in the long run; unlimited where it is left out. */
      requestsPerMinute?: number | undefined;
      /** Requests at once; a minute's worth where it is left out. */
      burst?: number | undefined;
      /** Tokens a minute that calls of models use in the long run, and at once; unlimited where it is left out. A call is let through where there is room for what it is expected to use, and charged what its answer reports. */
      tokensPerMinute?: number | undefined;
      /** Who counts requests and tokens: Installation, all server replicas together, or Replica, each by itself, where it is left out. */
      scope?: "Replica" | "Installation" | undefined;
      /** Calls under way at once on each replica, an answer that streams included; unlimited where it is left out. */
      concurrent?: number | undefined;
    } | undefined;
    /** What is tried in this order when the upstream refuses the connection, or answers 429 or 5xx, or nothing within its time. Default `[]`. */
    fallbacks?: Array<{
      /** The name of the upstream, of the same dialect as the route's. */
      upstream: string;
      /** The model that is asked of it. */
      upstreamModel: string;
    }> | undefined;
  }> | undefined;
  /** The id of its team. */
  teamId: string;
  /** Upstreams without a credential, which forward nothing. */
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
  /** A name for people. The object's name is shown where it is left out. */
  displayName?: Input<string> | undefined;
  /** What belongs into the library, for people and for models. */
  description?: Input<string> | undefined;
  /** When the declaration is deleted: Retain the atoms, to be taken up again by a library of the same name; or Delete them. Default `"Retain"`. */
  deletionPolicy?: Input<"Retain" | "Delete"> | undefined;
  /** Has the library's atoms searched by their meaning too: each is embedded, behind its save, through a gateway of the team, by a key of the library's own that calls this model there and nothing else. What is remembered is sent to that gateway. Without it atoms are found by their words alone. */
  embedding?: Input<{
    /** The ModelGateway to embed through, with an upstream that speaks openai or gemini. */
    gatewayRef: Input<{
      /** The ModelGateway's name. */
      name: Input<string>;
      /** Its namespace, which must be of the same team; the library's own where it is left out. */
      namespace?: Input<string> | undefined;
    }>;
    /** The embedding model, or one of the gateway's logical routes. Another one has all atoms embedded anew. */
    model: Input<string>;
    /** How many numbers a vector has, of a model that can be asked for fewer than it would give. */
    dimensions?: Input<number> | undefined;
  }> | undefined;
  /** Has a model take atoms out of the conversations that are handed over to the library, behind the call, through a gateway of the team, by a key of the library's own that calls this model there and nothing else. What was said is sent to that gateway. Without it no conversation is taken. */
  extraction?: Input<{
    /** The ModelGateway to read conversations through. */
    gatewayRef: Input<{
      /** The ModelGateway's name. */
      name: Input<string>;
      /** Its namespace, which must be of the same team; the library's own where it is left out. */
      namespace?: Input<string> | undefined;
    }>;
    /** The model, or one of the gateway's logical routes. */
    model: Input<string>;
    /** How many tokens conversations may take a day (UTC), by estimate and with the longest answers that the model may give. Beyond it a conversation is refused until the next day. Default `1000000`. */
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
  /** A name for people. The object's name is shown where it is left out. */
  displayName?: string | undefined;
  /** What belongs into the library, for people and for models. */
  description?: string | undefined;
  /** When the declaration is deleted: Retain the atoms, to be taken up again by a library of the same name; or Delete them. Default `"Retain"`. */
  deletionPolicy?: "Retain" | "Delete" | undefined;
  /** Has the library's atoms searched by their meaning too: each is embedded, behind its save, through a gateway of the team, by a key of the library's own that calls this model there and nothing else. What is remembered is sent to that gateway. Without it atoms are found by their words alone. */
  embedding?: {
    /** The ModelGateway to embed through, with an upstream that speaks openai or gemini. */
    gatewayRef: {
      /** The ModelGateway's name. */
      name: string;
      /** Its namespace, which must be of the same team; the library's own where it is left out. */
      namespace?: string | undefined;
    };
    /** The embedding model, or one of the gateway's logical routes. Another one has all atoms embedded anew. */
    model: string;
    /** How many numbers a vector has, of a model that can be asked for fewer than it would give. */
    dimensions?: number | undefined;
  } | undefined;
  /** Has a model take atoms out of the conversations that are handed over to the library, behind the call, through a gateway of the team, by a key of the library's own that calls this model there and nothing else. What was said is sent to that gateway. Without it no conversation is taken. */
  extraction?: {
    /** The ModelGateway to read conversations through. */
    gatewayRef: {
      /** The ModelGateway's name. */
      name: string;
      /** Its namespace, which must be of the same team; the library's own where it is left out. */
      namespace?: string | undefined;
    };
    /** The model, or one of the gateway's logical routes. */
    model: string;
    /** How many tokens conversations may take a day (UTC), by estimate and with the longest answers that the model may give. Beyond it a conversation is refused until the next day. Default `1000000`. */
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
  /** A name for people, shown in lists. The object's name is shown where it is left out. */
  displayName?: string | undefined;
  /** A named set of scopes, instead of scopes. MCPReadOnly is memory:read; MCPReadWrite is memory:read and memory:write; GatewayDefault is gateway:generate, gateway:embed, gateway:routes and memory:read. */
  preset?: "MCPReadOnly" | "MCPReadWrite" | "GatewayDefault" | undefined;
  /** What the key may do, instead of preset. There are no wildcards. */
  scopes?: Array<"gateway:generate" | "gateway:embed" | "gateway:routes" | "memory:read" | "memory:write"> | undefined;
  /** The one gateway that the key is bound to. Without it the key may call any gateway of its team. Of effect only with a gateway scope. */
  gatewayRef?: {
    /** The ModelGateway's name. */
    name: string;
    /** Its namespace, which must be of the same team; the key's own where it is left out. */
    namespace?: string | undefined;
  } | undefined;
  /** The routes and models that the key may name at a gateway; any where it is left out. Of effect only with a gateway scope. */
  allowedModels?: string[] | undefined;
  /** The memory libraries that the key may reach. Only with a memory scope. */
  libraryAccess?: {
    /** All, every library of the team; or Restricted, those of libraryRefs alone. Default `"All"`. */
    mode?: "All" | "Restricted" | undefined;
    /** The libraries of a Restricted key. One that does not exist grants nothing, and is not replaced by anything. */
    libraryRefs?: Array<{
      /** The MemoryLibrary's name. */
      name: string;
      /** Its namespace, which must be of the same team; the key's own where it is left out. */
      namespace?: string | undefined;
    }> | undefined;
  } | undefined;
  /** The library that an MCP tool uses when a call names none; the team's default where it is left out. One of libraryRefs when access is Restricted. Only with a memory scope. */
  mcpDefaultLibraryRef?: {
    /** The MemoryLibrary's name. */
    name: string;
    /** Its namespace, which must be of the same team; the key's own where it is left out. */
    namespace?: string | undefined;
  } | undefined;
  /** Whose memory the key is for: a subject is an end user or an agent. The key reads what is shared in its libraries and what is the subject's, and writes only the latter. Left out, it is for what is shared, and reaches nothing of any subject. Only with a memory scope. */
  subjectAccess?: {
    /** Bound, every call is of the one subject; or Required, each call names one in the header X-Keyplane-Subject. */
    mode: "Bound" | "Required";
    /** The subject of a Bound key. */
    subject?: string | undefined;
  } | undefined;
  /** The networks that the key may be used from, of IPv4 and IPv6; anywhere where it is left out. The address is the one that the server's trusted proxies name. The team's own list holds besides. */
  allowedCIDRs?: string[] | undefined;
  /** Active; or Suspended, refused until it is Active again. A key ends with its resource. Default `"Active"`. */
  state?: "Active" | "Suspended" | undefined;
  /** How long each minted version lives, from its mint: a Go duration such as 2160h. Not together with expiresAt. */
  expiresAfter?: string | undefined;
  /** The end of the whole key, RFC 3339. Moving it later revives an expired key. Not together with expiresAfter. */
  expiresAt?: string | undefined;
  /** How many requests the key may make. Where it is left out the rate is unlimited, and 256 calls may be under way at once on each server replica. */
  rateLimit?: {
    /** Requests a minute, in the long run; unlimited where it is left out. */
    requestsPerMinute?: number | undefined;
    /** Requests at once; a minute's worth where it is left out. */
    burst?: number | undefined;
    /** Tokens a minute that calls of models use in the long run, and at once; unlimited where it is left out. A call is let through where there is room for what it is expected to use, and charged what its answer reports. */
    tokensPerMinute?: number | undefined;
    /** Who counts requests and tokens: Installation, all server replicas together, or Replica, each by itself, where it is left out. */
    scope?: "Replica" | "Installation" | undefined;
    /** Calls under way at once on each replica, an answer that streams included; 256 where it is left out. */
    concurrent?: number | undefined;
  } | undefined;
  /** How many tokens the key's calls of models may use, or what they may cost, by day, week, month or in all. A call is let through where there is room for what it may use, and charged what its answer reports; else it is answered 429 with budget_exceeded. What was used is counted by name: a key that is declared again goes on with it. */
  budgets?: Array<{
    /** Tokens that may be used in a period, by what answers report. */
    tokens?: number | undefined;
    /** What the calls of a period may cost by the servers' price list, such as "250.00". Text, so that it is exact. */
    cost?: string | undefined;
    /** The currency of cost by ISO 4217, which is the one of the servers' price list. */
    currency?: string | undefined;
    /** When the budget resets: each Day, each Week on Monday, each Month on its first day; Total, never. */
    period: "Day" | "Week" | "Month" | "Total";
    /** Where the period begins, by its IANA name, such as Europe/Berlin. Default `"UTC"`. */
    timeZone?: string | undefined;
    /** Refuse answers calls that there is no room for with 429 and budget_exceeded; Alert lets them pass, and counts them. Default `"Refuse"`. */
    onExhausted?: "Refuse" | "Alert" | undefined;
  }> | undefined;
  /** The key's id, the same for as long as the key lives. */
  keyID: string;
  /** The first 12 characters of the current version. They identify it and never authenticate. */
  prefix: string;
  /** The scopes that preset or scopes come to. */
  effectiveScopes: string[];
  /** The id of its team. */
  teamId: string;
  /** Its versions, the newest first. */
  versions: Array<{
    /** Counts from 1. */
    number: number;
    /** Whether it works, takes leave, or has ended. */
    state: "reserved" | "active" | "retiring" | "retired" | "revoked";
    /** When it was minted or learned. */
    mintedAt: string;
    /** When it was known to be delivered. */
    activatedAt?: string | undefined;
    /** When a retiring version ends at the latest. */
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

/** A team: the namespaces that belong to it, and the people and machines that may see and manage its keys by the management API. */
export type GetTeamResult = {
  /** Its id. */
  id: string;
  /** The team's name, at most 63 characters. */
  name: string;
  /** A name for people. The object's name is shown where it is left out. */
  displayName?: string | undefined;
  /** The namespaces that belong to the team. A namespace belongs to one team at most: to the one that holds it, or else to the oldest that claims it. The cluster's own and Keyplane's belong to none. Default `[]`. */
  namespaces?: string[] | undefined;
  /** Who belongs to the team, by OIDC subject, OIDC group or Kubernetes ServiceAccount. Default `[]`. */
  members?: Array<{
    /** admin and member view, create and revoke keys; viewer only views. */
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
    /** The libraries that the member's tokens reach over MCP; all of the team's where it is left out. One that does not exist grants nothing. Where several entries make a person a member, those with the strongest role count. */
    libraryRefs?: Array<{
      /** The MemoryLibrary's name. */
      name: string;
      /** The MemoryLibrary's namespace, one of the team's; left out for a library that is in no namespace. */
      namespace?: string | undefined;
    }> | undefined;
  }> | undefined;
  /** What the team's MCP clients get where their key says nothing. */
  mcpAgentPolicy?: {
    /** The library that an MCP tool uses when neither the call nor the key names one. */
    defaultLibraryRef?: {
      /** The MemoryLibrary's name. */
      name: string;
      /** The MemoryLibrary's namespace, one of the team's; left out for a library that is in no namespace. */
      namespace?: string | undefined;
    } | undefined;
  } | undefined;
  /** The networks that the team's keys may be used from, and its members' tokens over MCP, of IPv4 and IPv6; anywhere where it is left out. A key's own list holds besides. Signing in to the console and the management API are not restricted by it. */
  allowedCIDRs?: string[] | undefined;
  /** How many tokens the calls of models of all the team's keys and libraries may use, or what they may cost, by day, week, month or in all. A call is let through where there is room for what it may use, and charged what its answer reports; else it is answered 429 with budget_exceeded. What was used is counted by name: a team that is declared again goes on with it. */
  budgets?: Array<{
    /** Tokens that may be used in a period, by what answers report. */
    tokens?: number | undefined;
    /** What the calls of a period may cost by the servers' price list, such as "250.00". Text, so that it is exact. */
    cost?: string | undefined;
    /** The currency of cost by ISO 4217, which is the one of the servers' price list. */
    currency?: string | undefined;
    /** When the budget resets: each Day, each Week on Monday, each Month on its first day; Total, never. */
    period: "Day" | "Week" | "Month" | "Total";
    /** Where the period begins, by its IANA name, such as Europe/Berlin. Default `"UTC"`. */
    timeZone?: string | undefined;
    /** Refuse answers calls that there is no room for with 429 and budget_exceeded; Alert lets them pass, and counts them. Default `"Refuse"`. */
    onExhausted?: "Refuse" | "Alert" | undefined;
  }> | undefined;
  /** How many requests all of the team's keys may make together, its members' tokens over MCP and its libraries' calls of models included; unlimited where it is left out. A key's own limit holds besides. */
  rateLimit?: {
    /** Requests a minute, in the long run; unlimited where it is left out. */
    requestsPerMinute?: number | undefined;
    /** Requests at once; a minute's worth where it is left out. */
    burst?: number | undefined;
    /** Tokens a minute that calls of models use in the long run, and at once; unlimited where it is left out. A call is let through where there is room for what it is expected to use, and charged what its answer reports. */
    tokensPerMinute?: number | undefined;
    /** Who counts requests and tokens: Installation, all server replicas together, or Replica, each by itself, where it is left out. */
    scope?: "Replica" | "Installation" | undefined;
    /** Calls under way at once on each replica, an answer that streams included; unlimited where it is left out. */
    concurrent?: number | undefined;
  } | undefined;
  /** What happens to a key of the team that is reported as leaked. */
  leaks?: {
    /** Alert (default) records it, and says so with the key; Revoke ends the key at once too. An old version that works on beside a newer one is ended alone. Default `"Alert"`. */
    action?: "Revoke" | "Alert" | undefined;
  } | undefined;
  /** Webhooks that are notified of what happens to the team's keys, by a signed POST (Standard Webhooks). Default `[]`. */
  webhooks?: Array<{
    /** Where events are posted to: an https URL. Private addresses are refused unless the installation allows them as upstreams, and there alone http will do. Redirects are not followed. */
    url: string;
    /** Which events are posted. */
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

/** A gateway to model providers, served under /g/ and its public id. Provider credentials stay on the server's side. */
export type GetGatewayResult = {
  /** Its id. */
  id: string;
  /** The gateway's name, unique in its namespace, at most 63 characters. */
  name: string;
  /** The team that it belongs to, by its name. */
  team: string;
  /** One of the namespaces of a team that was made here; none where it is left out. */
  namespace?: string | undefined;
  /** The gateway's id in URLs, unique over all gateways of an installation; generated where it is left out. Does not change. */
  publicID: string;
  /** Whether only models that a route names are served. Default `false`. */
  routesOnly?: boolean | undefined;
  /** The providers behind the gateway. A request goes to the first one of its path's dialect, unless a route names another. */
  upstreams: Array<{
    /** Its name, which routes refer to. */
    name: string;
    /** The API it speaks. */
    dialect: "openai" | "gemini" | "anthropic";
    /** Where it is: an http or https URL of its origin and, where it has one, a path prefix, such as the provider gives for the SDK of the dialect. The operation's path, such as /v1/chat/completions, is put behind it: with the dialect openai without its version where the prefix has one, such as /v1, /api/paas/v4 or /v1beta/openai; with the others without its version where the prefix ends in the same one. Private addresses are refused unless the installation allows them. */
    baseURL: string;
    /** The provider's credential. It goes in and never comes out. Left out in a change, the one that is stored stays, as long as the upstream's dialect and baseURL do. A secret. */
    credential?: string | undefined;
  }>;
  /** Names that clients may use for a model, and where each one leads. Default `[]`. */
  routes?: Array<{
    /** The name, as a client writes it in its request. */
    model: string;
    /** The route's id, which the answer's header x-keyplane-route-id carries. */
    routeID: string;
    /** The name of the upstream. */
    upstream: string;
    /** The model that is asked of it. */
    upstreamModel: string;
    /** How many calls that name the route are let through, of all keys together, as an upstream's quota wants it; unlimited where it is left out. The limits of keys and teams hold besides. A call that is passed on to fallbacks counts once. */
    rateLimit?: {
      /** Requests a minute, in the long run; unlimited where it is left out. */
      requestsPerMinute?: number | undefined;
      /** Requests at once; a minute's worth where it is left out. */
      burst?: number | undefined;
      /** Tokens a minute that calls of models use in the long run, and at once; unlimited where it is left out. A call is let through where there is room for what it is expected to use, and charged what its answer reports. */
      tokensPerMinute?: number | undefined;
      /** Who counts requests and tokens: Installation, all server replicas together, or Replica, each by itself, where it is left out. */
      scope?: "Replica" | "Installation" | undefined;
      /** Calls under way at once on each replica, an answer that streams included; unlimited where it is left out. */
      concurrent?: number | undefined;
    } | undefined;
    /** What is tried in this order when the upstream refuses the connection, or answers 429 or 5xx, or nothing within its time. Default `[]`. */
    fallbacks?: Array<{
      /** The name of the upstream, of the same dialect as the route's. */
      upstream: string;
      /** The model that is asked of it. */
      upstreamModel: string;
    }> | undefined;
  }> | undefined;
  /** The id of its team. */
  teamId: string;
  /** Upstreams without a credential, which forward nothing. */
  missingCredentials: string[];
};
