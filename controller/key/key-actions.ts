import { errorText } from "../../domain/error-text.ts";
import { isHeal } from "../../domain/key/issuance/issuance-policy.ts";
import type { KeyAction } from "../../domain/key/plan/key-action.ts";
import { whyIssued } from "../../domain/key/plan/key-history.ts";
import { keyDigest, keyPrefix, mintKey } from "../../domain/key/secret/key-format.ts";
import { type StoredVersion, versionIn } from "../../domain/key/stored/stored-key.ts";
import { change, commitChange, type Tx } from "../../store/database/change.ts";
import { TooManyKeysError } from "../../store/database/errors.ts";
import { newId } from "../../store/database/ids.ts";
import { type Reservation, reserveVersion } from "../../store/keys/lifecycle/key-reservations.ts";
import {
  activateVersion,
  endRetiring,
  markMayBeRead,
  retireVersions,
  unmarkMayBeRead,
} from "../../store/keys/lifecycle/key-versions.ts";
import { releaseKey } from "../../store/keys/lifecycle/release.ts";
import { takeOverKey } from "../../store/keys/lifecycle/take-over.ts";
import { recordKeySecret } from "../../store/keys/rows/key-secrets.ts";
import { countKeysBeforeNew } from "../../store/keys/search/keys-before.ts";
import { ClusterError, type DeclaredObject, RESTART_ANNOTATION_PREFIX } from "../cluster/port.ts";
import { recordEvent } from "../context/record-event.ts";
import { deliverSecret, holdsText } from "./deliver-secret.ts";
import type { KeyDeps } from "./key-deps.ts";
import { forgetKey } from "./key-memory.ts";
import { type KeyObservation, takeOverRequest } from "./key-observation.ts";
import { secretToRecord } from "./observe-secret.ts";
import { actOnStore } from "./store-action.ts";

type Act<A extends KeyAction["do"]> = (
  deps: KeyDeps,
  observation: KeyObservation,
  action: Extract<KeyAction, { do: A }>,
) => Promise<void>;

/** Actions that have an effect; `Nothing` and `Wait` have none. */
type Effect = Exclude<KeyAction["do"], "Nothing" | "Wait">;

/** Error codes for which a workload is not restarted, while everything else goes on. */
const NOT_RESTARTABLE: ReadonlySet<ClusterError["code"]> = new Set(["NotFound", "Forbidden", "Refused"] as const);

/**
 * Functions that carry out the planned actions. Each has one effect, so that a crash is always between two
 * observations. Publish also writes a note before its effect; a note without the effect is no more than caution.
 */
const ACTS: { readonly [A in Effect]: Act<A> } = {
  AddFinalizer: (deps, { object }) => deps.cluster.addFinalizer(object),

  async Reserve(deps, observation, action) {
    const { object, observed, rows, declared, stored } = observation;
    const plaintext = mintKey(deps.randomBytes);
    const digest = keyDigest(plaintext);
    // Held before it is sent: should the answer be lost, the same plaintext is still there to be published.
    deps.keyMemory.held.set(object.uid, { plaintext, digest });
    const isNew = action.newKey || stored === undefined;
    await changeKey(deps, object, async (tx) => {
      if (isNew) await assertKeyLimit(tx, observation);
      await reserveVersion(tx, {
        key: isNew ? newKey(deps, observation) : { ...stored, generation: object.generation },
        policy: action.policy,
        number: action.number,
        digest,
        prefix: keyPrefix(plaintext),
        expiresAfter: declared.expiresAfter,
        rotationTrigger: declared.rotationTrigger,
        supersedes: action.supersedes && {
          number: action.supersedes.number,
          overlapMs: action.supersedes.endsAt - rows.now,
        },
        heals: isHeal(action.why) ? { reason: action.why, at: observed.undoneSince ?? rows.now } : null,
      });
    });
  },

  async Import(deps, observation, { policy, digest, prefix }) {
    const { object, declared } = observation;
    const key = newKey(deps, observation);
    await changeKey(deps, object, async (tx) => {
      await assertKeyLimit(tx, observation);
      await reserveVersion(tx, {
        key,
        policy,
        number: 1,
        digest,
        prefix,
        imported: true,
        expiresAfter: declared.expiresAfter,
        rotationTrigger: declared.rotationTrigger,
      });
      await activateVersion(tx, { keyId: key.id, number: 1, overlapMs: 0 });
    });
    const message = `Version 1 (${prefix}...) is imported and active.`;
    await recordEvent(deps, object, { type: "Normal", reason: "Imported", message });
  },

  async TakeOver(deps, { object, declared, observed }, { keyId }) {
    const request = takeOverRequest(object, declared, observed.references.teamId);
    if (request === undefined) return;
    const { uid: ownerUid, namespace, name, generation } = object;
    const { source, rotationTrigger } = declared;
    const owner = { cluster: deps.cluster.uid, namespace, name, ownerUid, generation, rotationTrigger };
    await changeKey(deps, object, (tx) => takeOverKey(tx, { request, owner: { ...owner, source: source.type } }));
    const message = `Key ${keyId}, which was made by hand, now belongs to this declaration.`;
    await recordEvent(deps, object, { type: "Normal", reason: "TakenOver", message });
  },

  async Publish(deps, observation, { number }) {
    const { object, stored } = observation;
    const held = deps.keyMemory.held.get(object.uid);
    if (held === undefined || stored === undefined) return;
    const isFirstWrite = await changeUnseen(deps, (tx) => markMayBeRead(tx, stored.id, number));
    const unmark = () => changeUnseen(deps, (tx) => unmarkMayBeRead(tx, stored.id, number));
    try {
      const written = await deliverSecret(deps, observation, held.plaintext, number);
      if (isFirstWrite && written !== undefined && !holdsText(written, held.plaintext)) await unmark();
    } catch (error) {
      const isRefused = error instanceof ClusterError && error.code !== "Unclear";
      if (isFirstWrite && isRefused) await unmark();
      throw error;
    }
  },

  async Activate(deps, observation, { number, retireOldAt }) {
    const { object, rows, stored } = observation;
    if (stored === undefined) return;
    const overlapMs = retireOldAt - rows.now;
    const found = secretToRecord(deps, observation);
    const ended = await changeKey(deps, object, async (tx) => {
      const numbers = await activateVersion(tx, { keyId: stored.id, number, overlapMs });
      if (found !== undefined) await recordKeySecret(tx, stored.id, found);
      return numbers;
    });
    deps.keyMemory.held.delete(object.uid);
    const prefix = stored.versions.find((version) => version.number === number)?.prefix;
    const message = `Version ${number} (${prefix}...) is delivered and active${whyIssued(stored, number)}.`;
    await recordEvent(deps, object, { type: "Normal", reason: "Issued", message });
    for (const version of stored.versions)
      if (ended.includes(version.number)) await recordRetired(deps, object, version);
  },

  UpdatePolicy: actOnStore,

  async Retire(deps, { object, stored }) {
    if (stored === undefined) return;
    const ended = await changeKey(deps, object, (tx) => retireVersions(tx, stored.id));
    for (const version of stored.versions)
      if (ended.includes(version.number)) await recordRetired(deps, object, version);
  },

  async RetireAdopted(deps, { object, stored }, { number }) {
    const version = stored?.versions.find((one) => one.number === number);
    if (stored === undefined || version === undefined) return;
    await changeKey(deps, object, (tx) => endRetiring(tx, stored.id, number));
    await recordRetired(deps, object, version);
  },

  async Render(deps, observation) {
    const { declared, stored, secret } = observation;
    const active = versionIn(stored, "active");
    const value = secret?.data[declared.secret.dataKey];
    if (value !== undefined && active !== undefined) await deliverSecret(deps, observation, value, active.number);
  },

  async Restart(deps, { object, declared, stored }, { version }) {
    const prefix = stored?.versions.find(({ number }) => number === version)?.prefix;
    if (stored === undefined || prefix === undefined) return;
    // Another key of this name counts its versions from 1 again, and an older database counts one again.
    const value = `${stored.id}.${version}.${prefix}`;
    const annotation = { name: `${RESTART_ANNOTATION_PREFIX}/${object.name}`, value };
    const restart = async (target: (typeof declared.restartTargets)[number]) => {
      try {
        await deps.cluster.restartWorkload(object.namespace, target, annotation);
      } catch (error) {
        // A missing workload reads the new value when it starts. A person has to restart one that is not to be patched.
        if (!(error instanceof ClusterError && NOT_RESTARTABLE.has(error.code))) throw error;
        const message = `${target.kind} ${target.name} is not restarted: ${errorText(error)}`;
        await recordEvent(deps, object, { type: "Warning", reason: "NotRestarted", message });
      }
    };
    await Promise.all(declared.restartTargets.map(restart));
    deps.keyMemory.restarted.set(object.uid, { number: version, prefix });
  },

  Revoke: actOnStore,

  async DetachSecret(deps, { object, secret }) {
    deps.keyMemory.delivered.set(object.uid, null);
    if (secret !== undefined) await deps.cluster.replaceSecret(secret, { ...secret, owner: null });
  },

  async Release(deps, { object, stored }) {
    if (stored === undefined) return;
    await changeKey(deps, object, (tx) => releaseKey(tx, stored.id));
    deps.keyMemory.held.delete(object.uid);
  },

  async DeleteSecret(deps, { object, secret }) {
    deps.keyMemory.delivered.set(object.uid, null);
    if (secret !== undefined) await deps.cluster.deleteSecret(secret);
  },

  async ReleaseFinalizer(deps, { object }) {
    // Before the finalizer is removed: an object that is gone is not reconciled again.
    forgetKey(deps.keyMemory, object.uid);
    deps.confirmations.forget(object.uid);
    await deps.cluster.removeFinalizer(object);
  },
};

/**
 * Carries out one planned action.
 *
 * @throws ClusterError or StoreError: the caller observes again before the next step
 */
export function actOnKey(
  deps: KeyDeps,
  observation: KeyObservation,
  action: Extract<KeyAction, { do: Effect }>,
): Promise<void> {
  // The table's type pairs each action with its own act; the compiler cannot follow the pairing through the index.
  const act = ACTS[action.do] as Act<Effect>;
  return act(deps, observation, action);
}

/**
 * Counts the team's keys again before a new key is stored: others may have been made since the key was observed.
 *
 * @throws TooManyKeysError if the team has as many keys as it may have
 */
async function assertKeyLimit(tx: Tx, { maxKeys, rows: { team } }: KeyObservation): Promise<void> {
  if (maxKeys === null || team === undefined || (await countKeysBeforeNew(tx, team.id)) < maxKeys) return;
  throw new TooManyKeysError(`team ${team.name} may have ${maxKeys} keys, and has as many by now`);
}

/** Returns the row that a declaration gets with its first version. */
function newKey(deps: KeyDeps, { object, observed, declared }: KeyObservation): Reservation["key"] {
  return {
    id: newId("key"),
    cluster: deps.cluster.uid,
    namespace: object.namespace,
    name: object.name,
    ownerUid: object.uid,
    teamId: observed.references.teamId ?? "",
    source: declared.source.type,
    generation: object.generation,
  };
}

function recordRetired(
  deps: KeyDeps,
  object: DeclaredObject<"PlatformKey">,
  { number, prefix }: StoredVersion,
): Promise<void> {
  const message = `Version ${number} (${prefix}...) no longer works.`;
  return recordEvent(deps, object, { type: "Normal", reason: "Retired", message });
}

async function changeKey<T>(
  deps: KeyDeps,
  object: DeclaredObject<"PlatformKey">,
  body: Parameters<typeof change<T>>[2],
): Promise<T> {
  deps.confirmations.changing(object.uid);
  const { seq, result } = await change(deps.store, deps.fence, body);
  deps.confirmations.changed(object.uid, seq);
  return result;
}

/** Commits, under the fence as every change, a change that no replica hears of and nothing waits for. */
async function changeUnseen<T>({ store, fence }: KeyDeps, body: (tx: Tx) => Promise<T>): Promise<T> {
  const { result } = await commitChange(store, fence, body);
  return result;
}
