// Generated from crds/ by scripts/generate.ts. Change the schema there and run `node scripts/generate.ts`.

/**
 * What the library is to be.
 */
export type MemoryLibrarySpec = {
  /**
   * A name for people. The object's name is shown where it is left out.
   */
  displayName?: string;
  /**
   * What belongs into the library, for people and for models.
   */
  description?: string;
  /**
   * When the declaration is deleted: Retain the atoms, to be taken up again by a library of the same name; or Delete them.
   */
  deletionPolicy: "Retain" | "Delete";
  /**
   * Has the library's atoms searched by their meaning too: each is embedded, behind its save, through a gateway of the team, by a key of the library's own that calls this model there and nothing else. What is remembered is sent to that gateway. Without it atoms are found by their words alone.
   */
  embedding?: {
    /**
     * The ModelGateway to embed through, with an upstream that speaks openai or gemini.
     */
    gatewayRef: {
      /**
       * The ModelGateway's name.
       */
      name: string;
      /**
       * Its namespace, which must be of the same team; the library's own where it is left out.
       */
      namespace?: string;
    };
    /**
     * The embedding model, or one of the gateway's logical routes. Another one has all atoms embedded anew.
     */
    model: string;
    /**
     * How many numbers a vector has, of a model that can be asked for fewer than it would give.
     */
    dimensions?: number;
  };
  /**
   * Has a model take atoms out of the conversations that are handed over to the library, behind the call, through a gateway of the team, by a key of the library's own that calls this model there and nothing else. What was said is sent to that gateway. Without it no conversation is taken.
   */
  extraction?: {
    /**
     * The ModelGateway to read conversations through.
     */
    gatewayRef: {
      /**
       * The ModelGateway's name.
       */
      name: string;
      /**
       * Its namespace, which must be of the same team; the library's own where it is left out.
       */
      namespace?: string;
    };
    /**
     * The model, or one of the gateway's logical routes.
     */
    model: string;
    /**
     * How many tokens conversations may take a day (UTC), by estimate and with the longest answers that the model may give. Beyond it a conversation is refused until the next day.
     */
    tokensPerDay: number;
  };
};

/**
 * What the library is. Written by Keyplane alone.
 */
export type MemoryLibraryStatus = {
  /**
   * The generation of the declaration that this status is about.
   */
  observedGeneration?: number;
  /**
   * The controller that wrote this status, by its Lease as namespace/name. Of several controllers that see the object one goes on writing it.
   */
  controllerName?: string;
  /**
   * The library's id in the store.
   */
  libraryID?: string;
  /**
   * The PlatformTeam that the library belongs to, which is its namespace's.
   */
  team?: string;
  /**
   * Ready, Accepted, ResolvedRefs, Embedded, Reconciling and Stalled.
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
