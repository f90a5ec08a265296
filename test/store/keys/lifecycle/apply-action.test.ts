import fc from "fast-check";
import { expect, test } from "vitest";
import { isHeal } from "../../../../domain/key/issuance/issuance-policy.ts";
import {
  type ActionContext,
  ActionRefusedError,
  applyAction,
  withRotationRequest,
} from "../../../../domain/key/plan/apply-action.ts";
import type { KeyAction } from "../../../../domain/key/plan/key-action.ts";
import { isLiving, type StoredKey } from "../../../../domain/key/stored/stored-key.ts";
import type { KeptEnd } from "../../../../domain/key/stored/version-end.ts";
import type { Tx } from "../../../../store/database/change.ts";
import { StoreError } from "../../../../store/database/errors.ts";
import { newId } from "../../../../store/database/ids.ts";
import type { Store } from "../../../../store/database/store.ts";
import { reserveVersion } from "../../../../store/keys/lifecycle/key-reservations.ts";
import {
  activateVersion,
  endRetiring,
  markMayBeRead,
  retireVersions,
} from "../../../../store/keys/lifecycle/key-versions.ts";
import { updateKeyPolicy } from "../../../../store/keys/lifecycle/policy-update.ts";
import { releaseKey } from "../../../../store/keys/lifecycle/release.ts";
import { revokeKey } from "../../../../store/keys/lifecycle/revocation.ts";
import { requestRotation as storeRotationRequest } from "../../../../store/keys/lifecycle/rotation-request.ts";
import { findKey } from "../../../../store/keys/rows/find-key.ts";
import { describeNightlyOnEachEngine } from "../../../env/database/engines.ts";
import { examples } from "../../../env/nightly.ts";
import { digestOf, HOUR, type Home, makeTeam, NOW, policyOf, run, unique } from "../../fixtures.ts";

/** What writes to a key: a step of its plan, or a rotation that is requested by hand. */
type Write = KeyAction | { readonly do: "RequestRotation"; readonly revokeOld: boolean };
type Step = {
  readonly write: Write;
  /** Since the step before, in milliseconds. */
  readonly later: number;
  readonly generation: number;
  readonly expiresAfter: number | null;
  /** Of a secret that is another one than the version had, where it was reserved before. */
  readonly otherSecret: boolean;
  readonly undone: boolean;
};

/** How many versions before the one that comes next: mostly what a controller would name. */
const back = fc.constantFrom(0, 0, 0, 0, 0, 1, 2, 3);
const policy = fc
  .record({
    scopes: fc.subarray(["memory:read", "memory:write"] as const),
    libraryIds: fc.option(fc.subarray(["lib_a", "lib_b"])),
    boundGatewayId: fc.constantFrom(null, "", "gw_a"),
    suspended: fc.boolean(),
    expiresAt: fc.constantFrom(null, NOW + HOUR),
    rateLimit: fc.constantFrom(null, { requestsPerMinute: 60, burst: 5, scope: "Replica" }),
    concurrent: fc.constantFrom(null, 3),
  })
  .map(policyOf);
/** Numbers count back from the version that comes next, and ends from now on, in hours, until they are played. */
const write: fc.Arbitrary<Write> = fc.oneof(
  {
    weight: 16,
    arbitrary: fc.record({
      do: fc.constant("Reserve" as const),
      number: back,
      newKey: fc.constant(false),
      policy,
      why: fc.constantFrom("TriggerChanged" as const, "SecretLost" as const, "SecretTampered" as const),
      supersedes: fc.option(fc.record({ number: back, endsAt: fc.constantFrom(-1, 0, 1, 5, 5) })),
    }),
  },
  { weight: 12, arbitrary: fc.record({ do: fc.constant("Publish" as const), number: back }) },
  {
    weight: 16,
    arbitrary: fc.record({
      do: fc.constant("Activate" as const),
      number: back,
      retireOldAt: fc.constantFrom(-1, 0, 1, 5, 5, 5, 9, 9),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("UpdatePolicy" as const),
      generation: fc.constantFrom(1, 2, 3, 3, 3, 3),
      policy,
      expiresAfter: lifetime(),
      keptEnds: keptEnds(),
    }),
  },
  { weight: 4, arbitrary: fc.constant({ do: "Retire" as const }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("RetireAdopted" as const), number: fc.integer({ min: 1, max: 4 }) }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("RequestRotation" as const), revokeOld: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constant({ do: "Release" as const }) },
  { weight: 1, arbitrary: fc.constant({ do: "Revoke" as const, reason: "Declared" as const }) },
);
const step: fc.Arbitrary<Step> = fc.record({
  write,
  later: fc.constantFrom(0, 0, 1, 60_000, HOUR),
  generation: fc.constantFrom(1, 2, 3, 3, 3, 3),
  expiresAfter: lifetime(),
  otherSecret: fc.constantFrom(false, false, false, false, true),
  undone: fc.boolean(),
});

function lifetime(): fc.Arbitrary<number | null> {
  return fc.constantFrom(null, null, 2 * HOUR, 4 * HOUR + 7);
}

function keptEnds(): fc.Arbitrary<readonly KeptEnd[]> {
  return fc.constantFrom(
    [],
    [
      { number: 1, expiresAt: NOW + HOUR },
      { number: 2, expiresAt: null },
    ],
  );
}

/** Six versions, of which the last would be one too many beside the others, unless they end. */
const NO_SLOT = [9, 9, 9, 9, 9, 9, 0].flatMap((retireOldAt): Step[] => {
  const at = { later: 1, generation: 3, expiresAfter: null, otherSecret: false, undone: false };
  const reserve = { do: "Reserve", number: 0, newKey: false, why: "TriggerChanged", supersedes: null } as const;
  return [
    { ...at, write: { ...reserve, policy: policyOf() } },
    { ...at, write: { do: "Activate", number: 0, retireOldAt } },
  ];
});

describeNightlyOnEachEngine("A key's actions", (store) => {
  test("store what applyAction says, and are refused where it refuses, whatever their order", async () => {
    const home = await makeTeam(store());
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), (steps) =>
        comparesEqual(store(), home, steps),
      ),
      { numRuns: examples(20), examples: [[NO_SLOT]] },
    );
  });

  test("import a key as applyAction says", async () => {
    const home = await makeTeam(store());
    const secret = { digest: digestOf(unique("imported")), prefix: unique("inf_im").padEnd(12, "x") };
    const context = contextOf(home, { later: 0, generation: 1, expiresAfter: 2 * HOUR }, NOW, secret);
    const imported: ActionContext = { ...context, declared: { ...context.declared, source: { type: "ImportHash" } } };
    await run(store(), async (tx) => {
      await reserveVersion(tx, {
        ...{ key: keyOf(imported), policy: policyOf(), number: 1, ...secret, imported: true },
        ...{ expiresAfter: 2 * HOUR, rotationTrigger: "now" },
      });
      await activateVersion(tx, { keyId: context.identity.id, number: 1, overlapMs: 0 });
    });
    const applied = applyAction(undefined, { do: "Import", policy: policyOf(), ...secret }, imported);
    expect(await stored(store(), context.identity.id)).toEqual(asRead(applied));
  });
});

/** Plays the steps through the store and through applyAction, and compares the key after each. */
async function comparesEqual(store: Store, home: Home, steps: readonly Step[]): Promise<void> {
  const first = contextOf(home, { generation: 1, expiresAfter: null }, NOW);
  let key: StoredKey | undefined;
  let now = NOW;
  const born = {
    do: "Reserve",
    number: 0,
    newKey: true,
    policy: policyOf(),
    why: "FirstVersion",
    supersedes: null,
  } as const;
  const begin = { write: born, later: 0, generation: 1, expiresAfter: null, otherSecret: false, undone: false };
  for (const one of [begin, ...steps]) {
    now += one.later;
    const action = resolved(one.write, key?.lastNumber ?? 0, now);
    const number = "number" in action ? action.number : 0;
    const digest = digestOf(`${first.identity.id}/${number}${one.otherSecret ? "/other" : ""}`);
    const { identity } = first;
    const context = { ...contextOf(home, one, now, { digest, prefix: "inf_ABCDEFGH" }), identity };
    const applied = refused(() => apply(key, action, context));
    const refusal = await run(store, (tx) => storeAction(tx, key, action, context), now).then(
      () => false,
      (error: unknown) => {
        if (error instanceof StoreError) return true;
        throw error;
      },
    );
    expect({ after: action.do, refused: refusal }).toEqual({ after: action.do, refused: applied === REFUSED });
    if (applied !== REFUSED) key = applied;
    expect(await stored(store, first.identity.id)).toEqual(asRead(key));
  }
}

/** The write with the numbers and times that it stands for. */
function resolved(write: Write, lastNumber: number, now: number): Write {
  switch (write.do) {
    case "Reserve":
      return {
        ...write,
        number: Math.max(1, lastNumber + 1 - write.number),
        supersedes: write.supersedes && {
          number: lastNumber - write.supersedes.number,
          endsAt: now + write.supersedes.endsAt * HOUR,
        },
      };
    case "Publish":
      return { ...write, number: lastNumber - write.number };
    case "Activate":
      return { ...write, number: lastNumber - write.number, retireOldAt: now + write.retireOldAt * HOUR };
    case "RetireAdopted":
      return { ...write, number: lastNumber - write.number };
    default:
      return write;
  }
}

const REFUSED = Symbol("refused");

function refused<T>(work: () => T): T | typeof REFUSED {
  try {
    return work();
  } catch (error) {
    if (error instanceof ActionRefusedError) return REFUSED;
    throw error;
  }
}

function apply(key: StoredKey | undefined, write: Write, context: ActionContext): StoredKey | undefined {
  if (write.do !== "RequestRotation") return applyAction(key, write, context);
  return key && withRotationRequest(key, write.revokeOld, context.now);
}

function contextOf(
  home: Home,
  { generation, expiresAfter, undone = false }: Partial<Step>,
  now: number,
  secret: ActionContext["secret"] = { digest: "", prefix: "" },
): ActionContext {
  const { cluster, namespace, teamId } = home;
  return {
    now,
    generation: generation ?? 1,
    declared: { source: { type: "Generate" }, expiresAfter: expiresAfter ?? null, rotationTrigger: "now" },
    identity: { id: newId("key"), cluster, namespace, teamId, name: "reader", ownerUid: unique("uid") },
    secret,
    undoneSince: undone ? now - 5_000 : null,
  };
}

const keyOf = ({ identity, declared, generation }: ActionContext) => ({
  ...identity,
  source: declared.source.type,
  generation,
});

/** As the controller carries it out. */
async function storeAction(tx: Tx, key: StoredKey | undefined, write: Write, context: ActionContext): Promise<unknown> {
  const keyId = context.identity.id;
  switch (write.do) {
    case "Reserve":
      return reserveVersion(tx, {
        key: keyOf(context),
        ...context.secret,
        ...context.declared,
        policy: write.policy,
        number: write.number,
        supersedes: write.supersedes && {
          number: write.supersedes.number,
          overlapMs: write.supersedes.endsAt - context.now,
        },
        heals: isHeal(write.why) ? { reason: write.why, at: context.undoneSince ?? context.now } : null,
      });
    case "Publish":
      return markMayBeRead(tx, keyId, write.number);
    case "Activate":
      return activateVersion(tx, { keyId, number: write.number, overlapMs: write.retireOldAt - context.now });
    case "UpdatePolicy":
      return updateKeyPolicy(tx, { keyId, ...write });
    case "Retire":
      return retireVersions(tx, keyId);
    case "RetireAdopted":
      return endRetiring(tx, keyId, write.number);
    case "Revoke":
      return revokeKey(tx, keyId, write.reason);
    case "Release":
      return releaseKey(tx, keyId);
    case "RequestRotation":
      return storeRotationRequest(tx, keyId, write.revokeOld);
    default:
      throw new Error(`${write.do} writes nothing of ${key?.id}`);
  }
}

/** What is stored of a key, but for what no action writes. */
async function stored(store: Store, keyId: string): Promise<unknown> {
  const key = await findKey(store.db, keyId);
  if (key === undefined) return undefined;
  const { createdAt, spec, managedBy, teamHoldsNamespace, secretFound, ...found } = key;
  const { declarationFound, hasConditions, applied, ...rest } = found;
  return { ...rest, revocation: key.revocation && { ...key.revocation, seq: null } };
}

/**
 * A key as it is read from the store: without voided versions, those that live and the last five; and without the time
 * of its creation, which is the real clock's there.
 */
function asRead(key: StoredKey | undefined): Omit<StoredKey, "createdAt"> | undefined {
  if (key === undefined) return undefined;
  const { createdAt, ...read } = key;
  const shown = key.versions.filter(({ state }) => state !== "voided");
  return { ...read, versions: shown.filter((version, place) => isLiving(version) || place < 5) };
}
