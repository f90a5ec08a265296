// Generated from crds/ by scripts/generate.ts. Change the schema there and run `node scripts/generate.ts`.

/**
 * What the gateway is to be.
 */
export type ModelGatewaySpec = {
  /**
   * The gateway's id in URLs, unique over all gateways of an installation; generated where it is left out. Does not change.
   */
  publicID?: string;
  /**
   * Whether only models that a route names are served.
   */
  routesOnly: boolean;
  /**
   * The providers behind the gateway. A request goes to the first one of its path's dialect, unless a route names another.
   *
   * Items: One provider.
   */
  upstreams: {
    /**
     * Its name, which routes refer to.
     */
    name: string;
    /**
     * The API it speaks.
     */
    dialect: "openai" | "gemini" | "anthropic";
    /**
     * Where it is: an http or https URL of its origin and, where it has one, a path prefix, such as the provider gives for the SDK of the dialect. The operation's path, such as /v1/chat/completions, is put behind it: with the dialect openai without its version where the prefix has one, such as /v1, /api/paas/v4 or /v1beta/openai; with the others without its version where the prefix ends in the same one. Private addresses are refused unless the installation allows them.
     */
    baseURL: string;
    /**
     * The Secret of this namespace that holds the provider's credential, 4,096 characters at most.
     */
    credentialRef: {
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
  /**
   * Names that clients may use for a model, and where each one leads.
   *
   * Items: One logical route.
   */
  routes: {
    /**
     * The name, as a client writes it in its request.
     */
    model: string;
    /**
     * The route's id, which the answer's header x-keyplane-route-id carries.
     */
    routeID: string;
    /**
     * The name of the upstream.
     */
    upstream: string;
    /**
     * The model that is asked of it.
     */
    upstreamModel: string;
    /**
     * How many calls that name the route are let through, of all keys together, as an upstream's quota wants it; unlimited where it is left out. The limits of keys and teams hold besides. A call that is passed on to fallbacks counts once.
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
     * What is tried in this order when the upstream refuses the connection, or answers 429 or 5xx, or nothing within its time.
     *
     * Items: One fallback.
     */
    fallbacks: {
      /**
       * The name of the upstream, of the same dialect as the route's.
       */
      upstream: string;
      /**
       * The model that is asked of it.
       */
      upstreamModel: string;
    }[];
  }[];
};

/**
 * What the gateway is. Written by Keyplane alone.
 */
export type ModelGatewayStatus = {
  /**
   * The generation of the declaration that this status is about.
   */
  observedGeneration?: number;
  /**
   * The controller that wrote this status, by its Lease as namespace/name. Of several controllers that see the object one goes on writing it.
   */
  controllerName?: string;
  /**
   * The gateway's id in the store.
   */
  gatewayID?: string;
  /**
   * The id in URLs, declared or generated.
   */
  publicID?: string;
  /**
   * The PlatformTeam that the gateway belongs to, which is its namespace's.
   */
  team?: string;
  /**
   * Ready, Accepted, ResolvedRefs, CredentialsAccepted, Reconciling and Stalled.
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
