/** What people do with kubectl, as a table. */
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Random, weighted } from "../../env/random.ts";
import { until } from "../../env/until.ts";
import type { Report } from "../../oracle/report.ts";
import { base64, forgedKey } from "../../oracle/secrets.ts";
import type { WorkloadCluster } from "../workload/cluster.ts";
import * as manifests from "../workload/manifests.ts";

/** What a namespace has for its keys to be delivered there. */
export const RIGHTS = join(import.meta.dirname, "../../../infra/rbac/namespace.yaml");
/** The keys that clients have, which no user spoils; rotating them is no spoiling. */
export const GATEWAY_KEY = "models";
export const MEMORY_KEY = "notes";

/** Between two acts of one person, in milliseconds. */
const PAUSE_MS = 700;
/** A kubectl whose wait the API server has broken off gives up, and asks again. */
const UNTIL_GONE = ["--ignore-not-found", "--timeout=30s"];
/** How long the API server may be away. */
const AWAY_MS = 120_000;
/** Short, so that what was rotated is over soon; long enough for a client that reads its Secret again. */
const OVERLAP = { mode: "Fixed", duration: "20s" };

export type Person = {
  readonly cluster: WorkloadCluster;
  readonly namespace: string;
  /** The names of the keys that are declared in it. */
  readonly declared: Set<string>;
  readonly random: Random;
  readonly report: Report;
};

type Act = { readonly weight: number; act(person: Person): Promise<string | undefined> };

/** Runs kubectl, again while the API server is away. What is not there by then is none of our business. */
async function kubectl({ cluster }: Person, args: readonly string[], stdin?: string): Promise<void> {
  await until(`kubectl ${args.join(" ")}`, () => cluster.kubectl(args, stdin).then(() => true, ifGone), {
    timeoutMs: AWAY_MS,
  });
}

function ifGone(error: unknown): true {
  if (/NotFound/.test(String(error))) return true;
  throw error;
}

export const keyOf = (name: string, namespace: string, spec: object = {}) =>
  manifests.key(name, namespace, { rotation: { trigger: "1", overlap: OVERLAP }, ...spec });

const apply = (person: Person, ...items: object[]) =>
  kubectl(person, ["apply", "--server-side", "--force-conflicts", "--filename=-"], manifests.list(items));
const patch = (person: Person, what: string, change: object) =>
  kubectl(person, [
    "patch",
    what,
    `--namespace=${person.namespace}`,
    "--type=merge",
    `--patch=${JSON.stringify(change)}`,
  ]);

/** Of a key that is there, or undefined. */
const onKey =
  (act: (person: Person, name: string) => Promise<void>): Act["act"] =>
  async (person) => {
    const name = person.random.pickAny([...person.declared]);
    if (name !== undefined) await act(person, name);
    return name;
  };

export const ON_KEYS: Readonly<Record<string, Act>> = {
  declare: {
    weight: 4,
    async act(person) {
      const name = `agent-${person.random.below(12)}`;
      await apply(person, keyOf(name, person.namespace));
      person.declared.add(name);
      return name;
    },
  },
  delete: {
    weight: 3,
    act: onKey(async (person, name) => {
      await kubectl(person, ["delete", "platformkey", name, `--namespace=${person.namespace}`, ...UNTIL_GONE]);
      person.declared.delete(name);
    }),
  },
  rotate: {
    weight: 4,
    act: onKey((person, name) =>
      patch(person, `platformkey/${name}`, { spec: { rotation: { trigger: String(person.random.below(1e6)) } } }),
    ),
  },
  suspend: {
    weight: 2,
    act: onKey((person, name) => patch(person, `platformkey/${name}`, { spec: { state: "Suspended" } })),
  },
  resume: {
    weight: 3,
    act: onKey((person, name) => patch(person, `platformkey/${name}`, { spec: { state: "Active" } })),
  },
  "lose the Secret": {
    weight: 2,
    act: onKey((person, name) =>
      // It is made anew at once: kubectl may wait in vain for it to be gone.
      kubectl(person, ["delete", "secret", name, `--namespace=${person.namespace}`, "--wait=false"]),
    ),
  },
  "edit the Secret": {
    weight: 2,
    act: onKey((person, name) => patch(person, `secret/${name}`, { data: { "api-key": base64(forgedKey()) } })),
  },
};

/** Where the clients' keys are. */
export const AT_HOME: Readonly<Record<string, Act>> = {
  ...ON_KEYS,
  "rotate a client's key": {
    weight: 1,
    async act(person) {
      const name = person.random.pick([GATEWAY_KEY, MEMORY_KEY]);
      const trigger = String(person.random.below(1e6));
      await patch(person, `platformkey/${name}`, { spec: { rotation: { trigger } } });
      return name;
    },
  },
};

/** Where nothing else is. */
export const ELSEWHERE: Readonly<Record<string, Act>> = {
  ...ON_KEYS,
  "make the namespace anew": {
    weight: 0.5,
    async act(person) {
      const { namespace, declared } = person;
      await kubectl(person, ["delete", "namespace", namespace, ...UNTIL_GONE]);
      declared.clear();
      await apply(person, manifests.namespace(namespace));
      await kubectl(person, ["apply", "--server-side", `--namespace=${namespace}`, `--filename=${RIGHTS}`]);
      return namespace;
    },
  },
};

/**
 * Acts until the signal, one thing after the other.
 *
 * @returns how often each thing was done
 */
export async function useKubectl(
  person: Person,
  acts: Readonly<Record<string, Act>>,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, number>> {
  const { random, report, namespace } = person;
  const counts = new Map<string, number>();
  while (!signal.aborted) {
    const name = weighted(random, acts);
    try {
      const done = await acts[name]?.act(person);
      if (done !== undefined) {
        counts.set(name, (counts.get(name) ?? 0) + 1);
        report.note(`${name}: ${namespace}/${done}`);
      }
    } catch (error) {
      report.violation({
        rule: "kubectl",
        subject: namespace,
        what: `${name}: ${String(error)}, ${String(Reflect.get(Object(error), "cause"))}`,
      });
    }
    await delay(random.below(2 * PAUSE_MS), undefined, { signal }).catch(() => {});
  }
  return counts;
}
