/** What goes wrong, as a table. */
import type { Random } from "../env/random.ts";
import type { TcpProxy } from "../env/tcp-proxy.ts";
import { until } from "../env/until.ts";
import { existing } from "./existing.ts";
import type { Supervised } from "./processes.ts";
import { CONTROLLERS, SERVERS, type World } from "./world.ts";

export type Diagnostic = {
  readonly weight: number;
  /** How many places it can strike; one is chosen by its number. */
  readonly places: number;
  /** What it breaks at a place: no two faults break the same at once. */
  breaks(place: number): readonly string[];
  /** The longest that it lasts, in milliseconds. */
  readonly longest: number;
  /** Has it happen. @returns how it ends, and what it was done to */
  strike(world: World, place: number, random: Random): Promise<{ readonly of: string; heal(): Promise<void> }>;
};

const LINKS = 2 * CONTROLLERS + SERVERS;
const CONTROLLER_NAMES = Array.from({ length: CONTROLLERS }, (_, index) => `controller-${index}`);

/** At a process of either kind, or at the controller that leads. */
type Choose = (world: World, place: number) => Promise<Supervised>;

function processFault(
  what: { readonly weight: number; readonly longest: number; readonly places: number },
  breaks: Diagnostic["breaks"],
  choose: Choose,
  act: (one: Supervised) => Promise<void>,
  heal: (one: Supervised) => void,
): Diagnostic {
  return {
    ...what,
    breaks,
    async strike(world, place) {
      const one = await choose(world, place);
      await act(one);
      return { of: one.name, heal: async () => heal(one) };
    },
  };
}

function linkFault(weight: number, longest: number, strike: (proxy: TcpProxy, random: Random) => void): Diagnostic {
  return {
    weight,
    longest,
    places: LINKS,
    breaks: (place) => [`link ${place}`],
    async strike({ links }, place, random) {
      const link = links[place];
      if (link !== undefined) strike(link.proxy, random);
      return { of: link?.name ?? "nothing", heal: async () => link?.proxy.thaw() };
    },
  };
}

const controllerAt: Choose = async ({ controllers }, place) => existing(controllers[place]);
const serverAt: Choose = async ({ servers }, place) => existing(servers[place]);
const leader: Choose = async ({ controllers, kubernetes }) => {
  const path = "/apis/coordination.k8s.io/v1/namespaces/keyplane-system/leases/keyplane-controller";
  const { body } = await kubernetes.request("GET", path).catch(() => ({ body: {} }));
  const { spec } = body as { spec?: { holderIdentity?: string } };
  const holder = spec?.holderIdentity;
  const leads = controllers.find(({ lines }) => holder && lines.some((line) => line.includes(`${holder} leads`)));
  return existing(leads ?? controllers[0]);
};

const controllerOf = (place: number) => [`controller-${place}`];
const serverOf = (place: number) => [`server-${place}`];
const kill = (one: Supervised) => one.down("SIGKILL");
const drain = (one: Supervised) => one.down("SIGTERM");
const pause = async (one: Supervised) => one.send("SIGSTOP");
const start = (one: Supervised) => one.up();
const anyProcess = (place: number) => (place < CONTROLLERS ? controllerOf(place) : serverOf(place - CONTROLLERS));
const goOn = (one: Supervised) => one.send("SIGCONT");
const allControllers = () => CONTROLLER_NAMES;

function controlPlaneFault(weight: number, name: "kube-apiserver" | "etcd"): Diagnostic {
  return {
    weight,
    longest: 6_000,
    places: 1,
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

export const FAULTS: Readonly<Record<string, Diagnostic>> = {
  "kill a controller": processFault(
    { weight: 2, longest: 5_000, places: CONTROLLERS },
    controllerOf,
    controllerAt,
    kill,
    start,
  ),
  "kill the leader": processFault({ weight: 2, longest: 4_000, places: 1 }, allControllers, leader, kill, start),
  "pause the leader": processFault({ weight: 2, longest: 25_000, places: 1 }, allControllers, leader, pause, goOn),
  "swap the leader": processFault({ weight: 2, longest: 3_000, places: 1 }, allControllers, leader, drain, start),
  "kill a server": processFault({ weight: 4, longest: 6_000, places: SERVERS }, serverOf, serverAt, kill, start),
  "pause a server": processFault({ weight: 4, longest: 15_000, places: SERVERS }, serverOf, serverAt, pause, goOn),
  "drain a server": processFault({ weight: 2, longest: 4_000, places: SERVERS }, serverOf, serverAt, drain, start),
  "set the clock": {
    weight: 4,
    longest: 20_000,
    places: CONTROLLERS + SERVERS,
    breaks: anyProcess,
    async strike({ controllers, servers }, place, random) {
      const one = existing([...controllers, ...servers][place]);
      const minutes = random.pick([-60, -2, 2, 60]);
      one.setClock(minutes * 60_000);
      return { of: `${one.name} by ${minutes} minutes`, heal: async () => one.setClock(0) };
    },
  },
  "no controller at all": {
    weight: 1,
    longest: 10_000,
    places: 1,
    breaks: allControllers,
    async strike({ controllers }) {
      await Promise.all(controllers.map(kill));
      return { of: "every controller", heal: async () => controllers.forEach(start) };
    },
  },
  "black hole": linkFault(5, 20_000, (proxy) => proxy.freeze()),
  "cut off": linkFault(4, 15_000, (proxy) => proxy.cut()),
  reset: linkFault(5, 100, (proxy) => proxy.reset()),
  "slow down": linkFault(4, 15_000, (proxy, random) => proxy.slow(random.between(50, 1_500))),
  "crash the API server": controlPlaneFault(2, "kube-apiserver"),
  "crash etcd": controlPlaneFault(1.5, "etcd"),
  "crash PostgreSQL": {
    weight: 2,
    longest: 6_000,
    places: 1,
    breaks: () => ["PostgreSQL"],
    async strike({ postgres }) {
      await postgres.kill();
      return { of: "PostgreSQL", heal: () => postgres.restart() };
    },
  },
};
