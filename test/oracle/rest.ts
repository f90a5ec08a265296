/** Where every declaration should have come to, once nothing goes wrong any more (I8). */

import type { Store } from "../../store/database/store.ts";
import { isAccepted } from "./judgement.ts";
import { type Model, type ModelDeclaration, NAMESPACES, teamOf } from "./model.ts";
import { type Ask, call } from "./probers.ts";
import { endsByOwner, heldBackOwners, livingKeysOf, overdueVersions, type RuleBreach } from "./rules.ts";
import { decode } from "./secrets.ts";
import { keysPath, secretsPath, type WatchedObject } from "./watch.ts";

/** How a declaration may be said to be; `True Ready` means that its key works. */
const READY = "True Ready";

/** What users have asked for, and where to look whether it has come about. */
export type RestWorld = {
  readonly model: Model;
  readonly admin: { list(path: string): Promise<WatchedObject[]> };
  readonly world: { readonly store: Store; readonly serverUrls: readonly string[] };
};

/** What is not yet, or not at all, as declared. Looks at every declaration, its state and its Secret, and calls every replica with each key that is Ready, by `ask`. */
export async function findUnrest(asked: RestWorld, ask: Ask = call): Promise<RuleBreach[]> {
  const { model, admin, world } = asked;
  const lists = await Promise.all(
    NAMESPACES.map(async (namespace) => [
      await admin.list(keysPath(namespace)),
      await admin.list(secretsPath(namespace)),
    ]),
  );
  const titled = (objects: WatchedObject[]) =>
    new Map(objects.map((one) => [`${one.metadata.namespace}/${one.metadata.name}`, one]));
  const objects = titled(lists.flatMap(([keys = []]) => keys));
  const secrets = titled(lists.flatMap(([, some = []]) => some));
  const ends = await endsByOwner(world.store);
  const heldBack = await heldBackOwners(world.store);

  const gone = model.former.map((one) => one.uid ?? "");
  const unrest = [...(await overdueVersions(world.store)), ...(await livingKeysOf(world.store, gone))];
  for (const title of objects.keys()) {
    if (!model.declared.has(title)) unrest.push({ subject: title, what: "it was deleted and is still there" });
  }
  for (const one of model.declared.values()) {
    const found = {
      object: objects.get(one.title),
      secret: secrets.get(`${one.namespace}/${one.secretName}`),
      end: ends.get(one.uid ?? ""),
      isHeldBack: heldBack.has(one.uid ?? ""),
    };
    const what = await unrestOf(asked, one, found, ask);
    if (what !== undefined) unrest.push({ subject: one.title, what });
  }
  return unrest;
}

/** What there is of a declaration. */
type Present = {
  readonly object: WatchedObject | undefined;
  readonly secret: WatchedObject | undefined;
  /** How its key was ended, where it was. */
  readonly end: string | undefined;
  /** Whether the next version of its key waits. */
  readonly isHeldBack: boolean;
};

async function unrestOf(
  { model, world }: RestWorld,
  one: ModelDeclaration,
  present: Present,
  ask: Ask,
): Promise<string | undefined> {
  const { object, secret, end } = present;
  // Protected is only a key that lives.
  if (object === undefined) return one.deleting && end !== "" ? undefined : "it is declared and not there";
  if (object.metadata.uid !== one.uid) return "another object has its name";
  if (object.status?.observedGeneration !== object.metadata.generation) return "its status is about another generation";
  const ready = object.status?.conditions?.find(({ type }) => type === "Ready");
  const said = `${ready?.status} ${ready?.reason}`;
  const allowed = allowedOf(model, one, present);
  if (!allowed.includes(said)) {
    const declared = JSON.stringify(one.spec);
    return `it says ${said} (${ready?.message}), and should say ${allowed.join(" or ")}; declared ${declared}`;
  }
  if (said !== READY) return undefined;
  // An import by hash writes no Secret before its first rotation, and another's may be where its own will be.
  const isUnmanaged = model.unmanaged.has(`${one.namespace}/${one.secretName}`);
  const value = (isUnmanaged ? undefined : decode(secret?.data, one.dataKey)) ?? one.imported;
  if (value === undefined) return "it is Ready and has no key";
  const answers = await Promise.all(world.serverUrls.map((url) => ask(url, value)));
  const wrong = answers.findIndex((answer) => answer === undefined || !isAccepted(answer.status));
  return wrong === -1 ? undefined : `it is Ready, and server-${wrong} answers ${answers[wrong]?.status ?? "nothing"}`;
}

/** What a declaration may say of itself at rest, as status and reason of `Ready`. */
function allowedOf(model: Model, one: ModelDeclaration, { secret, end, isHeldBack }: Present): string[] {
  const { spec } = one;
  if (one.deleting) return ["False DeletionProtected"];
  if (spec.state === "Revoked") return ["True Revoked"];
  if (end === "ByHand") return ["False Revoked"];
  if (teamOf(model, one.namespace) === undefined) return ["False NamespaceUnclaimed"];
  if (spec.gatewayRef?.name === "nowhere" || spec.libraryAccess?.libraryRefs?.[0]?.name === "nowhere") {
    return ["False ReferenceNotFound"];
  }
  if (spec.state === "Suspended") return ["True Suspended"];
  const hasEnded = typeof spec.expiresAt === "string" && Date.parse(spec.expiresAt) <= Date.now();
  const reasons: readonly (readonly [boolean, string])[] = [
    [!hasEnded, READY],
    [hasEnded || /^\d+s$/.test(spec.expiresAfter ?? ""), "False Expired"],
    [secret !== undefined && !isOwned(secret, one), "False SecretConflict"],
    [isHeldBack, "False SecretContested"],
    [secret?.immutable === true, "False SecretImmutable"],
    [spec.secret.onLost === "Report", "False SecretLost"],
    [spec.secret.onTampered === "Report", "False SecretTampered"],
    // An imported secret stays the key's that it was learned for, which has been revoked.
    [one.imported !== undefined && one.moved, "False ImportUnusable"],
  ];
  return reasons.filter(([applies]) => applies).map(([, reason]) => reason);
}

function isOwned({ metadata }: WatchedObject, { uid }: ModelDeclaration): boolean {
  return (
    metadata.ownerReferences?.some((owner) => owner.uid === uid) === true ||
    metadata.annotations?.["keyplane.dev/owner-uid"] === uid
  );
}
