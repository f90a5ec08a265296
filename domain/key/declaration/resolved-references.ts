/** What the references of a declaration resolve to now, within the team of its namespace. */
export type ResolvedReferences = {
  /** The team that holds the namespace; null while none does: what a key has is then resolved within its own team. */
  readonly teamId: string | null;
  /** Null: not bound. `""`: bound to a gateway that cannot be found. */
  readonly gatewayId: string | null;
  /** Of the gateway that it is bound to. */
  readonly gatewayPublicId: string | null;
  /** Null: all. References that cannot be found are left out: a list only ever shrinks. */
  readonly libraryIds: readonly string[] | null;
  /** Null: the team's. `""`: one that cannot be found, and no other takes its place. */
  readonly mcpDefaultLibraryId: string | null;
  /** One sentence for each reference that cannot be found. */
  readonly missing: readonly string[];
};
