// Generated from crds/ by scripts/generate.ts. Change the schema there and run `node scripts/generate.ts`.

/**
 * What the gateway is to be.
 */
export type ModelGatewaySpec = {
  /**
   * The gateway's id in URLs, unique in the installation; default: generated. Immutable.
   */
  publicID?: string;
  /**
   * Whether to serve only models that a route names.
   */
  routesOnly: boolean;
  /**
   * The calls that it serves, by kind; others get 404. The reference of the gateway's calls lists which paths are of which kind.
   *
   * Items: generate, text and multimodal generation; embed, embeddings; models, the lists of its routes; images, generating and editing pictures; audio, speech, transcriptions and translations; moderations, judging texts and pictures; responses, reading back and deleting stored responses and conversations; files, uploading, listing, reading and deleting files, and caching contents; batches, requests that are answered later; vectorStores, searching files by meaning.
   */
  operations: (
    | "generate"
    | "embed"
    | "models"
    | "images"
    | "audio"
    | "moderations"
    | "responses"
    | "files"
    | "batches"
    | "vectorStores"
  )[];
  /**
   * The providers. A request goes to the first one of its path's dialect, unless a route names another.
   *
   * Items: One provider.
   */
  upstreams: {
    /**
     * The name that routes refer to.
     */
    name: string;
    /**
     * The API it speaks.
     */
    dialect: "openai" | "gemini" | "anthropic";
    /**
     * The http or https URL of its origin, with a path prefix if it has one, as the provider gives it for the dialect's SDK. The operation's path, such as /v1/chat/completions, is appended: with openai, without its version where the prefix has one, such as /v1, /api/paas/v4 or /v1beta/openai; with gemini, where the prefix is one; with anthropic, where it ends in /v1. Private addresses are refused unless the installation allows them.
     */
    baseURL: string;
    /**
     * The Secret in this namespace with the provider's credential, at most 4,096 characters. Left out, calls go there without a credential, as to a model server of one's own.
     */
    credentialRef?: {
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
   * Names that clients may use for a model, and their targets.
   *
   * Items: One logical route.
   */
  routes: {
    /**
     * The name in the client's request.
     */
    model: string;
    /**
     * The route's id, sent in the answer's header x-keyplane-route-id.
     */
    routeID: string;
    /**
     * The name of the upstream.
     */
    upstream: string;
    /**
     * The model to request from it.
     */
    upstreamModel: string;
    /**
     * Its share of first calls; without weights, all.
     */
    weight?: number;
    /**
     * Key keeps a key's calls at one upstream.
     */
    sticky?: "Key";
    /**
     * The limits of calls that name the route, of all keys together, such as for an upstream's quota; default: unlimited. The limits of keys and teams apply too. A call counts once, with its fallbacks.
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
     * What to try, in this order, when the upstream refuses the connection, answers 429 or 5xx, or times out.
     *
     * Items: One fallback.
     */
    fallbacks: {
      /**
       * The name of the upstream, of the same dialect as the route's.
       */
      upstream: string;
      /**
       * The model to request from it.
       */
      upstreamModel: string;
      /**
       * Its share of first calls; default: 0.
       */
      weight?: number;
    }[];
    /**
     * Retries at the same upstream after 429, 5xx or a failed connection, before the fallbacks; default: none.
     */
    retry?: {
      /**
       * The retries at each upstream.
       */
      attempts: number;
    };
    /**
     * The times of its calls.
     */
    timeouts?: {
      /**
       * Seconds until the answer begins, over all attempts; default: 600 for each upstream, or 60 where a fallback is left.
       */
      firstByteSeconds?: number;
      /**
       * Seconds without a piece of the answer; default 300.
       */
      idleSeconds?: number;
    };
  }[];
};

/**
 * What the gateway is. Written by Keyplane alone.
 */
export type ModelGatewayStatus = {
  /**
   * The generation that this status describes.
   */
  observedGeneration?: number;
  /**
   * The Lease, as namespace/name, of the one controller that writes this status.
   */
  controllerName?: string;
  /**
   * The gateway's permanent id.
   */
  gatewayID?: string;
  /**
   * The id in URLs, declared or generated.
   */
  publicID?: string;
  /**
   * The gateway's PlatformTeam, by its namespace.
   */
  team?: string;
  /**
   * Ready, Accepted, ResolvedRefs, CredentialsAccepted, Reconciling and Stalled.
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
