// Generated from crds/ by scripts/generate.ts. Change the schema there and run `node scripts/generate.ts`.

/**
 * What the team is to be.
 */
export type PlatformTeamSpec = {
  /**
   * The name shown in lists; default: the object's name.
   */
  displayName?: string;
  /**
   * The team's namespaces. A namespace belongs to at most one team: the one that holds it, or else the oldest that claims it. The cluster's and Keyplane's own belong to none.
   *
   * Items: A namespace.
   */
  namespaces: string[];
  /**
   * The team's members, each by exactly one of OIDC subject, OIDC group and Kubernetes ServiceAccount.
   *
   * Items: One member, or all members of a group.
   */
  members: {
    /**
     * admin and member view, create and revoke keys; viewer only views them.
     */
    role: "admin" | "member" | "viewer";
    /**
     * The subject of an OIDC token.
     */
    subject?: string;
    /**
     * A group of an OIDC token.
     */
    group?: string;
    /**
     * A Kubernetes ServiceAccount.
     */
    serviceAccount?: {
      /**
       * Its namespace.
       */
      namespace: string;
      /**
       * Its name.
       */
      name: string;
    };
    /**
     * The libraries that the member's tokens may use over MCP; default: all of the team. A missing one grants nothing. Of several entries for a person, those with the strongest role apply.
     *
     * Items: One library.
     */
    libraryRefs?: {
      /**
       * The MemoryLibrary's namespace, one of the team's.
       */
      namespace: string;
      /**
       * The MemoryLibrary's name.
       */
      name: string;
    }[];
  }[];
  /**
   * Defaults for MCP clients whose key has none.
   */
  mcpAgentPolicy?: {
    /**
     * The library when neither the call nor the key names one.
     */
    defaultLibraryRef?: {
      /**
       * The MemoryLibrary's namespace, one of the team's.
       */
      namespace: string;
      /**
       * The MemoryLibrary's name.
       */
      name: string;
    };
  };
  /**
   * The IPv4 and IPv6 networks that the team's keys, and its members' tokens over MCP, may be used from; default: any. A key's own list applies too. It does not restrict console sign-in or the management API.
   *
   * Items: A network, such as 203.0.113.0/24 or 2001:db8::/32, or one address, such as 203.0.113.7/32.
   */
  allowedCIDRs?: string[];
  /**
   * The tokens or cost of the model calls of all the team's keys and libraries per day, week, month or in total; checked and counted as a key's budgets. A team that is declared again continues its count.
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
   * The limits of all the team's keys together, with its members' tokens over MCP and its libraries' model calls; default: unlimited. A key's own limits apply too.
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
     * Concurrent calls per replica, streams included; default: unlimited.
     */
    concurrent?: number;
  };
  /**
   * What happens to a key that is reported as leaked.
   */
  leaks?: {
    /**
     * Alert records it and sets a condition of the key; Revoke also ends the key at once. If an old version has leaked beside a newer one, only the old one ends.
     */
    action: "Revoke" | "Alert";
  };
  /**
   * Receivers of events of the team's keys, as a signed POST (Standard Webhooks).
   *
   * Items: One receiver.
   */
  webhooks: {
    /**
     * The https URL that receives events. Private addresses are refused unless the installation allows them as upstreams; only these may use http. Redirects are not followed.
     */
    url: string;
    /**
     * The events to post.
     *
     * Items: key.expiring: a key ends within 7 days. key.rotated: a new version took over. key.consumer_late: a client still uses an old version. key.revoked: with its receipt. key.leaked: a key was reported as leaked. key.budget_reached and team.budget_reached: 50, 80 or 100 % of a budget are used.
     */
    events: (
      | "key.expiring"
      | "key.rotated"
      | "key.consumer_late"
      | "key.revoked"
      | "key.leaked"
      | "key.budget_reached"
      | "team.budget_reached"
    )[];
    /**
     * The Secret that signs events: `whsec_` and 24 to 64 random bytes in base64; during a change, two of these with a space between.
     */
    secretRef: {
      /**
       * The Secret's namespace, one of the team's.
       */
      namespace: string;
      /**
       * The Secret's name.
       */
      name: string;
      /**
       * The data key in it.
       */
      key: string;
    };
  }[];
};

/**
 * What the team is. Written by Keyplane alone.
 */
export type PlatformTeamStatus = {
  /**
   * The generation that this status describes.
   */
  observedGeneration?: number;
  /**
   * The Lease, as namespace/name, of the one controller that writes this status.
   */
  controllerName?: string;
  /**
   * The team's permanent id.
   */
  teamID?: string;
  /**
   * The namespaces that the team holds.
   *
   * Items: A namespace.
   */
  namespaces?: string[];
  /**
   * Ready, Accepted, ResolvedRefs, BudgetExhausted, Reconciling and Stalled.
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
