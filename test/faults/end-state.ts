import type { World } from "../controller/fixtures/world.ts";

/**
 * The state of a world for those who live in it, without what differs between any two runs: ids, times, secrets, and
 * how many numbers were spent on versions that no client ever got.
 */
export async function endState(world: World, secretNames: readonly string[], seen: readonly string[]) {
  const objects = world.cluster().list("PlatformKey");
  const keys = await world.storedKeys();
  /** How far a generation is behind the object's. */
  const behind = (uid: string | null, generation: number) => {
    const object = objects.find((one) => one.uid === uid);
    return object && object.generation - generation;
  };
  return {
    objects: objects
      .map(({ uid, name, deleting, finalizers, status }) => ({
        name,
        deleting,
        finalizers,
        status: normalise(status, world.tag, (generation) => behind(uid, generation)),
      }))
      .sort((a, b) => a.name.localeCompare(b.name)),
    keys: keys
      .map(({ name, ownerUid, state, policy, generation, revocation, rotationRequest, versions }) => ({
        name,
        owned: ownerUid !== null,
        state,
        policy,
        behind: behind(ownerUid, generation),
        revokedBecause: revocation?.reason ?? null,
        hasReceipt: revocation === null || revocation.seq !== null,
        rotationRequest,
        versions: versions.map(({ state: versionState, rotationTrigger }) => [versionState, rotationTrigger]),
      }))
      .sort((a, b) => a.name.localeCompare(b.name)),
    secrets: await Promise.all(
      secretNames.map(async (name) => {
        const data = await world.readSecret(name);
        const value = data?.["api-key"];
        return {
          name,
          dataKeys: Object.keys(data ?? {}),
          works: value === undefined ? null : world.decide(value),
          isActive: value === undefined ? null : world.record(value)?.versionState,
        };
      }),
    ),
    before: seen.map((plaintext) => world.decide(plaintext)),
  };
}

const NUMBERS: ReadonlySet<string> = new Set(["sequence", "number", "currentVersion", "restartedVersion"]);

/** A status without ids, prefixes, times and numbers. */
function normalise(status: unknown, tag: string, behind: (generation: number) => number | undefined): unknown {
  const text = JSON.stringify(status ?? null, (field, value) => {
    if (field === "observedGeneration") return behind(value);
    if (field === "keyID" || field === "keyPrefix") return "…";
    if (NUMBERS.has(field)) return "#";
    return value;
  });
  return JSON.parse(
    text
      .replaceAll(tag || "(no tag)", "")
      .replace(/\d{4}-\d{2}-\d{2}T[\d:.]+Z/g, "(time)")
      .replace(/([Vv]ersion) \d+/g, "$1 #")
      .replace(/inf_\w{8}/g, "inf_…"),
  );
}
