/** What goes wrong with an installation, as a table: faults of threats.md that can strike a cluster. */
import { readdirSync, readFileSync } from "node:fs";
import type { Random } from "../../env/random.ts";
import { until } from "../../env/until.ts";
import { NAMESPACE_OF_PRODUCT } from "../workload/manifests.ts";
import type { Effect } from "./calls.ts";
import type { Site } from "./site.ts";

export type Fault = {
  /** What it may do to calls, as the docs say: with nothing here, not one of them may fail. */
  readonly effect: Effect;
  /** How long it lasts at least and at most, in milliseconds. */
  readonly lasts: readonly [number, number];
  /** That it takes a cluster whose node is in our own network. */
  readonly ownNode?: true;
  /** Has it happen. @returns how it ends, and what it was done to */
  strike(site: Site, random: Random): Promise<{ readonly of: string; heal?(): Promise<void> }>;
};

const NOTHING: Effect = {};
/** Connections to a process that is gone break, until the Service knows. */
const BROKEN: Effect = { "key index": ["broken"], database: ["broken"] };
/**
 * Of longer than a lease: 503, each of which ends its connection, and then connections that a Service without a ready pod
 * refuses (docs/operations/runbooks.md, KeyplaneNotServing).
 */
const ALL_REFUSE: Effect = { "key index": [503, "broken"], database: [503, "broken"] };
/** Shorter than a lease with what has run of it already: who needs the database alone notices. */
const SHORT_OUTAGE_MS = 2_000;

const A_MOMENT = [0, 0] as const;
const inNamespace = `--namespace=${NAMESPACE_OF_PRODUCT}`;
const AT_ONCE = ["--grace-period=0", "--force"];

async function podOf(site: Site, component: "server" | "leader", random: Random): Promise<string> {
  if (component === "leader") return until("a pod leads", () => findLeader(site));
  return until("a server is ready", () => random.pickAny(site.servers.ready())?.name);
}

/** Who holds the Lease begins with the name of its pod. */
async function findLeader({ cluster }: Site): Promise<string | undefined> {
  const of = ["lease", "keyplane-controller", inNamespace, "--output=jsonpath={.spec.holderIdentity}"];
  const holder = await cluster.kubectl(["get", ...of]);
  const pods = await cluster.kubectl(["get", "pods", inNamespace, "--output=jsonpath={.items[*].metadata.name}"]);
  return pods.split(" ").find((pod) => pod !== "" && holder.startsWith(pod));
}

/** @param args of the deletion: none for one that lets it drain */
function deletion(component: "server" | "leader", args: readonly string[], effect: Effect): Fault {
  return {
    effect,
    lasts: A_MOMENT,
    async strike(site, random) {
      const pod = await podOf(site, component, random);
      await site.cluster.kubectl(["delete", "pod", pod, inNamespace, "--wait=false", ...args]);
      return { of: pod };
    },
  };
}

/** The processes of a pod, by its uid, which is in the name of its cgroup. */
function processesOf(uid: string): number[] {
  const isOfPod = (pid: string) => {
    try {
      return (
        readFileSync(`/proc/${pid}/cgroup`, "utf8").includes(uid) &&
        readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("keyplane")
      );
    } catch {
      return false;
    }
  };
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && isOfPod(name))
    .map(Number);
}

function crash(component: "server" | "leader", effect: Effect): Fault {
  return {
    effect,
    lasts: A_MOMENT,
    ownNode: true,
    async strike(site, random) {
      const pod = await podOf(site, component, random);
      const uid = await site.cluster.kubectl(["get", "pod", pod, inNamespace, "--output=jsonpath={.metadata.uid}"]);
      const pids = processesOf(uid);
      if (pids.length === 0) throw new Error(`${pod} has no process`);
      for (const pid of pids) process.kill(pid, "SIGKILL");
      return { of: pod };
    },
  };
}

function outage(lasts: readonly [number, number], effect: Effect): Fault {
  return {
    effect,
    lasts,
    async strike({ postgres }) {
      await postgres.kill();
      return { of: "PostgreSQL", heal: () => postgres.restart() };
    },
  };
}

export const FAULTS: Readonly<Record<string, Fault>> = {
  "delete a server": deletion("server", [], NOTHING),
  "delete a server at once": deletion("server", AT_ONCE, BROKEN),
  "kill a server": crash("server", BROKEN),
  "delete the leader": deletion("leader", [], NOTHING),
  "delete the leader at once": deletion("leader", AT_ONCE, NOTHING),
  "kill the leader": crash("leader", NOTHING),
  "take the leader's Lease away": {
    effect: NOTHING,
    lasts: A_MOMENT,
    async strike({ cluster }) {
      await cluster.kubectl(["delete", "lease", "keyplane-controller", inNamespace, "--wait=false"]);
      return { of: "the Lease" };
    },
  },
  "roll all pods over": {
    effect: NOTHING,
    lasts: A_MOMENT,
    async strike({ cluster }) {
      await cluster.kubectl(["rollout", "restart", "deployment", inNamespace]);
      return { of: "every pod" };
    },
  },
  "upgrade to an image that is not there": {
    effect: NOTHING,
    lasts: [4_000, 8_000],
    async strike({ terminal }) {
      const values = `-n ${NAMESPACE_OF_PRODUCT} -f values.yaml`;
      await terminal.run(
        `helm upgrade keyplane infra/chart ${values} --set image.tag=none --set migration.enabled=false`,
      );
      return {
        of: "the release",
        async heal() {
          await terminal.run(`helm rollback keyplane -n ${NAMESPACE_OF_PRODUCT}`);
        },
      };
    },
  },
  "a short outage of the database": outage([0, SHORT_OUTAGE_MS], { database: [503] }),
  "an outage of the database": outage([SHORT_OUTAGE_MS, 15_000], ALL_REFUSE),
  "break every connection to the database": {
    effect: { database: [503] },
    lasts: A_MOMENT,
    async strike({ links }) {
      for (const link of await links()) link.reset();
      return { of: "every pod" };
    },
  },
  "cut a server off from the database": {
    effect: { database: [503], "key index": [503] },
    lasts: [4_000, 15_000],
    ownNode: true,
    async strike({ servers, linkOf }, random) {
      const pod = random.pickAny(servers.ready());
      if (pod === undefined) throw new Error("no server is ready");
      const link = await linkOf(pod.address);
      link.freeze();
      return { of: pod.name, heal: async () => link.thaw() };
    },
  },
  "crash the API server": {
    effect: NOTHING,
    lasts: [500, 6_000],
    ownNode: true,
    async strike({ cluster: { product } }) {
      await product?.node.kill("kube-apiserver");
      return {
        of: "the control plane",
        async heal() {
          await product?.node.restart("kube-apiserver");
          const isReady = async () => (await product?.node.request("GET", "/readyz"))?.status === 200;
          await until("the API server is back", isReady);
        },
      };
    },
  },
  "restart the kubelet": {
    effect: NOTHING,
    lasts: A_MOMENT,
    ownNode: true,
    async strike({ cluster: { product } }) {
      await product?.node.restartKubelet();
      return { of: "the node" };
    },
  },
};
