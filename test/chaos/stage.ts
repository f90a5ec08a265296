import { randomBytes } from "node:crypto";
import { keyDigest, mintKey } from "../../domain/key/key-format.ts";
import type { Random } from "../env/random.ts";
import { type Admin, createAdmin, keysPath, secretsPath, TEAMS_PATH } from "./admin.ts";
import { type Declared, everDeclared, type Model, NAMESPACES } from "./model.ts";
import type { Report } from "./report.ts";
import { base64, type Secrets } from "./secrets.ts";
import { DEPLOYMENT, GATEWAY, type KeySpec, LIBRARY, randomSpec } from "./specs.ts";
import type { World } from "./world.ts";

/** What a move works on: it chooses from the model, changes it at once, and has its requests follow. */
export type Stage = {
  readonly model: Model;
  readonly world: World;
  readonly secrets: Secrets;
  readonly admin: Admin;
  /** Has something done in the name of a declaration or of a namespace, after all that was asked for it before. */
  act(title: string, what: () => Promise<unknown>): void;
  /** Declares a key of a name that is free. */
  declare(random: Random, namespace: string, name: string): Declared;
  /**
   * Makes a Secret that is not ours, and has it watched.
   *
   * @param title of the declaration in whose name this is done: its own where it is in nobody's way
   */
  plantUnmanaged(namespace: string, name: string, data: Record<string, string>, title?: string): void;
  applyTeam(team: string): void;
  /** Makes a namespace, empty even where another of that name was before, and what its keys refer to. */
  furnish(namespace: string): Promise<void>;
  /** Resolves once nothing that was asked for is outstanding. */
  settled(): Promise<void>;
};

/** A value as a key has it, which nobody minted. */
export function forgedKey(): string {
  return mintKey((size) => randomBytes(size));
}

export function openStage(world: World, model: Model, secrets: Secrets, report: Report): Stage {
  const admin = createAdmin(world.kubernetes);
  const chains = new Map<string, Promise<unknown>>();

  function act(title: string, what: () => Promise<unknown>): void {
    // A namespace's own acts come after those of all its keys, and before their next ones.
    const [namespace] = title.split("/");
    const before = title.includes("/")
      ? [chains.get(title), chains.get(namespace ?? "")]
      : [...chains].filter(([other]) => other === title || other.startsWith(`${title}/`)).map(([, chain]) => chain);
    const next = Promise.all(before)
      .then(what)
      .catch((error: unknown) =>
        report.violation({ rule: "the harness itself", subject: title, what: String(error).slice(0, 4_000) }),
      );
    chains.set(title, next);
  }

  function declare(random: Random, namespace: string, name: string): Declared {
    const title = `${namespace}/${name}`;
    const spec: KeySpec = randomSpec(random);
    const importing = random.next();
    const imported = importing < 0.08 ? forgedKey() : undefined;
    const secretName = random.chance(0.1) ? `${name}-secret` : name;
    if (secretName !== name) spec.secret.name = secretName;
    if (imported !== undefined) {
      secrets.hold(title, imported);
      spec.source = importing < 0.05 ? importSecret(title, imported) : importHash(imported);
    }
    const one: Declared = {
      title,
      namespace,
      name,
      secretName,
      dataKey: spec.secret.dataKey ?? "api-key",
      spec,
      uid: undefined,
      causes: 1,
      createdAt: Date.now(),
      interval: spec.rotation.interval === undefined ? undefined : Number.parseInt(spec.rotation.interval, 10) * 1_000,
      deleting: false,
      revokedByHand: false,
      moved: false,
      imported,
    };
    model.declared.set(title, one);
    model.secretNames.add(`${namespace}/${secretName}`);
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

  function importSecret(title: string, value: string): NonNullable<KeySpec["source"]> {
    const [namespace = "", key = ""] = title.split("/");
    const name = `${key}-import-${Math.trunc(performance.now())}`;
    plantUnmanaged(namespace, name, { "api-key": value });
    return { type: "ImportSecret", secretRef: { name, key: "api-key" } };
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
        metadata: { name, namespace, labels: { "example.com/owner": "somebody-else" } },
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

  async function furnish(namespace: string): Promise<void> {
    await admin.create("/api/v1/namespaces", { metadata: { name: namespace } });
    for (const grant of world.grants) {
      const kind = `${grant.kind.toLowerCase()}s`;
      await admin.create(`/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/${kind}`, grant);
    }
    const kinds = "/apis/keyplane.dev/v1alpha1/namespaces";
    const metadata = { namespace };
    const apiVersion = "keyplane.dev/v1alpha1";
    const [provider] = await Promise.all([
      admin.create(secretsPath(namespace), {
        metadata: { ...metadata, name: "provider" },
        data: { "api-key": base64("sk-provider") },
      }),
      admin.create(`${kinds}/${namespace}/memorylibraries`, {
        apiVersion,
        kind: "MemoryLibrary",
        metadata: { ...metadata, name: LIBRARY },
        spec: {},
      }),
      admin.create(`${kinds}/${namespace}/modelgateways`, {
        apiVersion,
        kind: "ModelGateway",
        metadata: { ...metadata, name: GATEWAY },
        spec: {
          upstreams: [
            {
              name: "openai",
              dialect: "openai",
              baseURL: "https://models.example.com",
              credentialRef: { name: "provider", key: "api-key" },
            },
          ],
        },
      }),
      admin.create(`/apis/apps/v1/namespaces/${namespace}/deployments`, {
        metadata: { ...metadata, name: DEPLOYMENT },
        spec: {
          replicas: 0,
          selector: { matchLabels: { app: DEPLOYMENT } },
          template: {
            metadata: { labels: { app: DEPLOYMENT } },
            spec: { containers: [{ name: "main", image: "none" }] },
          },
        },
      }),
    ]);
    secrets.keepUntouched(provider);
    await clearOut(namespace);
  }

  /**
   * Deletes the declarations that outlived their namespace: one that ends while the API server, just started, does not
   * list our kinds as yet takes only the others along. What is left is declared in the namespace made anew.
   */
  async function clearOut(namespace: string): Promise<void> {
    for (const { metadata } of await admin.list(keysPath(namespace))) {
      const { uid, name, deletionTimestamp } = metadata;
      report.tell(`${namespace}/${name} has outlived its namespace`);
      const one = everDeclared(model).find((other) => other.uid === uid);
      // Its Secret went with the namespace, and may have come back by now.
      if (one !== undefined && deletionTimestamp === undefined) one.causes++;
      await admin.remove(`${keysPath(namespace)}/${name}`);
    }
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
    furnish,
    async settled() {
      let seen = -1;
      while (seen !== chains.size) {
        seen = chains.size;
        await Promise.all(chains.values());
      }
    },
  };
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
