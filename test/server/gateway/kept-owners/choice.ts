/** Calls that are chosen by numbers, with objects that they name. */
import {
  GATEWAY_OPERATIONS,
  type KeptKind,
  type ServedOperation,
} from "../../../../domain/access/gateway-operations.ts";
import type { Dialect } from "../../../../domain/access/key-record.ts";
import type { KeptWorld, Lines, Named, Thing } from "./kept-world.ts";
import { CONFINED_HEADER } from "./upstream-call.ts";

/** Call to make, without its key. */
export type Request = {
  readonly method: string;
  /** Path behind that of the gateway, with the query. */
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string | FormData | undefined;
};

/** Thrown if the team has no object of a kind that a call is to name. */
export class Lacking extends Error {
  readonly kind: KeptKind;

  constructor(kind: KeptKind) {
    super(`no ${kind}`);
    this.kind = kind;
  }
}

/** Call that is being chosen: by numbers, so that the same ones make the same call. */
export class Choice {
  readonly world: KeptWorld;
  readonly team: string;
  /** Numbers of the upstreams that the call may reach. */
  readonly places: readonly number[];
  readonly dialect: Dialect;
  readonly #numbers: number[];
  /** True while lines are made, which name others' objects more often, and objects at any upstream. */
  #isInLines = false;
  /** Objects that the call names, each of which is to be the team's own. */
  readonly named: Named[] = [];
  /** Ids that an upstream confines to an object which the call names. */
  readonly confined: Thing[] = [];
  /** Lines of the file that the call uploads: its batch is held to what they name. */
  lines: Lines | undefined;
  /** File in which the requests of a batch stand. */
  input: Thing | undefined;
  /** Kinds that are listed, where the call asks for the first page of a list. */
  listed: readonly KeptKind[] | undefined;
  /** True for a call that is refused, whatever it names. */
  isRefused = false;

  constructor(world: KeptWorld, team: string, places: readonly number[], dialect: Dialect, numbers: readonly number[]) {
    this.world = world;
    this.team = team;
    this.places = places;
    this.dialect = dialect;
    this.#numbers = [...numbers];
  }

  /** Returns a number below a bound; 0 once all numbers are used. */
  below(bound: number): number {
    return (this.#numbers.shift() ?? 0) % bound;
  }

  oneOf<T>(first: T, ...others: readonly T[]): T {
    return [first, ...others][this.below(others.length + 1)] ?? first;
  }

  get mark(): string {
    return this.world.mark(this.team);
  }

  /** Returns the id of an object that is to be the team's, of one of the kinds: mostly one that is. */
  held(first: KeptKind, ...others: readonly KeptKind[]): string {
    const kinds = [first, ...others];
    const thing = this.#choose(kinds);
    this.named.push({ thing, kinds });
    return thing?.id ?? "unknown-to-all-0";
  }

  /** Returns the id of an object within another that the call names. */
  within(kind: KeptKind): string {
    const all = [...this.world.things.values()].filter((thing) => thing.kind === kind);
    const thing = all[this.below(1_000) % Math.max(1, all.length)];
    if (thing !== undefined) this.confined.push(thing);
    return thing?.id ?? "unknown-to-all-1";
  }

  #choose(kinds: readonly KeptKind[]): Thing | undefined {
    const dice = this.below(20);
    const all = [...this.world.things.values()].filter(({ isDoubtful, isInput }) => !isDoubtful && !isInput);
    const isOwn = (thing: Thing) => thing.team === this.team && thing.isShown;
    const isMeant = ({ kind, dialect }: Thing) => kinds.includes(kind) && dialect === this.dialect;
    const pick = (isOne: (thing: Thing) => boolean) => {
      const found = all.filter(isOne);
      return found[this.below(1_000) % Math.max(1, found.length)];
    };
    if (dice === 12) return pick((thing) => thing.team === this.team && !thing.isShown);
    if (dice === 13) return undefined;
    if (dice === 14) return pick((thing) => isOwn(thing) && isMeant(thing) && thing.isGone);
    if (dice === 15) {
      // Files of two formats, and those that batches have made, have ids that look alike.
      const isAlike = ({ kind }: Thing) => !kinds.includes("file") || kind === "file" || kind === "output";
      return pick((thing) => isOwn(thing) && !isMeant(thing) && isAlike(thing));
    }
    if (dice === 16) return pick((thing) => thing.team !== this.team && !isMeant(thing));
    if (dice > 16 || (this.#isInLines && dice < 3))
      return pick((thing) => thing.team !== this.team && isMeant(thing) && !thing.isGone);
    const isReached = ({ place }: Thing) => dice === 11 || (this.#isInLines && dice > 8) || this.places.includes(place);
    const own = pick((thing) => isOwn(thing) && isMeant(thing) && !thing.isGone && isReached(thing));
    if (own === undefined) throw new Lacking(kinds[0] ?? "file");
    return own;
  }

  /** Returns a member's name, sometimes as other parsers spell it. */
  spelt(name: string): string {
    const dice = this.below(10);
    if (dice === 9) return name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
    return dice === 8 ? name.toUpperCase() : name;
  }

  /** Returns the id of a file for a batch: of one with lines, if the choice is one of the team's own. */
  heldLines(): string {
    const id = this.held("file");
    const { thing } = this.named.at(-1) ?? {};
    this.input = thing;
    if (thing?.team !== this.team || thing.isGone || !thing.isShown || this.world.lines.has(id)) return id;
    const own = [...this.world.lines.keys()].flatMap((one) => this.world.things.get(one) ?? []);
    const isMine = (one: Thing) => one.team === this.team && one.dialect === this.dialect && !one.isGone;
    const others = own.filter((one) => isMine(one) && this.places.includes(one.place));
    const other = others[this.below(1_000) % Math.max(1, others.length)];
    if (other === undefined) throw new Lacking("file");
    this.named.splice(-1, 1, { thing: other, kinds: ["file"] });
    this.input = other;
    return other.id;
  }

  /** Makes lines, and notes the objects that they name: these are held as the lines are read, and not before. */
  inLines(url: string, make: () => object): string {
    const before = this.named.length;
    this.#isInLines = true;
    const text = [make(), make()].map((line) => `${JSON.stringify(line)}\n`).join("");
    this.lines = { named: this.named.splice(before), url };
    this.#isInLines = false;
    return text;
  }
}

type Made = {
  /** Names in the path but for the model. */
  readonly names?: readonly string[];
  readonly query?: Readonly<Record<string, string>>;
  readonly json?: object;
  readonly form?: FormData;
  readonly text?: string;
  readonly headers?: Record<string, string>;
};

export type Move = {
  readonly operation: ServedOperation;
  readonly dialect: Dialect;
  readonly make: (choice: Choice) => Made;
};

export const MODELS: Readonly<Record<Dialect, string>> = { openai: "m", anthropic: "c", gemini: "g" };

export function move(operation: ServedOperation, dialect: Dialect, make: Move["make"]): Move {
  return { operation, dialect, make };
}

/** Makes the request of a move. */
export function requestOf({ operation, dialect, make }: Move, choice: Choice): Request {
  const { names = [], query, json, form, text, headers = {} } = make(choice);
  const served = GATEWAY_OPERATIONS[operation].served.filter((one) => (one.dialect ?? dialect) === dialect);
  const { method = "GET", path = "" } = served[choice.below(served.length)] ?? {};
  const left = [...names];
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) =>
    name === "model" ? MODELS[dialect] : encodeURIComponent(left.shift() ?? ""),
  );
  const search = query === undefined ? "" : `?${new URLSearchParams(query)}`;
  const confined = choice.confined.map(({ id }) => id).join(" ");
  return {
    method,
    path: `${filled}${search}`,
    headers: {
      ...(dialect === "anthropic" && { "anthropic-version": "2023-06-01" }),
      ...(json !== undefined && { "content-type": "application/json" }),
      ...(confined !== "" && { [CONFINED_HEADER]: confined }),
      ...headers,
    },
    body: json === undefined ? (form ?? text) : JSON.stringify(json),
  };
}
