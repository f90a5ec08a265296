// Generated from crds/ by scripts/generate.ts. Change the schema there and run `node scripts/generate.ts`.

/**
 * Which teams the policy is for, and what it asks of their keys.
 */
export type PlatformKeyPolicySpec = {
  /**
   * The PlatformTeams that the policy is for: those that match all that is written here, so that {} is every team.
   */
  teamSelector: {
    /**
     * The names of teams, one of which it must be.
     *
     * Items: A PlatformTeam's name.
     */
    matchNames?: string[];
    /**
     * What must hold of the team's labels, as in a label selector of Kubernetes.
     *
     * Items: One condition on one label.
     */
    matchExpressions?: {
      /**
       * The label's name, such as environment or example.com/tier.
       */
      key: string;
      /**
       * In, the label has one of values; NotIn, it has none of them, or is not there; Exists, it is there; DoesNotExist, it is not.
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
   * How long a key that was issued before goes on though a rule does not let it: a Go duration, from when the rule came to hold for its team. Then the key ends until it meets the rule.
   */
  gracePeriod: string;
  /**
   * How long a version of a key may live.
   */
  expiry?: {
    /**
     * Whether a key must have an end. A default gives it one.
     */
    required?: boolean;
    /**
     * The expiresAfter of a key that declares neither expiresAfter nor expiresAt: a Go duration. It is not written into the key's spec.
     */
    default?: string;
    /**
     * The longest that a version may live, from its mint to its end by expiresAfter or expiresAt: a Go duration. A key without an end lives longer than any.
     */
    max?: string;
  };
  /**
   * How often a key must have a new version.
   */
  rotation?: {
    /**
     * The longest rotation.interval: a Go duration. A key each of whose versions ends within it by expiresAfter or expiresAt needs none. An older key with none, or a longer one, is rotated by this one after the grace period.
     */
    maxInterval: string;
  };
  /**
   * The scopes that a key may have.
   *
   * Items: A scope, as in the key's scopes.
   */
  allowedScopes?: ("gateway:generate" | "gateway:embed" | "gateway:routes" | "memory:read" | "memory:write")[];
  /**
   * The presets, within one of which all scopes of a key must be, whether it names the preset or writes scopes.
   *
   * Items: A preset, as in the key's preset.
   */
  allowedPresets?: ("MCPReadOnly" | "MCPReadWrite" | "GatewayDefault")[];
  /**
   * The routes and models that a key with a gateway scope may name. Such a key must have allowedModels.
   *
   * Items: A model's or a logical route's name.
   */
  allowedModels?: string[];
  /**
   * The gateways, one of which a key with a gateway scope must be bound to by gatewayRef.
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
   * The networks, of IPv4 and IPv6, within which each network of a key's own allowedCIDRs must be. A key must have such a list.
   *
   * Items: A network, such as 203.0.113.0/24 or 2001:db8::/32, or one address, such as 203.0.113.7/32.
   */
  allowedCIDRs?: string[];
  /**
   * How many keys a team may have that are not revoked. The oldest ones are within it.
   */
  maxKeys?: number;
  /**
   * How many requests a key may make, and how many tokens they may use.
   */
  rateLimit?: {
    /**
     * The key's rateLimit.requestsPerMinute, and its burst.
     */
    requestsPerMinute?: {
      /**
       * That of a key that declares none. It is not written into the key's spec.
       */
      default?: number;
      /**
       * The highest. A key without a limit has a higher one than any.
       */
      max?: number;
    };
    /**
     * The key's rateLimit.concurrent.
     */
    concurrent?: {
      /**
       * That of a key that declares none. It is not written into the key's spec.
       */
      default?: number;
      /**
       * The highest. A key that declares none has 256.
       */
      max?: number;
    };
    /**
     * The key's rateLimit.tokensPerMinute.
     */
    tokensPerMinute?: {
      /**
       * That of a key that declares none. It is not written into the key's spec.
       */
      default?: number;
      /**
       * The highest. A key without a limit has a higher one than any.
       */
      max?: number;
    };
  };
  /**
   * How much a key's calls of models may use at most, of each unit and period that is written here. A key that declares no budget of that unit and period which refuses calls has this one, which is not written into its spec.
   *
   * Items: The largest budget of a period.
   */
  budgets?: {
    /**
     * Tokens, as in the key's budgets.
     */
    tokens?: number;
    /**
     * A cost, as in the key's budgets, such as "250.00".
     */
    cost?: string;
    /**
     * The currency of cost by ISO 4217.
     */
    currency?: string;
    /**
     * The period, as in the key's budgets.
     */
    period: "Day" | "Week" | "Month" | "Total";
    /**
     * Where the period of a budget begins that a key does not declare, by its IANA name. A key that declares one keeps its own.
     */
    timeZone: string;
  }[];
  /**
   * How much all calls of models by the keys of the policy's teams may use together, besides what each key and each team may. It holds at once. What was used is counted by the policy's name: one that is declared again goes on with it.
   *
   * Items: What may be used together in each period.
   */
  sharedBudgets?: {
    /**
     * Tokens, as in the key's budgets.
     */
    tokens?: number;
    /**
     * A cost, as in the key's budgets, such as "250.00".
     */
    cost?: string;
    /**
     * The currency of cost by ISO 4217.
     */
    currency?: string;
    /**
     * The period, as in the key's budgets.
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
};

/**
 * What the policy is. Written by Keyplane alone.
 */
export type PlatformKeyPolicyStatus = {
  /**
   * The generation of the declaration that this status is about.
   */
  observedGeneration?: number;
  /**
   * The controller that wrote this status, by its Lease as namespace/name. Of several controllers that see the object one goes on writing it.
   */
  controllerName?: string;
  /**
   * The teams that it is for.
   *
   * Items: One team.
   */
  teams?: {
    /**
     * The PlatformTeam's name.
     */
    name: string;
    /**
     * From when on it is for this team.
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
   * From when on each of its rules is as it is. The grace period counts from the later of both times.
   *
   * Items: One rule.
   */
  rules?: {
    /**
     * Its field, such as expiry.max.
     */
    rule: string;
    /**
     * A digest of what it says.
     */
    value: string;
    /**
     * From when on it says that.
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
