/** Whose room an answer takes; of a caller without a credential both are null. */
export type Owner = {
  /** A key, or a principal of the management API and the console. */
  readonly key: string | null;
  readonly team: string | null;
};

/** Who asks, as far as it is known by now; a Fastify request is one. */
export type Requester = {
  readonly access: { readonly key: { readonly keyId: string; readonly teamId: string } } | null;
  readonly managementPrincipal: { readonly actor: string } | null;
  /** Of the principal's teams one; null for the installation's own. */
  readonly managementTeamId: string | null;
};

const NO_CREDENTIAL: Owner = { key: null, team: null };

export function ownerOf(asker: Requester | undefined): Owner {
  if (asker?.access) return { key: asker.access.key.keyId, team: asker.access.key.teamId };
  if (asker?.managementPrincipal) return { key: asker.managementPrincipal.actor, team: asker.managementTeamId };
  return NO_CREDENTIAL;
}
