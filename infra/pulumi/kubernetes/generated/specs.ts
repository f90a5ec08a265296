// Generated from crds/ by scripts/generate.ts. Change the schema there and run `node scripts/generate.ts`.
import type { Input } from "@pulumi/pulumi";

/** What the key is to be. */
export type PlatformKeySpecArgs = {
  /** The name shown in lists; default: the object's name. */
  displayName?: Input<string> | undefined;
  /** Whom to ask about the key, such as an address. It is shown with the key, also to its holder, and decides nothing. */
  owner?: Input<string> | undefined;
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
  /** The subject, an end user or agent, whose memory the key uses. The key reads the subject's and the shared atoms of its libraries, and writes only the subject's. Left out, it uses only shared atoms. Only with a memory scope. */
  subjectAccess?: Input<{
    /** Bound: one subject for every call. Required: each call names one in the header X-Keyplane-Subject. */
    mode: Input<"Bound" | "Required">;
    /** The subject of a Bound key. */
    subject?: Input<string> | undefined;
  }> | undefined;
  /** The IPv4 and IPv6 networks that the key may be used from; default: any. The client's address is the one that trusted proxies report. The team's list applies too. */
  allowedCIDRs?: Input<Input<string>[]> | undefined;
  /** The library of MCP calls that name none; default: the team's. One of libraryRefs when access is Restricted. Only with a memory scope. */
  mcpDefaultLibraryRef?: Input<{
    /** The MemoryLibrary's name. */
    name: Input<string>;
    /** Its namespace, which must be of the same team; default: the key's. */
    namespace?: Input<string> | undefined;
  }> | undefined;
  /** Active; Suspended: refused until Active again; Revoked: refused permanently, with all versions. Default `"Active"`. */
  state?: Input<"Active" | "Suspended" | "Revoked"> | undefined;
  /** The lifetime of each version from its creation, a Go duration such as 2160h. Not together with expiresAt. */
  expiresAfter?: Input<string> | undefined;
  /** When the whole key expires. A later time revives an expired key. Not together with expiresAfter. */
  expiresAt?: Input<string> | undefined;
  /** The origin of the key's secret. Immutable. Default `{"type":"Generate"}`. */
  source?: Input<{
    /** Generate: Keyplane creates the key. ImportSecret: the first version is the key in an existing Secret. ImportHash: the first version is known only by its hash. An import is read once. Default `"Generate"`. */
    type?: Input<"Generate" | "ImportSecret" | "ImportHash"> | undefined;
    /** With ImportSecret: the Secret in this namespace with the key to import. It is never written. */
    secretRef?: Input<{
      /** The Secret's name. */
      name: Input<string>;
      /** The data key with the value: inf_ and at least 32 more characters. Default `"api-key"`. */
      key?: Input<string> | undefined;
    }> | undefined;
    /** With ImportHash: the hash of the key to import. */
    hash?: Input<{
      /** The SHA-256 of the full key, 64 lower-case hex digits. */
      sha256: Input<string>;
      /** The first 12 characters of the key, which identify it in lists. */
      prefix: Input<string>;
    }> | undefined;
  }> | undefined;
  /** When a new version replaces the current one, and how long both work. */
  rotation?: Input<{
    /** The age at which the active version is replaced, a Go duration such as 720h. Without it, nothing rotates by time. */
    interval?: Input<string> | undefined;
    /** How long the old version works beside the new one, whatever caused the new one; default: 24h. */
    overlap?: Input<{
      /** Fixed: for a duration. Adoption: after min, once the new version has been used and the old one unused for quiet; at the latest after max. Default `"Fixed"`. */
      mode?: Input<"Fixed" | "Adoption"> | undefined;
      /** With Fixed: how long both work; default: 24h; 0s: no overlap. */
      duration?: Input<string> | undefined;
      /** With Adoption: the shortest overlap. */
      min?: Input<string> | undefined;
      /** With Adoption: the longest overlap. */
      max?: Input<string> | undefined;
      /** With Adoption: how long the old version must have been unused; default: 10m. */
      quiet?: Input<string> | undefined;
    }> | undefined;
    /** Any text. A change creates a new version. */
    trigger?: Input<string> | undefined;
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
  /** The Secret that the key is written to. Default `{}`. */
  secret?: Input<{
    /** Its name; default: the key's. Immutable. */
    name?: Input<string> | undefined;
    /** The data key with the plaintext. Immutable. Default `"api-key"`. */
    dataKey?: Input<string> | undefined;
    /** Owner: the Secret is deleted with the declaration. Orphan: it stays. Default `"Owner"`. */
    creationPolicy?: Input<"Owner" | "Orphan"> | undefined;
    /** When the Secret is deleted: Rotate writes a new version; Report sets a condition. Default `"Rotate"`. */
    onLost?: Input<"Rotate" | "Report"> | undefined;
    /** When the Secret's value is edited: Rotate writes a new version; Report sets a condition. The edited value never becomes a key. Default `"Rotate"`. */
    onTampered?: Input<"Rotate" | "Report"> | undefined;
    /** More data keys. Env: environment variables of the usual SDKs. McpConfig: an mcp.json with the memory server. ServiceBinding: the entries of the Service Binding specification. */
    template?: Input<"Env" | "McpConfig" | "ServiceBinding"> | undefined;
  }> | undefined;
  /** Workloads of this namespace to restart when the Secret has a new value. Default `[]`. */
  restartTargets?: Input<Array<Input<{
    /** The workload's kind. */
    kind: Input<"Deployment" | "StatefulSet" | "DaemonSet">;
    /** Its name. */
    name: Input<string>;
  }>>> | undefined;
  /** When the declaration is deleted: Revoke the key before the object is removed; Retain the key, which works without a declaration. Default `"Revoke"`. */
  deletionPolicy?: Input<"Revoke" | "Retain"> | undefined;
  /** While true, a deletion of the declaration waits and the key works. Default `false`. */
  deletionProtection?: Input<boolean> | undefined;
};

/** What the team is to be. */
export type PlatformTeamSpecArgs = {
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
      /** The MemoryLibrary's namespace, one of the team's. */
      namespace: Input<string>;
      /** The MemoryLibrary's name. */
      name: Input<string>;
    }>>> | undefined;
  }>>> | undefined;
  /** Defaults for MCP clients whose key has none. */
  mcpAgentPolicy?: Input<{
    /** The library when neither the call nor the key names one. */
    defaultLibraryRef?: Input<{
      /** The MemoryLibrary's namespace, one of the team's. */
      namespace: Input<string>;
      /** The MemoryLibrary's name. */
      name: Input<string>;
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
    /** The Secret that signs events: `whsec_` and 24 to 64 random bytes in base64; during a change, two of these with a space between. */
    secretRef: Input<{
      /** The Secret's namespace, one of the team's. */
      namespace: Input<string>;
      /** The Secret's name. */
      name: Input<string>;
      /** The data key in it. Default `"secret"`. */
      key?: Input<string> | undefined;
    }>;
  }>>> | undefined;
};

/** Which teams the policy is for, and what it asks of their keys. */
export type PlatformKeyPolicySpecArgs = {
  /** The PlatformTeams that the policy applies to: those that match every condition; {} is every team. */
  teamSelector: Input<{
    /** The team is one of these. */
    matchNames?: Input<Input<string>[]> | undefined;
    /** Conditions on the team's labels, as in a Kubernetes label selector. */
    matchExpressions?: Input<Array<Input<{
      /** The label's name, such as environment or example.com/tier. */
      key: Input<string>;
      /** In: the label has one of values. NotIn: it has none of them, or is missing. Exists, DoesNotExist: it is present or missing. */
      operator: Input<"In" | "NotIn" | "Exists" | "DoesNotExist">;
      /** The label's values, with In and NotIn. */
      values?: Input<Input<string>[]> | undefined;
    }>>> | undefined;
  }>;
  /** How long an existing key that breaks a rule still works, a Go duration from when the rule began to apply to its team. After that the key is refused until it meets the rule. Default `"168h"`. */
  gracePeriod?: Input<string> | undefined;
  /** The lifetime of a key's version. */
  expiry?: Input<{
    /** Whether a key must expire. A default makes it expire. */
    required?: Input<boolean> | undefined;
    /** The expiresAfter, a Go duration, of a key without expiresAfter and expiresAt; not written into its spec. */
    default?: Input<string> | undefined;
    /** The longest lifetime of a version, a Go duration from its creation to expiresAfter or expiresAt. A key that never expires exceeds it. */
    max?: Input<string> | undefined;
  }> | undefined;
  /** How often a key must rotate. */
  rotation?: Input<{
    /** The longest rotation.interval, a Go duration. A key whose versions all end within it, by expiresAfter or expiresAt, needs no interval. After the grace period, it rotates an existing key with a longer interval or none. */
    maxInterval: Input<string>;
  }> | undefined;
  /** The scopes that a key may have. */
  allowedScopes?: Input<Array<Input<"gateway:generate" | "gateway:embed" | "gateway:routes" | "memory:read" | "memory:write" | "gateway:files">>> | undefined;
  /** All scopes of a key must be within one of these presets, whether the key names a preset or scopes. */
  allowedPresets?: Input<Array<Input<"MCPReadOnly" | "MCPReadWrite" | "GatewayDefault">>> | undefined;
  /** The routes and models that a key with a gateway scope may name; such a key must declare allowedModels. */
  allowedModels?: Input<Input<string>[]> | undefined;
  /** A key with a gateway scope must be bound to one of these by gatewayRef. */
  allowedGateways?: Input<Array<Input<{
    /** The ModelGateway's namespace. */
    namespace: Input<string>;
    /** The ModelGateway's name. */
    name: Input<string>;
  }>>> | undefined;
  /** The IPv4 and IPv6 networks that must contain each network of a key's allowedCIDRs. A key must have such a list. */
  allowedCIDRs?: Input<Input<string>[]> | undefined;
  /** How many unrevoked keys a team may have. The oldest count first. */
  maxKeys?: Input<number> | undefined;
  /** The limits of a key. */
  rateLimit?: Input<{
    /** The key's rateLimit.requestsPerMinute, and its burst. */
    requestsPerMinute?: Input<{
      /** For a key that declares none; not written into its spec. */
      default?: Input<number> | undefined;
      /** The highest; a key without a limit exceeds it. */
      max?: Input<number> | undefined;
    }> | undefined;
    /** The key's rateLimit.concurrent. */
    concurrent?: Input<{
      /** For a key that declares none; not written into its spec. */
      default?: Input<number> | undefined;
      /** The highest; a key that declares none has 256. */
      max?: Input<number> | undefined;
    }> | undefined;
    /** The key's rateLimit.tokensPerMinute. */
    tokensPerMinute?: Input<{
      /** For a key that declares none; not written into its spec. */
      default?: Input<number> | undefined;
      /** The highest; a key without a limit exceeds it. */
      max?: Input<number> | undefined;
    }> | undefined;
  }> | undefined;
  /** The largest budgets of a key, by unit and period. A key that declares no budget with Refuse of that unit and period has this one. Not written into its spec. */
  budgets?: Input<Array<Input<{
    /** The tokens per period, as answers report them. */
    tokens?: Input<number> | undefined;
    /** The cost per period by the servers' price list, such as "250.00", as text. */
    cost?: Input<string> | undefined;
    /** The ISO 4217 currency of cost, that of the servers' price list. */
    currency?: Input<string> | undefined;
    /** When the budget resets: each Day, Week (on Monday) or Month (on its first day); Total: never. */
    period: Input<"Day" | "Week" | "Month" | "Total">;
    /** The IANA time zone of a budget that a key does not declare. A key that declares one keeps its own. Default `"UTC"`. */
    timeZone?: Input<string> | undefined;
  }>>> | undefined;
  /** Budgets that the keys of the policy's teams share for model calls, beside those of each key and team. They apply at once. Use is counted by the policy's name, so a policy that is declared again continues its count. */
  sharedBudgets?: Input<Array<Input<{
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
};

/** What the gateway is to be. */
export type ModelGatewaySpecArgs = {
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
    /** The Secret in this namespace with the provider's credential, at most 4,096 characters. Left out, calls go there without a credential, as to a model server of one's own. */
    credentialRef?: Input<{
      /** The Secret's name. */
      name: Input<string>;
      /** The data key in it. Default `"api-key"`. */
      key?: Input<string> | undefined;
    }> | undefined;
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

/** What the library is to be. */
export type MemoryLibrarySpecArgs = {
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
