// Generated from crds/ by scripts/generate.ts. Change the schema there and run `node scripts/generate.ts`.

/**
 * What the library is to be.
 */
export type MemoryLibrarySpec = {
  /**
   * The name shown in lists; default: the object's name.
   */
  displayName?: string;
  /**
   * What belongs in the library, for people and models.
   */
  description?: string;
  /**
   * When the declaration is deleted: Retain the atoms for a later library of the same name; or Delete them.
   */
  deletionPolicy: "Retain" | "Delete";
  /**
   * Search by meaning. Each atom is embedded after its save through a gateway of the team, with a key of the library that may call only this model there. The atoms' text is sent to that gateway. Left out, search uses words only.
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
       * Its namespace, which must be of the same team; default: the library's.
       */
      namespace?: string;
    };
    /**
     * The embedding model or a logical route of the gateway. A change embeds all atoms again.
     */
    model: string;
    /**
     * The vector's length, for a model that can return shorter ones.
     */
    dimensions?: number;
  };
  /**
   * Lets a model extract atoms from submitted conversations after the call, through a gateway of the team, with a key of the library that may call only this model there. The conversations are sent to that gateway. Left out, the library accepts no conversation.
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
       * Its namespace, which must be of the same team; default: the library's.
       */
      namespace?: string;
    };
    /**
     * The model or a logical route of the gateway.
     */
    model: string;
    /**
     * The tokens of conversations per day (UTC), estimated with the model's longest answers. Beyond it, conversations are refused until the next day.
     */
    tokensPerDay: number;
  };
};

/**
 * What the library is. Written by Keyplane alone.
 */
export type MemoryLibraryStatus = {
  /**
   * The generation that this status describes.
   */
  observedGeneration?: number;
  /**
   * The Lease, as namespace/name, of the one controller that writes this status.
   */
  controllerName?: string;
  /**
   * The library's permanent id.
   */
  libraryID?: string;
  /**
   * The library's PlatformTeam, by its namespace.
   */
  team?: string;
  /**
   * Ready, Accepted, ResolvedRefs, Embedded, Reconciling and Stalled.
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
