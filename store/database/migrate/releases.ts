/** Schemas of earlier builds, so that a refusal can name the build that helps. */

/** Release, or a build before the first release that an upgrade must go through. */
export type Release = {
  /** Its tag, or its commit if it has no tag. */
  readonly name: string;
  /** Schema version that it brings a database to. */
  readonly schema: number;
  /** Oldest schema version that it can start from. */
  readonly carriesFrom: number;
};

/** Releases, oldest first: each tag adds its line. */
export const RELEASES: readonly Release[] = [{ name: "e9e27372", schema: 58, carriesFrom: 17 }];

/**
 * Finds the newest release that brings a schema of `version` to a version between `oldest` and `newest`, from which
 * another build continues; undefined if that takes several steps, or if no release does it.
 */
export function releaseBetween(
  version: number,
  { oldest, newest }: { readonly oldest: number; readonly newest: number },
  releases: readonly Release[] = RELEASES,
): Release | undefined {
  return releases.findLast(({ schema, carriesFrom }) => carriesFrom <= version && oldest <= schema && schema <= newest);
}

/** Says, for a message, what to do about a schema that is too old. */
export function wayFrom(
  version: number,
  range: { readonly oldest: number; readonly newest: number },
  releases: readonly Release[] = RELEASES,
): string {
  const release = releaseBetween(version, range, releases);
  const build = release === undefined ? "a build of that version" : `keyplane ${release.name}`;
  return `bring it to version ${release?.schema ?? range.oldest} with ${build}, and come back with this one`;
}
