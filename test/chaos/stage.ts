import { keyDigest } from "../../domain/key/secret/key-format.ts";
import type { Random } from "../env/random.ts";
import { everDeclared, type KeySpec, type Model, type ModelDeclaration, NAMESPACES } from "../oracle/model.ts";
import type { Report } from "../oracle/report.ts";
import { base64, forgedKey, type SecretLedger } from "../oracle/secrets.ts";
import { keysPath, secretsPath, TEAMS_PATH } from "../oracle/watch.ts";
import { type ActOrder, keepActsInOrder } from "./act-order.ts";
import { type Admin, createAdmin } from "./admin.ts";
import { furnish } from "./furnish.ts";
import { randomSpec } from "./specs.ts";
import type { World } from "./world.ts";

/** What a move works on: it chooses from the model, changes it at once, and has its requests follow. */
export type Stage = ActOrder & {
  readonly model: Model;
  readonly world: World;
  readonly secrets: SecretLedger;
  readonly admin: Admin;
  /** Declares a key of a name that is free. */
  declare(random: Random, namespace: string, name: string): ModelDeclaration;
  /**
   * Makes a Secret that is not ours, and has it watched.
   *
   * @param title of the declaration in whose name this is done: its own where it is in no other's way
   */
  plantUnmanaged(namespace: string, name: string, data: Record<string, string>, title?: string): void;
  applyTeam(team: string): void;
  /** Makes a namespace, empty even where another of that name was before, and what its keys refer to. */
  furnish(namespace: string): Promise<void>;
};

export function openStage(world: World, model: Model, secrets: SecretLedger, report: Report): Stage {
  const admin = createAdmin(world.kubernetes);
  const { act, settled } = keepActsInOrder(report);

  function declare(random: Random, namespace: string, name: string): ModelDeclaration {
    const one = randomDeclaration(random, namespace, name);
    const { title, imported, spec } = one;
    if (imported !== undefined) secrets.hold(title, imported);
    const importedFrom = spec.source?.secretRef;
    if (importedFrom !== undefined)
      plantUnmanaged(namespace, importedFrom.name, { [importedFrom.key]: imported ?? "" });
    model.declared.set(title, one);
    model.secretNames.add(`${namespace}/${one.secretName}`);
    // As it is now: what is edited until it can be created comes as edits of its own.
    const declared = structuredClone(spec);
    act(title, async () => {
      const made = await admin.create(keysPath(namespace), {
        apiVersion: "keyplane.dev/v1alpha1",
        kind: "PlatformKey",
        metadata: { name, namespace },
        spec: declared,
      });
      const { uid } = made.metadata;
      if (everDeclared(model).some((other) => other.uid === uid)) throw new Error("the one before has not gone");
      one.uid = uid;
    });
    return one;
  }

  function plantUnmanaged(
    namespace: string,
    name: string,
    data: Record<string, string>,
    inTheNameOf = `${namespace}/${name}`,
  ): void {
    const title = `${namespace}/${name}`;
    model.unmanaged.set(title, inTheNameOf);
    act(inTheNameOf, async () => {
      const made = await admin.create(secretsPath(namespace), {
        metadata: { name, namespace, labels: { "example.com/owner": "another-owner" } },
        data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, base64(value)])),
      });
      if (made.metadata.labels?.["example.com/owner"] === undefined) model.unmanaged.delete(title);
      else secrets.keepUntouched(made);
    });
  }

  function applyTeam(team: string): void {
    const namespaces = [...(model.teams.get(team) ?? [])].sort();
    act(`team ${team}`, async () => {
      const there = await admin.patch(`${TEAMS_PATH}/${team}`, { spec: { namespaces } });
      if (there !== undefined) return;
      await admin.create(TEAMS_PATH, {
        apiVersion: "keyplane.dev/v1alpha1",
        kind: "PlatformTeam",
        metadata: { name: team },
        spec: { namespaces, members: [] },
      });
    });
  }

  return {
    model,
    world,
    secrets,
    admin,
    act,
    declare,
    plantUnmanaged,
    applyTeam,
    furnish: (namespace) => furnish({ admin, world, model, secrets, report }, namespace),
    settled,
  };
}

/** A key that is declared in some way; one in twelve imports a value that Keyplane did not mint. */
function randomDeclaration(random: Random, namespace: string, name: string): ModelDeclaration {
  const spec: KeySpec = randomSpec(random);
  const importing = random.next();
  const imported = importing < 0.08 ? forgedKey() : undefined;
  const secretName = random.chance(0.1) ? `${name}-secret` : name;
  if (secretName !== name) spec.secret.name = secretName;
  if (imported !== undefined) spec.source = importing < 0.05 ? importSecret(name) : importHash(imported);
  const { interval } = spec.rotation;
  return {
    title: `${namespace}/${name}`,
    namespace,
    name,
    secretName,
    dataKey: spec.secret.dataKey ?? "api-key",
    spec,
    uid: undefined,
    causes: 1,
    holds: 0,
    createdAt: Date.now(),
    interval: interval === undefined ? undefined : Number.parseInt(interval, 10) * 1_000,
    deleting: false,
    revokedByHand: false,
    moved: false,
    imported,
  };
}

function importSecret(keyName: string): NonNullable<KeySpec["source"]> {
  const name = `${keyName}-import-${Math.trunc(performance.now())}`;
  return { type: "ImportSecret", secretRef: { name, key: "api-key" } };
}

function importHash(value: string): NonNullable<KeySpec["source"]> {
  const sha256 = Buffer.from(keyDigest(value), "latin1").toString("hex");
  return { type: "ImportHash", hash: { sha256, prefix: value.slice(0, 12) } };
}

/** Brings up the namespaces, the teams and the first keys. */
export async function furnishAll(stage: Stage, random: Random, keys: number): Promise<void> {
  await Promise.all(NAMESPACES.map((namespace) => stage.furnish(namespace)));
  for (const team of stage.model.teams.keys()) stage.applyTeam(team);
  for (let n = 1; n <= keys; n++) stage.declare(random, random.pick(NAMESPACES), `key-${n}`);
  await stage.settled();
}
