// Generated from crds/ by scripts/generate.ts. Change the schema there and run `node scripts/generate.ts`.
import type { Input } from "@pulumi/pulumi";

/** What the key is to be. */
export type PlatformKeySpecArgs = {
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
  /** Whose memory the key is for: a subject is an end user or an agent. The key reads what is shared in its libraries and what is the subject's, and writes only the latter. Left out, it is for what is shared, and reaches nothing of any subject. Only with a memory scope. */
  subjectAccess?: Input<{
    /** Bound, every call is of the one subject; or Required, each call names one in the header X-Keyplane-Subject. */
    mode: Input<"Bound" | "Required">;
    /** The subject of a Bound key. */
    subject?: Input<string> | undefined;
  }> | undefined;
  /** The networks that the key may be used from, of IPv4 and IPv6; anywhere where it is left out. The address is the one that the server's trusted proxies name. The team's own list holds besides. */
  allowedCIDRs?: Input<Input<string>[]> | undefined;
  /** The library that an MCP tool uses when a call names none; the team's default where it is left out. One of libraryRefs when access is Restricted. Only with a memory scope. */
  mcpDefaultLibraryRef?: Input<{
    /** The MemoryLibrary's name. */
    name: Input<string>;
    /** Its namespace, which must be of the same team; the key's own where it is left out. */
    namespace?: Input<string> | undefined;
  }> | undefined;
  /** Active; Suspended, refused until it is Active again; or Revoked, refused for ever with all its versions. Default `"Active"`. */
  state?: Input<"Active" | "Suspended" | "Revoked"> | undefined;
  /** How long each minted version lives, from its mint: a Go duration such as 2160h. Not together with expiresAt. */
  expiresAfter?: Input<string> | undefined;
  /** The end of the whole key, RFC 3339. Moving it later revives an expired key. Not together with expiresAfter. */
  expiresAt?: Input<string> | undefined;
  /** Where the key's secret comes from. Does not change. Default `{"type":"Generate"}`. */
  source?: Input<{
    /** Generate, Keyplane mints the key; ImportSecret, the first version is the key in an existing Secret; ImportHash, the first version is known by its hash alone. An import is learned once. Default `"Generate"`. */
    type?: Input<"Generate" | "ImportSecret" | "ImportHash"> | undefined;
    /** The Secret of this namespace that holds the key to import; it is read and never written. With type ImportSecret. */
    secretRef?: Input<{
      /** The Secret's name. */
      name: Input<string>;
      /** The data key in it that holds inf_ and at least 32 more characters. Default `"api-key"`. */
      key?: Input<string> | undefined;
    }> | undefined;
    /** The hash of the key to import. With type ImportHash. */
    hash?: Input<{
      /** The SHA-256 of the full key, as 64 lower-case hex digits. */
      sha256: Input<string>;
      /** The first 12 characters of the key, which identify it in lists. */
      prefix: Input<string>;
    }> | undefined;
  }> | undefined;
  /** When a new version takes the place of the present one, and for how long both work. */
  rotation?: Input<{
    /** How old the active version may become before the next one is minted: a Go duration such as 720h. Without it nothing rotates by time. */
    interval?: Input<string> | undefined;
    /** How long the old version works on beside the new one. Left out it is 24h, whatever the cause of the new version. */
    overlap?: Input<{
      /** Fixed, for a duration; or Adoption, after min as soon as the new version has been used and the old one unused for quiet, and at max whatever happens. Default `"Fixed"`. */
      mode?: Input<"Fixed" | "Adoption"> | undefined;
      /** With Fixed: how long both work; 24h where it is left out, 0s for not at all. */
      duration?: Input<string> | undefined;
      /** With Adoption: how long the old version works at least. */
      min?: Input<string> | undefined;
      /** With Adoption: how long the old version works at most. */
      max?: Input<string> | undefined;
      /** With Adoption: how long the old version must have been unused; 10m where it is left out. */
      quiet?: Input<string> | undefined;
    }> | undefined;
    /** Any text. A change of it mints a new version. */
    trigger?: Input<string> | undefined;
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
  /** The Secret that the key is written to. Default `{}`. */
  secret?: Input<{
    /** Its name; the key's own where it is left out. Does not change. */
    name?: Input<string> | undefined;
    /** The data key in it that holds the key's plaintext. Does not change. Default `"api-key"`. */
    dataKey?: Input<string> | undefined;
    /** Owner, the Secret goes with the key's declaration; Orphan, it stays. Default `"Owner"`. */
    creationPolicy?: Input<"Owner" | "Orphan"> | undefined;
    /** When the Secret has been deleted: Rotate, a new version is minted and written; Report, a condition says so. Default `"Rotate"`. */
    onLost?: Input<"Rotate" | "Report"> | undefined;
    /** When the value in the Secret has been edited: Rotate, a new version is minted and written; Report, a condition says so. The edited value never becomes a key. Default `"Rotate"`. */
    onTampered?: Input<"Rotate" | "Report"> | undefined;
    /** More data keys beside the plaintext: Env, environment variables of the usual SDKs; McpConfig, an mcp.json with the memory server; ServiceBinding, the entries of the Service Binding specification. */
    template?: Input<"Env" | "McpConfig" | "ServiceBinding"> | undefined;
  }> | undefined;
  /** Workloads of this namespace that are rolled out again when the Secret has a new value. Default `[]`. */
  restartTargets?: Input<Array<Input<{
    /** Deployment, StatefulSet or DaemonSet. */
    kind: Input<"Deployment" | "StatefulSet" | "DaemonSet">;
    /** Its name. */
    name: Input<string>;
  }>>> | undefined;
  /** When the declaration is deleted: Revoke the key, before the object goes; or Retain it, so that it works on without a declaration. Default `"Revoke"`. */
  deletionPolicy?: Input<"Revoke" | "Retain"> | undefined;
  /** While true, a deletion of the declaration waits and the key works on, until this is false. Default `false`. */
  deletionProtection?: Input<boolean> | undefined;
};

/** What the team is to be. */
export type PlatformTeamSpecArgs = {
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
      /** The MemoryLibrary's namespace, one of the team's. */
      namespace: Input<string>;
      /** The MemoryLibrary's name. */
      name: Input<string>;
    }>>> | undefined;
  }>>> | undefined;
  /** What the team's MCP clients get where their key says nothing. */
  mcpAgentPolicy?: Input<{
    /** The library that an MCP tool uses when neither the call nor the key names one. */
    defaultLibraryRef?: Input<{
      /** The MemoryLibrary's namespace, one of the team's. */
      namespace: Input<string>;
      /** The MemoryLibrary's name. */
      name: Input<string>;
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
    /** The Secret that events are signed with: `whsec_` and 24 to 64 random bytes in base64, or two of these with a space between, while one takes the other's place. */
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
  /** The PlatformTeams that the policy is for: those that match all that is written here, so that {} is every team. */
  teamSelector: Input<{
    /** The names of teams, one of which it must be. */
    matchNames?: Input<Input<string>[]> | undefined;
    /** What must hold of the team's labels, as in a label selector of Kubernetes. */
    matchExpressions?: Input<Array<Input<{
      /** The label's name, such as environment or example.com/tier. */
      key: Input<string>;
      /** In, the label has one of values; NotIn, it has none of them, or is not there; Exists, it is there; DoesNotExist, it is not. */
      operator: Input<"In" | "NotIn" | "Exists" | "DoesNotExist">;
      /** The label's values, with In and NotIn. */
      values?: Input<Input<string>[]> | undefined;
    }>>> | undefined;
  }>;
  /** How long a key that was issued before goes on though a rule does not let it: a Go duration, from when the rule came to hold for its team. Then the key ends until it meets the rule. Default `"168h"`. */
  gracePeriod?: Input<string> | undefined;
  /** How long a version of a key may live. */
  expiry?: Input<{
    /** Whether a key must have an end. A default gives it one. */
    required?: Input<boolean> | undefined;
    /** The expiresAfter of a key that declares neither expiresAfter nor expiresAt: a Go duration. It is not written into the key's spec. */
    default?: Input<string> | undefined;
    /** The longest that a version may live, from its mint to its end by expiresAfter or expiresAt: a Go duration. A key without an end lives longer than any. */
    max?: Input<string> | undefined;
  }> | undefined;
  /** How often a key must have a new version. */
  rotation?: Input<{
    /** The longest rotation.interval: a Go duration. A key each of whose versions ends within it by expiresAfter or expiresAt needs none. An older key with none, or a longer one, is rotated by this one after the grace period. */
    maxInterval: Input<string>;
  }> | undefined;
  /** The scopes that a key may have. */
  allowedScopes?: Input<Array<Input<"gateway:generate" | "gateway:embed" | "gateway:routes" | "memory:read" | "memory:write">>> | undefined;
  /** The presets, within one of which all scopes of a key must be, whether it names the preset or writes scopes. */
  allowedPresets?: Input<Array<Input<"MCPReadOnly" | "MCPReadWrite" | "GatewayDefault">>> | undefined;
  /** The routes and models that a key with a gateway scope may name. Such a key must have allowedModels. */
  allowedModels?: Input<Input<string>[]> | undefined;
  /** The gateways, one of which a key with a gateway scope must be bound to by gatewayRef. */
  allowedGateways?: Input<Array<Input<{
    /** The ModelGateway's namespace. */
    namespace: Input<string>;
    /** The ModelGateway's name. */
    name: Input<string>;
  }>>> | undefined;
  /** The networks, of IPv4 and IPv6, within which each network of a key's own allowedCIDRs must be. A key must have such a list. */
  allowedCIDRs?: Input<Input<string>[]> | undefined;
  /** How many keys a team may have that are not revoked. The oldest ones are within it. */
  maxKeys?: Input<number> | undefined;
  /** How many requests a key may make, and how many tokens they may use. */
  rateLimit?: Input<{
    /** The key's rateLimit.requestsPerMinute, and its burst. */
    requestsPerMinute?: Input<{
      /** That of a key that declares none. It is not written into the key's spec. */
      default?: Input<number> | undefined;
      /** The highest. A key without a limit has a higher one than any. */
      max?: Input<number> | undefined;
    }> | undefined;
    /** The key's rateLimit.concurrent. */
    concurrent?: Input<{
      /** That of a key that declares none. It is not written into the key's spec. */
      default?: Input<number> | undefined;
      /** The highest. A key that declares none has 256. */
      max?: Input<number> | undefined;
    }> | undefined;
    /** The key's rateLimit.tokensPerMinute. */
    tokensPerMinute?: Input<{
      /** That of a key that declares none. It is not written into the key's spec. */
      default?: Input<number> | undefined;
      /** The highest. A key without a limit has a higher one than any. */
      max?: Input<number> | undefined;
    }> | undefined;
  }> | undefined;
  /** How much a key's calls of models may use at most, of each unit and period that is written here. A key that declares no budget of that unit and period which refuses calls has this one, which is not written into its spec. */
  budgets?: Input<Array<Input<{
    /** Tokens, as in the key's budgets. */
    tokens?: Input<number> | undefined;
    /** A cost, as in the key's budgets, such as "250.00". */
    cost?: Input<string> | undefined;
    /** The currency of cost by ISO 4217. */
    currency?: Input<string> | undefined;
    /** The period, as in the key's budgets. */
    period: Input<"Day" | "Week" | "Month" | "Total">;
    /** Where the period of a budget begins that a key does not declare, by its IANA name. A key that declares one keeps its own. Default `"UTC"`. */
    timeZone?: Input<string> | undefined;
  }>>> | undefined;
  /** How much all calls of models by the keys of the policy's teams may use together, besides what each key and each team may. It holds at once. What was used is counted by the policy's name: one that is declared again goes on with it. */
  sharedBudgets?: Input<Array<Input<{
    /** Tokens, as in the key's budgets. */
    tokens?: Input<number> | undefined;
    /** A cost, as in the key's budgets, such as "250.00". */
    cost?: Input<string> | undefined;
    /** The currency of cost by ISO 4217. */
    currency?: Input<string> | undefined;
    /** The period, as in the key's budgets. */
    period: Input<"Day" | "Week" | "Month" | "Total">;
    /** Where the period begins, by its IANA name, such as Europe/Berlin. Default `"UTC"`. */
    timeZone?: Input<string> | undefined;
    /** Refuse answers calls that there is no room for with 429 and budget_exceeded; Alert lets them pass, and counts them. Default `"Refuse"`. */
    onExhausted?: Input<"Refuse" | "Alert"> | undefined;
  }>>> | undefined;
};

/** What the gateway is to be. */
export type ModelGatewaySpecArgs = {
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
    /** The Secret of this namespace that holds the provider's credential, 4,096 characters at most. */
    credentialRef: Input<{
      /** The Secret's name. */
      name: Input<string>;
      /** The data key in it. Default `"api-key"`. */
      key?: Input<string> | undefined;
    }>;
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

/** What the library is to be. */
export type MemoryLibrarySpecArgs = {
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
