/** What goes wrong, as a table. */
import type { RequestOptions } from "../env/kubernetes/client.ts";
import type { Random } from "../env/random.ts";
import type { TcpProxy } from "../env/tcp-proxy.ts";
import { until } from "../env/until.ts";
import { NAMESPACES } from "../oracle/model.ts";
import { ALTERATIONS, alterSecrets } from "./altered-secrets.ts";
import { existing } from "./existing.ts";
import { failOverToReadOnly } from "./failover.ts";
import type { Supervised } from "./processes.ts";
import { CONTROLLERS, LEASE, SERVERS, type World } from "./world.ts";

export type Fault = {
  readonly weight: number;
  /** How many targets it can strike; one is chosen by its number. */
  readonly targets: number;
  /** What it breaks at a target: no two faults break the same at once. */
  breaks(target: number): readonly string[];
  /** The longest that it lasts, in milliseconds. */
  readonly longest: number;
  /** Has it happen. @returns how it ends, and what it was done to */
  strike(world: World, target: number, random: Random): Promise<{ readonly of: string; heal(): Promise<void> }>;
};

/** The links of the world by their number: of each controller to the API server and to its database, then of the servers. */
const ALL_LINKS = Array.from({ length: 2 * CONTROLLERS + SERVERS }, (_, link) => link);
const API_LINKS = ALL_LINKS.filter((link) => link < 2 * CONTROLLERS && link % 2 === 0);
const QUOTA = "no-secrets";
const CONTROLLER_NAMES = Array.from({ length: CONTROLLERS }, (_, index) => `controller-${index}`);

/** The processes that one can strike: of either kind, or the controller that leads. */
type Target = Pick<Fault, "targets" | "breaks"> & {
  choose(world: World, target: number): Promise<Supervised>;
};

/** What is done to a process, and how that ends. */
type Blow = { act(one: Supervised): Promise<void>; heal(one: Supervised): void };

function processFault(weight: number, longest: number, { choose, ...fields }: Target, { act, heal }: Blow): Fault {
  return {
    weight,
    longest,
    ...fields,
    async strike(world, target) {
      const one = await choose(world, target);
      await act(one);
      return { of: one.name, heal: async () => heal(one) };
    },
  };
}

function linkFault(
  weight: number,
  longest: number,
  strike: (proxy: TcpProxy, random: Random) => void,
  among: readonly number[] = ALL_LINKS,
): Fault {
  return {
    weight,
    longest,
    targets: among.length,
    breaks: (target) => [`link ${among[target]}`],
    async strike({ links }, target, random) {
      const link = links[existing(among[target])];
      if (link !== undefined) strike(link.proxy, random);
      return { of: link?.name ?? "nothing", heal: async () => link?.proxy.thaw() };
    },
  };
}

async function findLeader({ controllers, kubernetes }: World): Promise<Supervised> {
  const path = `/apis/coordination.k8s.io/v1/namespaces/keyplane-system/leases/${LEASE}`;
  const { body } = await kubernetes.request("GET", path).catch(() => ({ body: {} }));
  const { spec } = body as { spec?: { holderIdentity?: string } };
  const holder = spec?.holderIdentity;
  const leads = controllers.find(({ lines }) => holder && lines.some((line) => line.includes(`${holder} leads`)));
  return existing(leads ?? controllers[0]);
}

const controllerOf = (target: number) => [`controller-${target}`];
const serverOf = (target: number) => [`server-${target}`];
const anyProcess = (target: number) => (target < CONTROLLERS ? controllerOf(target) : serverOf(target - CONTROLLERS));
const allControllers = () => CONTROLLER_NAMES;

const controller: Target = {
  targets: CONTROLLERS,
  breaks: controllerOf,
  choose: async ({ controllers }, target) => existing(controllers[target]),
};
const server: Target = {
  targets: SERVERS,
  breaks: serverOf,
  choose: async ({ servers }, target) => existing(servers[target]),
};
const leader: Target = { targets: 1, breaks: allControllers, choose: findLeader };

const start = (one: Supervised) => one.up();
const kill: Blow = { act: (one) => one.down("SIGKILL"), heal: start };
const drain: Blow = { act: (one) => one.down("SIGTERM"), heal: start };
const pause: Blow = { act: async (one) => one.send("SIGSTOP"), heal: (one) => one.send("SIGCONT") };

/** A controller that is none of the installation's starts, and leads its namespaces for a while. */
function passingController(
  weight: number,
  targets: number,
  choose: (world: World, target: number) => Supervised,
): Fault {
  return {
    weight,
    longest: 20_000,
    targets,
    breaks: () => ["the only controllers"],
    async strike(world, target) {
      const one = choose(world, target);
      const before = one.lines.length;
      one.up();
      const leads = () => one.lines.slice(before).some((line) => line.includes(" leads"));
      // What else goes wrong meanwhile may end it.
      await until(`${one.name} leads or has ended`, () => leads() || one.pid() === undefined, { timeoutMs: 300_000 });
      return { of: one.name, heal: () => one.down("SIGTERM") };
    },
  };
}

function controlPlaneFault(weight: number, name: "kube-apiserver" | "etcd"): Fault {
  return {
    weight,
    longest: 6_000,
    targets: 1,
    breaks: () => ["the control plane"],
    async strike({ kubernetes }) {
      await kubernetes.kill(name);
      return {
        of: name,
        async heal() {
          await kubernetes.restart(name);
          const ready = async () => (await kubernetes.request("GET", "/readyz")).status === 200;
          await until(`${name} is back`, ready, { timeoutMs: 300_000 });
        },
      };
    },
  };
}

export const FAULTS: Readonly<Record<string, Fault>> = {
  "kill a controller": processFault(2, 5_000, controller, kill),
  "kill the leader": processFault(2, 4_000, leader, kill),
  "pause the leader": processFault(2, 25_000, leader, pause),
  "swap the leader": processFault(2, 3_000, leader, drain),
  "kill a server": processFault(4, 6_000, server, kill),
  "pause a server": processFault(4, 15_000, server, pause),
  "drain a server": processFault(2, 4_000, server, drain),
  "set the clock": {
    weight: 4,
    longest: 20_000,
    targets: CONTROLLERS + SERVERS,
    breaks: anyProcess,
    async strike({ controllers, servers }, target, random) {
      const one = existing([...controllers, ...servers][target]);
      const minutes = random.pick([-60, -2, 2, 60]);
      one.setClock(minutes * 60_000);
      return { of: `${one.name} by ${minutes} minutes`, heal: async () => one.setClock(0) };
    },
  },
  "no controller at all": {
    weight: 1,
    longest: 10_000,
    targets: 1,
    breaks: allControllers,
    async strike({ controllers }) {
      await Promise.all(controllers.map(kill.act));
      return { of: "every controller", heal: async () => controllers.forEach(start) };
    },
  },
  "black hole": linkFault(5, 20_000, (proxy) => proxy.freeze()),
  "cut off": linkFault(4, 15_000, (proxy) => proxy.cut()),
  reset: linkFault(5, 100, (proxy) => proxy.reset()),
  "slow down": linkFault(4, 15_000, (proxy, random) => proxy.slow(random.between(50, 1_500))),
  // It dies before the network is back: what it has begun in the database is left there (threats c93).
  "server without a network": {
    weight: 3,
    longest: 15_000,
    targets: SERVERS,
    breaks: (target) => [...serverOf(target), `link ${2 * CONTROLLERS + target}`],
    async strike({ servers, links }, target) {
      const one = existing(servers[target]);
      const { proxy } = existing(links[2 * CONTROLLERS + target]);
      proxy.freeze();
      return {
        of: one.name,
        async heal() {
          await one.down("SIGKILL");
          proxy.thaw();
          one.up();
        },
      };
    },
  },
  // Each of its answers takes 2 to 5 s (threats c67).
  "slow API server": linkFault(3, 25_000, (proxy, random) => proxy.slow(random.between(1_000, 2_500)), API_LINKS),
  "refuse Secrets": {
    weight: 2,
    longest: 20_000,
    targets: NAMESPACES.length,
    // Which it is made and taken away by.
    breaks: () => ["the control plane"],
    async strike({ kubernetes }, target) {
      const namespace = existing(NAMESPACES[target]);
      const path = `/api/v1/namespaces/${namespace}/resourcequotas`;
      const hard = { secrets: "0" };
      const ask = (method: string, to: string, options: RequestOptions = {}) =>
        until("the API server answers", () => kubernetes.request(method, to, options));
      await ask("POST", path, { body: JSON.stringify({ metadata: { name: QUOTA }, spec: { hard } }) });
      // No controller of quotas runs here.
      const body = JSON.stringify({ status: { hard, used: hard } });
      await ask("PATCH", `${path}/${QUOTA}/status`, { body, contentType: "application/merge-patch+json" });
      return { of: `namespace ${namespace}`, heal: async () => void (await ask("DELETE", `${path}/${QUOTA}`)) };
    },
  },
  // Something in the cluster rewrites them as they are written (threats c69).
  "alter Secrets": {
    weight: 2,
    longest: 20_000,
    targets: NAMESPACES.length,
    breaks: () => ["the control plane"],
    async strike({ kubernetes }, target, random) {
      const namespace = existing(NAMESPACES[target]);
      const how = random.pick(ALTERATIONS);
      return { of: `namespace ${namespace}, ${how}`, heal: await alterSecrets(kubernetes, namespace, how) };
    },
  },
  // As while a release changes the namespaces that it serves, and its Lease (threats c72).
  "start an overlapping controller": passingController(2, 2, ({ overlapping }, target) =>
    existing(overlapping[target]),
  ),
  // It sees the same PlatformTeams (threats c70).
  "start another installation": passingController(1, 1, ({ elsewhere }) => elsewhere),
  "crash the API server": controlPlaneFault(2, "kube-apiserver"),
  "crash etcd": controlPlaneFault(1.5, "etcd"),
  "crash PostgreSQL": {
    weight: 2,
    longest: 6_000,
    targets: 1,
    breaks: () => ["PostgreSQL"],
    async strike({ postgres }) {
      await postgres.kill();
      return { of: "PostgreSQL", heal: () => postgres.restart() };
    },
  },
  // Sessions that begin meanwhile would stay so (threats c92).
  "failover to read-only": {
    weight: 2,
    longest: 8_000,
    targets: 1,
    breaks: () => ["PostgreSQL"],
    async strike({ postgres }) {
      return { of: "PostgreSQL", heal: await failOverToReadOnly(postgres.url) };
    },
  },
};
