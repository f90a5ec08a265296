// Generated from crds/ by scripts/generate.ts. Change the schema there and run `node scripts/generate.ts`.

/**
 * Which teams the policy is for, and what it asks of their keys.
 */
export type PlatformKeyPolicySpec = {
  /**
   * The PlatformTeams that the policy applies to: those that match every condition; {} is every team.
   */
  teamSelector: {
    /**
     * The team is one of these.
     *
     * Items: A PlatformTeam's name.
     */
    matchNames?: string[];
    /**
     * Conditions on the team's labels, as in a Kubernetes label selector.
     *
     * Items: One condition on one label.
     */
    matchExpressions?: {
      /**
       * The label's name, such as environment or example.com/tier.
       */
      key: string;
      /**
       * In: the label has one of values. NotIn: it has none of them, or is missing. Exists, DoesNotExist: it is present or missing.
       */
      operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
      /**
       * The label's values, with In and NotIn.
       *
       * Items: A value.
       */
      values?: string[];
    }[];
  };
  /**
   * How long an existing key that breaks a rule still works, a Go duration from when the rule began to apply to its team. After that the key is refused until it meets the rule.
   */
  gracePeriod: string;
  /**
   * The lifetime of a key's version.
   */
  expiry?: {
    /**
     * Whether a key must expire. A default makes it expire.
     */
    required?: boolean;
    /**
     * The expiresAfter, a Go duration, of a key without expiresAfter and expiresAt; not written into its spec.
     */
    default?: string;
    /**
     * The longest lifetime of a version, a Go duration from its creation to expiresAfter or expiresAt. A key that never expires exceeds it.
     */
    max?: string;
  };
  /**
   * How often a key must rotate.
   */
  rotation?: {
    /**
     * The longest rotation.interval, a Go duration. A key whose versions all end within it, by expiresAfter or expiresAt, needs no interval. After the grace period, it rotates an existing key with a longer interval or none.
     */
    maxInterval: string;
  };
  /**
   * The scopes that a key may have.
   *
   * Items: A scope, as in the key's scopes.
   */
  allowedScopes?: (
    "gateway:generate" | "gateway:embed" | "gateway:routes" | "memory:read" | "memory:write" | "gateway:files"
  )[];
  /**
   * All scopes of a key must be within one of these presets, whether the key names a preset or scopes.
   *
   * Items: A preset, as in the key's preset.
   */
  allowedPresets?: ("MCPReadOnly" | "MCPReadWrite" | "GatewayDefault")[];
  /**
   * The routes and models that a key with a gateway scope may name; such a key must declare allowedModels.
   *
   * Items: A model's or a logical route's name.
   */
  allowedModels?: string[];
  /**
   * A key with a gateway scope must be bound to one of these by gatewayRef.
   *
   * Items: One gateway.
   */
  allowedGateways?: {
    /**
     * The ModelGateway's namespace.
     */
    namespace: string;
    /**
     * The ModelGateway's name.
     */
    name: string;
  }[];
  /**
   * The IPv4 and IPv6 networks that must contain each network of a key's allowedCIDRs. A key must have such a list.
   *
   * Items: A network, such as 203.0.113.0/24 or 2001:db8::/32, or one address, such as 203.0.113.7/32.
   */
  allowedCIDRs?: string[];
  /**
   * How many unrevoked keys a team may have. The oldest count first.
   */
  maxKeys?: number;
  /**
   * The limits of a key.
   */
  rateLimit?: {
    /**
     * The key's rateLimit.requestsPerMinute, and its burst.
     */
    requestsPerMinute?: {
      /**
       * For a key that declares none; not written into its spec.
       */
      default?: number;
      /**
       * The highest; a key without a limit exceeds it.
       */
      max?: number;
    };
    /**
     * The key's rateLimit.concurrent.
     */
    concurrent?: {
      /**
       * For a key that declares none; not written into its spec.
       */
      default?: number;
      /**
       * The highest; a key that declares none has 256.
       */
      max?: number;
    };
    /**
     * The key's rateLimit.tokensPerMinute.
     */
    tokensPerMinute?: {
      /**
       * For a key that declares none; not written into its spec.
       */
      default?: number;
      /**
       * The highest; a key without a limit exceeds it.
       */
      max?: number;
    };
  };
  /**
   * The largest budgets of a key, by unit and period. A key that declares no budget with Refuse of that unit and period has this one. Not written into its spec.
   *
   * Items: The largest budget of a period.
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
     * The IANA time zone of a budget that a key does not declare. A key that declares one keeps its own.
     */
    timeZone: string;
  }[];
  /**
   * Budgets that the keys of the policy's teams share for model calls, beside those of each key and team. They apply at once. Use is counted by the policy's name, so a policy that is declared again continues its count.
   *
   * Items: What may be used together in each period.
   */
  sharedBudgets?: {
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
};

/**
 * What the policy is. Written by Keyplane alone.
 */
export type PlatformKeyPolicyStatus = {
  /**
   * The generation that this status describes.
   */
  observedGeneration?: number;
  /**
   * The Lease, as namespace/name, of the one controller that writes this status.
   */
  controllerName?: string;
  /**
   * The teams that it applies to.
   *
   * Items: One team.
   */
  teams?: {
    /**
     * The PlatformTeam's name.
     */
    name: string;
    /**
     * Since when it applies to this team.
     */
    since: string;
  }[];
  /**
   * The namespaces of these teams.
   *
   * Items: A namespace.
   */
  namespaces?: string[];
  /**
   * Since when each rule has its value. The grace period counts from this or from teams[].since, whichever is later.
   *
   * Items: One rule.
   */
  rules?: {
    /**
     * Its field, such as expiry.max.
     */
    rule: string;
    /**
     * A digest of its value.
     */
    value: string;
    /**
     * Since when it has this value.
     */
    since: string;
  }[];
  /**
   * Ready, Accepted, BudgetExhausted, Reconciling and Stalled.
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
