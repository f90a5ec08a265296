// Generated from crds/ by scripts/generate.ts. Change the schema there and run `node scripts/generate.ts`.

/**
 * What the key is to be.
 */
export type PlatformKeySpec = {
  /**
   * A name for people, shown in lists. The object's name is shown where it is left out.
   */
  displayName?: string;
  /**
   * A named set of scopes, instead of scopes. MCPReadOnly is memory:read; MCPReadWrite is memory:read and memory:write; GatewayDefault is gateway:generate, gateway:embed, gateway:routes and memory:read.
   */
  preset?: "MCPReadOnly" | "MCPReadWrite" | "GatewayDefault";
  /**
   * What the key may do, instead of preset. There are no wildcards.
   *
   * Items: gateway:generate, text and multimodal generation; gateway:embed, embeddings; gateway:routes, logical routes; memory:read, search and reading; memory:write, creating and changing atoms.
   */
  scopes?: ("gateway:generate" | "gateway:embed" | "gateway:routes" | "memory:read" | "memory:write")[];
  /**
   * The one gateway that the key is bound to. Without it the key may call any gateway of its team. Of effect only with a gateway scope.
   */
  gatewayRef?: {
    /**
     * The ModelGateway's name.
     */
    name: string;
    /**
     * Its namespace, which must be of the same team; the key's own where it is left out.
     */
    namespace?: string;
  };
  /**
   * The routes and models that the key may name at a gateway; any where it is left out. Of effect only with a gateway scope.
   *
   * Items: A model's or a logical route's name, as a client writes it in its request.
   */
  allowedModels?: string[];
  /**
   * The memory libraries that the key may reach. Only with a memory scope.
   */
  libraryAccess?: {
    /**
     * All, every library of the team; or Restricted, those of libraryRefs alone.
     */
    mode: "All" | "Restricted";
    /**
     * The libraries of a Restricted key. One that does not exist grants nothing, and is not replaced by anything.
     *
     * Items: One library.
     */
    libraryRefs?: {
      /**
       * The MemoryLibrary's name.
       */
      name: string;
      /**
       * Its namespace, which must be of the same team; the key's own where it is left out.
       */
      namespace?: string;
    }[];
  };
  /**
   * Whose memory the key is for: a subject is an end user or an agent. The key reads what is shared in its libraries and what is the subject's, and writes only the latter. Left out, it is for what is shared, and reaches nothing of any subject. Only with a memory scope.
   */
  subjectAccess?: {
    /**
     * Bound, every call is of the one subject; or Required, each call names one in the header X-Keyplane-Subject.
     */
    mode: "Bound" | "Required";
    /**
     * The subject of a Bound key.
     */
    subject?: string;
  };
  /**
   * The networks that the key may be used from, of IPv4 and IPv6; anywhere where it is left out. The address is the one that the server's trusted proxies name. The team's own list holds besides.
   *
   * Items: A network, such as 203.0.113.0/24 or 2001:db8::/32, or one address, such as 203.0.113.7/32.
   */
  allowedCIDRs?: string[];
  /**
   * The library that an MCP tool uses when a call names none; the team's default where it is left out. One of libraryRefs when access is Restricted. Only with a memory scope.
   */
  mcpDefaultLibraryRef?: {
    /**
     * The MemoryLibrary's name.
     */
    name: string;
    /**
     * Its namespace, which must be of the same team; the key's own where it is left out.
     */
    namespace?: string;
  };
  /**
   * Active; Suspended, refused until it is Active again; or Revoked, refused for ever with all its versions.
   */
  state: "Active" | "Suspended" | "Revoked";
  /**
   * How long each minted version lives, from its mint: a Go duration such as 2160h. Not together with expiresAt.
   */
  expiresAfter?: string;
  /**
   * The end of the whole key, RFC 3339. Moving it later revives an expired key. Not together with expiresAfter.
   */
  expiresAt?: string;
  /**
   * Where the key's secret comes from. Does not change.
   */
  source: {
    /**
     * Generate, Keyplane mints the key; ImportSecret, the first version is the key in an existing Secret; ImportHash, the first version is known by its hash alone. An import is learned once.
     */
    type: "Generate" | "ImportSecret" | "ImportHash";
    /**
     * The Secret of this namespace that holds the key to import; it is read and never written. With type ImportSecret.
     */
    secretRef?: {
      /**
       * The Secret's name.
       */
      name: string;
      /**
       * The data key in it that holds inf_ and at least 32 more characters.
       */
      key: string;
    };
    /**
     * The hash of the key to import. With type ImportHash.
     */
    hash?: {
      /**
       * The SHA-256 of the full key, as 64 lower-case hex digits.
       */
      sha256: string;
      /**
       * The first 12 characters of the key, which identify it in lists.
       */
      prefix: string;
    };
  };
  /**
   * When a new version takes the place of the present one, and for how long both work.
   */
  rotation?: {
    /**
     * How old the active version may become before the next one is minted: a Go duration such as 720h. Without it nothing rotates by time.
     */
    interval?: string;
    /**
     * How long the old version works on beside the new one. Left out it is 24h, whatever the cause of the new version.
     */
    overlap?: {
      /**
       * Fixed, for a duration; or Adoption, after min as soon as the new version has been used and the old one unused for quiet, and at max whatever happens.
       */
      mode: "Fixed" | "Adoption";
      /**
       * With Fixed: how long both work; 24h where it is left out, 0s for not at all.
       */
      duration?: string;
      /**
       * With Adoption: how long the old version works at least.
       */
      min?: string;
      /**
       * With Adoption: how long the old version works at most.
       */
      max?: string;
      /**
       * With Adoption: how long the old version must have been unused; 10m where it is left out.
       */
      quiet?: string;
    };
    /**
     * Any text. A change of it mints a new version.
     */
    trigger?: string;
  };
  /**
   * How many tokens the key's calls of models may use, or what they may cost, by day, week, month or in all. A call is let through where there is room for what it may use, and charged what its answer reports; else it is answered 429 with budget_exceeded. What was used is counted by name: a key that is declared again goes on with it.
   *
   * Items: What may be used in each period.
   */
  budgets?: {
    /**
     * Tokens that may be used in a period, by what answers report.
     */
    tokens?: number;
    /**
     * What the calls of a period may cost by the servers' price list, such as "250.00". Text, so that it is exact.
     */
    cost?: string;
    /**
     * The currency of cost by ISO 4217, which is the one of the servers' price list.
     */
    currency?: string;
    /**
     * When the budget resets: each Day, each Week on Monday, each Month on its first day; Total, never.
     */
    period: "Day" | "Week" | "Month" | "Total";
    /**
     * Where the period begins, by its IANA name, such as Europe/Berlin.
     */
    timeZone: string;
    /**
     * Refuse answers calls that there is no room for with 429 and budget_exceeded; Alert lets them pass, and counts them.
     */
    onExhausted: "Refuse" | "Alert";
  }[];
  /**
   * How many requests the key may make. Where it is left out the rate is unlimited, and 256 calls may be under way at once on each server replica.
   */
  rateLimit?: {
    /**
     * Requests a minute, in the long run; unlimited where it is left out.
     */
    requestsPerMinute?: number;
    /**
     * Requests at once; a minute's worth where it is left out.
     */
    burst?: number;
    /**
     * Tokens a minute that calls of models use in the long run, and at once; unlimited where it is left out. A call is let through where there is room for what it is expected to use, and charged what its answer reports.
     */
    tokensPerMinute?: number;
    /**
     * Who counts requests and tokens: Installation, all server replicas together, or Replica, each by itself, where it is left out.
     */
    scope?: "Replica" | "Installation";
    /**
     * Calls under way at once on each replica, an answer that streams included; 256 where it is left out.
     */
    concurrent?: number;
  };
  /**
   * The Secret that the key is written to.
   */
  secret: {
    /**
     * Its name; the key's own where it is left out. Does not change.
     */
    name?: string;
    /**
     * The data key in it that holds the key's plaintext. Does not change.
     */
    dataKey: string;
    /**
     * Owner, the Secret goes with the key's declaration; Orphan, it stays.
     */
    creationPolicy: "Owner" | "Orphan";
    /**
     * When the Secret has been deleted: Rotate, a new version is minted and written; Report, a condition says so.
     */
    onLost: "Rotate" | "Report";
    /**
     * When the value in the Secret has been edited: Rotate, a new version is minted and written; Report, a condition says so. The edited value never becomes a key.
     */
    onTampered: "Rotate" | "Report";
    /**
     * More data keys beside the plaintext: Env, environment variables of the usual SDKs; McpConfig, an mcp.json with the memory server; ServiceBinding, the entries of the Service Binding specification.
     */
    template?: "Env" | "McpConfig" | "ServiceBinding";
  };
  /**
   * Workloads of this namespace that are rolled out again when the Secret has a new value.
   *
   * Items: One workload.
   */
  restartTargets: {
    /**
     * Deployment, StatefulSet or DaemonSet.
     */
    kind: "Deployment" | "StatefulSet" | "DaemonSet";
    /**
     * Its name.
     */
    name: string;
  }[];
  /**
   * When the declaration is deleted: Revoke the key, before the object goes; or Retain it, so that it works on without a declaration.
   */
  deletionPolicy: "Revoke" | "Retain";
  /**
   * While true, a deletion of the declaration waits and the key works on, until this is false.
   */
  deletionProtection: boolean;
};

/**
 * What the key is. Written by Keyplane alone.
 */
export type PlatformKeyStatus = {
  /**
   * The generation of the declaration that this status is about.
   */
  observedGeneration?: number;
  /**
   * The controller that wrote this status, by its Lease as namespace/name. Of several controllers that see the object one goes on writing it.
   */
  controllerName?: string;
  /**
   * The key's id, the same for as long as the key lives.
   */
  keyID?: string;
  /**
   * The first 12 characters of the current version. They identify it and never authenticate.
   */
  keyPrefix?: string;
  /**
   * The PlatformTeam that the key belongs to, which is its namespace's.
   */
  team?: string;
  /**
   * The scopes that preset or scopes come to.
   *
   * Items: A scope.
   */
  effectiveScopes?: string[];
  /**
   * Where the plaintext is.
   */
  secretRef?: {
    /**
     * The Secret's name.
     */
    name?: string;
    /**
     * The data key in it.
     */
    dataKey?: string;
  };
  /**
   * The number of the version that is in the Secret.
   */
  currentVersion?: number;
  /**
   * The last five versions, the newest first.
   *
   * Items: One version, that is one secret.
   */
  versions?: {
    /**
     * Counts from 1.
     */
    number: number;
    /**
     * The first 12 characters of this version.
     */
    keyPrefix?: string;
    /**
     * Whether it works, takes leave, or has ended.
     */
    state: "Reserved" | "Active" | "Retiring" | "Retired" | "Voided" | "Revoked";
    /**
     * When it was minted or learned.
     */
    mintedAt?: string;
    /**
     * When it was known to be delivered.
     */
    activatedAt?: string;
    /**
     * When a retiring version ends at the latest.
     */
    retiresAt?: string;
    /**
     * When it ends by expiresAfter.
     */
    expiresAt?: string;
    /**
     * When it was last used, written at most once a day.
     */
    lastUsedTime?: string;
  }[];
  /**
   * When the current version ends, by expiresAfter or expiresAt.
   */
  expiresAt?: string;
  /**
   * The end that an event has warned of, a week before it.
   */
  expiryWarned?: string;
  /**
   * The version that restartTargets were last restarted for.
   */
  restartedVersion?: number;
  /**
   * When the next version will be minted: by rotation.interval, or when there is room for a rotation that waits. Left out where none will be, as of a key that is suspended or ends before.
   */
  nextRotationTime?: string;
  /**
   * When the key was last used, written at most once a day.
   */
  lastUsedTime?: string;
  /**
   * The last use of an old version that condition StaleConsumers reports, written at most every ten minutes.
   */
  staleConsumer?: {
    /**
     * The version that was used.
     */
    version?: number;
    /**
     * When.
     */
    lastUsedTime?: string;
    /**
     * From which address, as the server saw it.
     */
    address?: string;
    /**
     * With which User-Agent, without anything in it that may be a key.
     */
    userAgent?: string;
  };
  /**
   * The receipt of a revocation.
   */
  revocation?: {
    /**
     * Its place in the change feed.
     */
    sequence?: number;
    /**
     * From when on no server replica accepts the key.
     */
    confirmedAt?: string;
  };
  /**
   * Ready, Accepted, ResolvedRefs, SecretDelivered, Enforced, Rotating, StaleConsumers, Leaked, PolicyViolated, BudgetExhausted, Reconciling and Stalled.
   *
   * Items: One aspect of the state.
   */
  conditions?: {
    /**
     * Which aspect.
     */
    type: string;
    /**
     * True, False or Unknown.
     */
    status: "True" | "False" | "Unknown";
    /**
     * The generation that it is about.
     */
    observedGeneration?: number;
    /**
     * When the status last changed.
     */
    lastTransitionTime: string;
    /**
     * Why, in one word of the catalogue.
     */
    reason: string;
    /**
     * Why, and what to do about it, for people.
     */
    message: string;
  }[];
};
