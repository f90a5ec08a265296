/** Owner of the memory budget that an answer takes; both are null for a caller without a credential. */
export type Owner = {
  /** Id of a key, or of a principal of the management API and the console. */
  readonly key: string | null;
  readonly team: string | null;
};

/** Caller of a request, as far as it is known by now. A Fastify request is one. */
export type Requester = {
  readonly access: { readonly key: { readonly keyId: string; readonly teamId: string } } | null;
  readonly managementPrincipal: { readonly actor: string } | null;
  /** Id of a team of the principal; null for those who run the installation. */
  readonly managementTeamId: string | null;
};

const NO_CREDENTIAL: Owner = { key: null, team: null };

export function ownerOf(asker: Requester | undefined): Owner {
  if (asker?.access) return { key: asker.access.key.keyId, team: asker.access.key.teamId };
  if (asker?.managementPrincipal) return { key: asker.managementPrincipal.actor, team: asker.managementTeamId };
  return NO_CREDENTIAL;
}
