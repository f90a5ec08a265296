import type { ListedObject } from "../source/source.ts";

/**
 * Reports each object that is created, changed or deleted, until the signal aborts. It lists the objects whenever
 * something may have changed, so an object that came and went between two lists is not seen.
 *
 * @param changes yields when something may have changed
 * @param known objects at the beginning
 * @param onChange called with each object; a deleted object comes with its last state
 * @throws if the objects can no longer be listed, before the signal
 */
export async function follow(
  { list, changes }: { list(): Promise<readonly ListedObject[]>; changes(): AsyncIterable<void> },
  known: readonly ListedObject[],
  onChange: (object: ListedObject, isGone: boolean) => void,
  signal: AbortSignal,
): Promise<void> {
  let before = byIdentity(known);
  for await (const _ of changes()) {
    if (signal.aborted) return;
    const listed = await list().catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
    if (listed === undefined) return;
    const now = byIdentity(listed);
    for (const [identity, object] of before) if (!now.has(identity)) onChange(object, true);
    for (const [identity, object] of now) {
      const last = before.get(identity);
      if (last === undefined || JSON.stringify(last.json) !== JSON.stringify(object.json)) onChange(object, false);
    }
    before = now;
  }
}

/** Indexes objects by identity. A server may have several keys of one name, so a key's id is part of it. */
function byIdentity(objects: readonly ListedObject[]): Map<string, ListedObject> {
  return new Map(
    objects.map((object) => {
      const { namespace, name, uid } = object.metadata;
      const keyId = object.state === undefined ? undefined : (object as ListedObject<"PlatformKey">).status?.keyID;
      return [JSON.stringify([object.kind, namespace, name, uid, keyId]), object];
    }),
  );
}
