/** Targets to which the references of a declaration resolve now, within the team of its namespace. */
export type ResolvedReferences = {
  /** The team that holds the namespace; null while none does: references then resolve within the key's own team. */
  readonly teamId: string | null;
  /** Id of the bound gateway. Null: not bound. `""`: bound to a gateway that cannot be found. */
  readonly gatewayId: string | null;
  /** Public id of the gateway that the key is bound to; null if there is none. */
  readonly gatewayPublicId: string | null;
  /** Ids of the libraries. Null: all. References that cannot be found are left out: a list only ever shrinks. */
  readonly libraryIds: readonly string[] | null;
  /** Id of the default library for MCP. Null: the team's. `""`: a library that cannot be found; none replaces it. */
  readonly mcpDefaultLibraryId: string | null;
  /** One sentence for each reference that cannot be found. */
  readonly missing: readonly string[];
};
