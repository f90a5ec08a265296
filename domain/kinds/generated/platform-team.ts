// Generated from crds/ by scripts/generate.ts. Change the schema there and run `node scripts/generate.ts`.

/**
 * What the team is to be.
 */
export type PlatformTeamSpec = {
  /**
   * A name for people. The object's name is shown where it is left out.
   */
  displayName?: string;
  /**
   * The namespaces that belong to the team. A namespace belongs to one team at most: to the one that holds it, or else to the oldest that claims it. The cluster's own and Keyplane's belong to none.
   *
   * Items: A namespace.
   */
  namespaces: string[];
  /**
   * Who belongs to the team, by OIDC subject, OIDC group or Kubernetes ServiceAccount.
   *
   * Items: One member, or all members of a group.
   */
  members: {
    /**
     * admin and member view, create and revoke keys; viewer only views.
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
     * The libraries that the member's tokens reach over MCP; all of the team's where it is left out. One that does not exist grants nothing. Where several entries make a person a member, those with the strongest role count.
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
   * What the team's MCP clients get where their key says nothing.
   */
  mcpAgentPolicy?: {
    /**
     * The library that an MCP tool uses when neither the call nor the key names one.
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
   * The networks that the team's keys may be used from, and its members' tokens over MCP, of IPv4 and IPv6; anywhere where it is left out. A key's own list holds besides. Signing in to the console and the management API are not restricted by it.
   *
   * Items: A network, such as 203.0.113.0/24 or 2001:db8::/32, or one address, such as 203.0.113.7/32.
   */
  allowedCIDRs?: string[];
  /**
   * How many tokens the calls of models of all the team's keys and libraries may use, or what they may cost, by day, week, month or in all. A call is let through where there is room for what it may use, and charged what its answer reports; else it is answered 429 with budget_exceeded. What was used is counted by name: a team that is declared again goes on with it.
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
   * How many requests all of the team's keys may make together, its members' tokens over MCP and its libraries' calls of models included; unlimited where it is left out. A key's own limit holds besides.
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
     * Calls under way at once on each replica, an answer that streams included; unlimited where it is left out.
     */
    concurrent?: number;
  };
  /**
   * What happens to a key of the team that is reported as leaked.
   */
  leaks?: {
    /**
     * Alert (default) records it, and says so with the key; Revoke ends the key at once too. An old version that works on beside a newer one is ended alone.
     */
    action: "Revoke" | "Alert";
  };
  /**
   * Webhooks that are notified of what happens to the team's keys, by a signed POST (Standard Webhooks).
   *
   * Items: One receiver.
   */
  webhooks: {
    /**
     * Where events are posted to: an https URL. Private addresses are refused unless the installation allows them as upstreams, and there alone http will do. Redirects are not followed.
     */
    url: string;
    /**
     * Which events are posted.
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
     * The Secret that events are signed with: `whsec_` and 24 to 64 random bytes in base64, or two of these with a space between, while one takes the other's place.
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
   * The generation of the declaration that this status is about.
   */
  observedGeneration?: number;
  /**
   * The controller that wrote this status, by its Lease as namespace/name. Of several controllers that see the object one goes on writing it.
   */
  controllerName?: string;
  /**
   * The team's id in the store.
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
