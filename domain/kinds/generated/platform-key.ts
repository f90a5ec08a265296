// Generated from crds/ by scripts/generate.ts. Change the schema there and run `node scripts/generate.ts`.

/**
 * What the key is to be.
 */
export type PlatformKeySpec = {
  /**
   * The name shown in lists; default: the object's name.
   */
  displayName?: string;
  /**
   * Whom to ask about the key, such as an address. It is shown with the key, also to its holder, and decides nothing.
   */
  owner?: string;
  /**
   * A set of scopes, instead of scopes. MCPReadOnly: memory:read. MCPReadWrite: memory:read, memory:write. GatewayDefault: gateway:generate, gateway:embed, gateway:routes, memory:read.
   */
  preset?: "MCPReadOnly" | "MCPReadWrite" | "GatewayDefault";
  /**
   * What the key may do, instead of preset; without wildcards.
   *
   * Items: gateway:generate, text and multimodal generation; gateway:embed, embeddings; gateway:routes, logical routes; gateway:files, files and cached contents at the providers; memory:read, search and reading; memory:write, creating and changing atoms.
   */
  scopes?: (
    "gateway:generate" | "gateway:embed" | "gateway:routes" | "memory:read" | "memory:write" | "gateway:files"
  )[];
  /**
   * The only gateway that the key may call; default: any of its team. Needs a gateway scope to have an effect.
   */
  gatewayRef?: {
    /**
     * The ModelGateway's name.
     */
    name: string;
    /**
     * Its namespace, which must be of the same team; default: the key's.
     */
    namespace?: string;
  };
  /**
   * The routes and models that the key may use; default: any. Needs a gateway scope to have an effect.
   *
   * Items: A model's or a logical route's name, as a client writes it in its request.
   */
  allowedModels?: string[];
  /**
   * The memory libraries that the key may use. Only with a memory scope.
   */
  libraryAccess?: {
    /**
     * All: every library of the team. Restricted: only libraryRefs.
     */
    mode: "All" | "Restricted";
    /**
     * The libraries of a Restricted key. A missing one grants nothing and has no substitute.
     *
     * Items: One library.
     */
    libraryRefs?: {
      /**
       * The MemoryLibrary's name.
       */
      name: string;
      /**
       * Its namespace, which must be of the same team; default: the key's.
       */
      namespace?: string;
    }[];
  };
  /**
   * The subject, an end user or agent, whose memory the key uses. The key reads the subject's and the shared atoms of its libraries, and writes only the subject's. Left out, it uses only shared atoms. Only with a memory scope.
   */
  subjectAccess?: {
    /**
     * Bound: one subject for every call. Required: each call names one in the header X-Keyplane-Subject.
     */
    mode: "Bound" | "Required";
    /**
     * The subject of a Bound key.
     */
    subject?: string;
  };
  /**
   * The IPv4 and IPv6 networks that the key may be used from; default: any. The client's address is the one that trusted proxies report. The team's list applies too.
   *
   * Items: A network, such as 203.0.113.0/24 or 2001:db8::/32, or one address, such as 203.0.113.7/32.
   */
  allowedCIDRs?: string[];
  /**
   * The library of MCP calls that name none; default: the team's. One of libraryRefs when access is Restricted. Only with a memory scope.
   */
  mcpDefaultLibraryRef?: {
    /**
     * The MemoryLibrary's name.
     */
    name: string;
    /**
     * Its namespace, which must be of the same team; default: the key's.
     */
    namespace?: string;
  };
  /**
   * Active; Suspended: refused until Active again; Revoked: refused permanently, with all versions.
   */
  state: "Active" | "Suspended" | "Revoked";
  /**
   * The lifetime of each version from its creation, a Go duration such as 2160h. Not together with expiresAt.
   */
  expiresAfter?: string;
  /**
   * When the whole key expires. A later time revives an expired key. Not together with expiresAfter.
   */
  expiresAt?: string;
  /**
   * The origin of the key's secret. Immutable.
   */
  source: {
    /**
     * Generate: Keyplane creates the key. ImportSecret: the first version is the key in an existing Secret. ImportHash: the first version is known only by its hash. An import is read once.
     */
    type: "Generate" | "ImportSecret" | "ImportHash";
    /**
     * With ImportSecret: the Secret in this namespace with the key to import. It is never written.
     */
    secretRef?: {
      /**
       * The Secret's name.
       */
      name: string;
      /**
       * The data key with the value: inf_ and at least 32 more characters.
       */
      key: string;
    };
    /**
     * With ImportHash: the hash of the key to import.
     */
    hash?: {
      /**
       * The SHA-256 of the full key, 64 lower-case hex digits.
       */
      sha256: string;
      /**
       * The first 12 characters of the key, which identify it in lists.
       */
      prefix: string;
    };
  };
  /**
   * When a new version replaces the current one, and how long both work.
   */
  rotation?: {
    /**
     * The age at which the active version is replaced, a Go duration such as 720h. Without it, nothing rotates by time.
     */
    interval?: string;
    /**
     * How long the old version works beside the new one, whatever caused the new one; default: 24h.
     */
    overlap?: {
      /**
       * Fixed: for a duration. Adoption: after min, once the new version has been used and the old one unused for quiet; at the latest after max.
       */
      mode: "Fixed" | "Adoption";
      /**
       * With Fixed: how long both work; default: 24h; 0s: no overlap.
       */
      duration?: string;
      /**
       * With Adoption: the shortest overlap.
       */
      min?: string;
      /**
       * With Adoption: the longest overlap.
       */
      max?: string;
      /**
       * With Adoption: how long the old version must have been unused; default: 10m.
       */
      quiet?: string;
    };
    /**
     * Any text. A change creates a new version.
     */
    trigger?: string;
  };
  /**
   * The tokens or cost of the key's model calls per day, week, month or in total. A call reserves what it may use and is charged what its answer reports; without room it is answered 429 budget_exceeded. Use is counted by name, so a key that is declared again continues its count.
   *
   * Items: What may be used in each period.
   */
  budgets?: {
    /**
     * The tokens per period, as answers report them.
     */
    tokens?: number;
    /**
     * The cost per period by the servers' price list, such as "250.00", as text.
     */
    cost?: string;
    /**
     * The ISO 4217 currency of cost, that of the servers' price list.
     */
    currency?: string;
    /**
     * When the budget resets: each Day, Week (on Monday) or Month (on its first day); Total: never.
     */
    period: "Day" | "Week" | "Month" | "Total";
    /**
     * The IANA time zone of the period, such as Europe/Berlin.
     */
    timeZone: string;
    /**
     * Refuse: calls without room are answered 429 budget_exceeded. Alert: they pass and are counted.
     */
    onExhausted: "Refuse" | "Alert";
  }[];
  /**
   * The key's limits; default: an unlimited rate, and 256 concurrent calls per server replica.
   */
  rateLimit?: {
    /**
     * The sustained requests per minute; default: unlimited.
     */
    requestsPerMinute?: number;
    /**
     * Requests at once; default: a minute's worth.
     */
    burst?: number;
    /**
     * The tokens of model calls per minute, sustained and at once; default: unlimited. A call reserves what it is expected to use and is charged what its answer reports.
     */
    tokensPerMinute?: number;
    /**
     * Who counts requests and tokens: Installation, all server replicas together; Replica (default), each by itself.
     */
    scope?: "Replica" | "Installation";
    /**
     * Concurrent calls per replica, streams included; default: 256.
     */
    concurrent?: number;
  };
  /**
   * The Secret that the key is written to.
   */
  secret: {
    /**
     * Its name; default: the key's. Immutable.
     */
    name?: string;
    /**
     * The data key with the plaintext. Immutable.
     */
    dataKey: string;
    /**
     * Owner: the Secret is deleted with the declaration. Orphan: it stays.
     */
    creationPolicy: "Owner" | "Orphan";
    /**
     * When the Secret is deleted: Rotate writes a new version; Report sets a condition.
     */
    onLost: "Rotate" | "Report";
    /**
     * When the Secret's value is edited: Rotate writes a new version; Report sets a condition. The edited value never becomes a key.
     */
    onTampered: "Rotate" | "Report";
    /**
     * More data keys. Env: environment variables of the usual SDKs. McpConfig: an mcp.json with the memory server. ServiceBinding: the entries of the Service Binding specification.
     */
    template?: "Env" | "McpConfig" | "ServiceBinding";
  };
  /**
   * Workloads of this namespace to restart when the Secret has a new value.
   *
   * Items: One workload.
   */
  restartTargets: {
    /**
     * The workload's kind.
     */
    kind: "Deployment" | "StatefulSet" | "DaemonSet";
    /**
     * Its name.
     */
    name: string;
  }[];
  /**
   * When the declaration is deleted: Revoke the key before the object is removed; Retain the key, which works without a declaration.
   */
  deletionPolicy: "Revoke" | "Retain";
  /**
   * While true, a deletion of the declaration waits and the key works.
   */
  deletionProtection: boolean;
};

/**
 * What the key is. Written by Keyplane alone.
 */
export type PlatformKeyStatus = {
  /**
   * The generation that this status describes.
   */
  observedGeneration?: number;
  /**
   * The Lease, as namespace/name, of the one controller that writes this status.
   */
  controllerName?: string;
  /**
   * The key's permanent id.
   */
  keyID?: string;
  /**
   * The current version's first 12 characters, which never authenticate.
   */
  keyPrefix?: string;
  /**
   * The key's PlatformTeam, by its namespace.
   */
  team?: string;
  /**
   * The scopes that preset or scopes grant.
   *
   * Items: A scope.
   */
  effectiveScopes?: string[];
  /**
   * The location of the plaintext.
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
   * The version in the Secret.
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
     * Whether it works, is being replaced, or has ended.
     */
    state: "Reserved" | "Active" | "Retiring" | "Retired" | "Voided" | "Revoked";
    /**
     * When it was created or imported.
     */
    mintedAt?: string;
    /**
     * When its delivery was confirmed.
     */
    activatedAt?: string;
    /**
     * The latest end of a retiring version.
     */
    retiresAt?: string;
    /**
     * When it ends by expiresAfter.
     */
    expiresAt?: string;
    /**
     * Its last use, updated at most once a day.
     */
    lastUsedTime?: string;
  }[];
  /**
   * When the current version ends, by expiresAfter or expiresAt.
   */
  expiresAt?: string;
  /**
   * The expiry that an event has warned of, a week before it.
   */
  expiryWarned?: string;
  /**
   * The last version that restartTargets need no restart for.
   */
  restartedVersion?: number;
  /**
   * When the next version will be created, by rotation.interval or once a waiting rotation has room. Absent if none will be, as for a suspended key.
   */
  nextRotationTime?: string;
  /**
   * The key's last use, updated at most once a day.
   */
  lastUsedTime?: string;
  /**
   * The last use of an old version, for StaleConsumers; updated at most every ten minutes.
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
     * The client's address, as the server saw it.
     */
    address?: string;
    /**
     * The User-Agent, without anything that may be a key.
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
     * Since when no server replica accepts the key.
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
     * The condition's type.
     */
    type: string;
    /**
     * True, False or Unknown.
     */
    status: "True" | "False" | "Unknown";
    /**
     * The generation that it describes.
     */
    observedGeneration?: number;
    /**
     * When the status last changed.
     */
    lastTransitionTime: string;
    /**
     * The reason, one word of the catalogue.
     */
    reason: string;
    /**
     * The cause and the remedy, for people.
     */
    message: string;
  }[];
};
