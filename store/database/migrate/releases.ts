/** Which schemas the builds before this one have, so that a refusal can name the one that helps. */

/** A release, or a build before the first one that an upgrade has to go by. */
export type Release = {
  /** Its tag, or its commit where it has none. */
  readonly name: string;
  /** The version of the schema that it brings a database to. */
  readonly schema: number;
  /** The oldest version of the schema that it brings there. */
  readonly carriesFrom: number;
};

/** Oldest first: each tag adds its line. */
export const RELEASES: readonly Release[] = [{ name: "e9e27372", schema: 58, carriesFrom: 17 }];

/**
 * The newest release that brings a schema of `version` to one between `oldest` and `newest`, which another build then
 * carries on; none where it takes several steps, or where no release has it.
 */
export function releaseBetween(
  version: number,
  { oldest, newest }: { readonly oldest: number; readonly newest: number },
  releases: readonly Release[] = RELEASES,
): Release | undefined {
  return releases.findLast(({ schema, carriesFrom }) => carriesFrom <= version && oldest <= schema && schema <= newest);
}

/** What to do about a schema that is too old, for a message. */
export function wayFrom(
  version: number,
  range: { readonly oldest: number; readonly newest: number },
  releases: readonly Release[] = RELEASES,
): string {
  const release = releaseBetween(version, range, releases);
  const build = release === undefined ? "a build of that version" : `keyplane ${release.name}`;
  return `bring it to version ${release?.schema ?? range.oldest} with ${build}, and come back with this one`;
}
