import { findCondition } from "../../domain/conditions.ts";
import { FACT_NAMES, factOf } from "../../domain/key/declaration/facts.ts";
import type { Kind } from "../../domain/kinds/kinds.ts";
import { readiness } from "../data/status-files.ts";
import { ageText } from "../output/age.ts";
import type { ListedObject } from "../source/source.ts";

/** Values that cells are made with. */
export type CellContext = {
  /** Current time, in milliseconds since the epoch. */
  readonly now: number;
};

/** Column: its heading, and a function for the text of an object's cell; undefined for an empty cell. */
type Column<K extends Kind> = readonly [
  heading: string,
  cell: (object: ListedObject<K>, context: CellContext) => string | undefined,
];

/** Text for a value that the source cannot know. */
const UNKNOWN = "<unknown>";
const NONE = "-";

const NAMESPACE: Column<Kind> = ["NAMESPACE", ({ metadata }) => metadata.namespace || undefined];
const NAMED: readonly Column<Kind>[] = [
  ["NAME", ({ metadata }) => metadata.name],
  ["READY", (object) => readiness(object)?.status ?? UNKNOWN],
  ["REASON", (object) => readiness(object)?.reason ?? reasonOfState(object.state)],
];
const AGE: Column<Kind> = [
  "AGE",
  ({ metadata: { creationTimestamp } }, { now }) =>
    creationTimestamp === undefined ? UNKNOWN : ageText(creationTimestamp, now),
];
/** Use of the most used budget. A server without a cluster has no conditions, so there it is unknown. */
const BUDGET: Column<"PlatformKey" | "PlatformTeam"> = [
  "BUDGET",
  ({ status, state }) => findCondition(status?.conditions, "BudgetExhausted")?.reason ?? (state && UNKNOWN),
];
const MESSAGE: Column<Kind> = ["MESSAGE", (object) => readiness(object)?.message];

/** Columns of a table, the same for each source. Wide columns come last. */
type Columns<K extends Kind> = { readonly usual: readonly Column<K>[]; readonly wide: readonly Column<K>[] };

const COLUMNS: { readonly [K in Kind]: Columns<K> } = {
  PlatformKey: {
    usual: [
      NAMESPACE,
      ...NAMED,
      ["PREFIX", ({ status }) => status?.keyPrefix],
      ["TEAM", ({ status }) => status?.team],
      ["SCOPES", ({ status }) => status?.effectiveScopes?.join(",")],
      ["SECRET", ({ status, state }) => status?.secretRef?.name ?? (state && UNKNOWN)],
      ["EXPIRES", expiryText],
      ["LAST USED", ({ status }, { now }) => lastUse(status, now)],
      AGE,
    ],
    wide: [
      ...FACT_NAMES.map(
        (name): Column<"PlatformKey"> => [factOf(name).label.toUpperCase(), ({ spec }) => spec?.[name]],
      ),
      ["VERSION", ({ status }) => status?.currentVersion?.toString()],
      ["ROTATES", ({ status, state }) => status?.nextRotationTime ?? (state && UNKNOWN)],
      ["ID", ({ status }) => status?.keyID],
      [
        "CALLED FROM",
        ({ callers }) => (callers === undefined ? UNKNOWN : callers.map(({ network }) => network).join(",")),
      ],
      BUDGET,
      MESSAGE,
    ],
  },
  PlatformTeam: {
    usual: [
      ...NAMED,
      ["NAMESPACES", ({ spec }) => spec?.namespaces?.join(",")],
      ["MEMBERS", ({ spec }) => String(spec?.members?.length ?? 0)],
      AGE,
    ],
    wide: [BUDGET, MESSAGE],
  },
  PlatformKeyPolicy: {
    usual: [
      ...NAMED,
      ["TEAMS", ({ status }) => status?.teams?.map(({ name }) => name).join(",")],
      ["GRACE", ({ spec }) => spec?.gracePeriod],
      AGE,
    ],
    wide: [
      ["LONGEST LIFE", ({ spec }) => spec?.expiry?.max],
      ["ROTATION", ({ spec }) => spec?.rotation?.maxInterval],
      ["MOST KEYS", ({ spec }) => spec?.maxKeys?.toString()],
      MESSAGE,
    ],
  },
  ModelGateway: {
    usual: [
      NAMESPACE,
      ...NAMED,
      ["PUBLIC ID", ({ status }) => status?.publicID],
      ["TEAM", ({ status }) => status?.team],
      ["UPSTREAMS", ({ spec }) => spec?.upstreams?.map(({ name }) => name).join(",")],
      ["ROUTES", ({ spec }) => spec?.routes?.map(({ model }) => model).join(",")],
      AGE,
    ],
    wide: [MESSAGE],
  },
  MemoryLibrary: {
    usual: [
      NAMESPACE,
      ...NAMED,
      ["DISPLAY NAME", ({ spec }) => spec?.displayName],
      ["TEAM", ({ status }) => status?.team],
      ["ON DELETE", ({ spec }) => spec?.deletionPolicy],
      AGE,
    ],
    wide: [MESSAGE],
  },
};

/** Returns the headings of a kind's table, and a function that makes the row of an object. */
export function columnsOf<K extends Kind>(
  kind: K,
  isWide: boolean,
): { readonly headings: readonly string[]; rowOf(object: ListedObject<K>, context: CellContext): string[] } {
  const { usual, wide }: Columns<K> = COLUMNS[kind];
  const columns = isWide ? [...usual, ...wide] : usual;
  return {
    headings: columns.map(([heading]) => heading),
    rowOf: (object, context) => columns.map(([, cell]) => cell(object, context) || NONE),
  };
}

/** Returns a state as the reason of a condition: `Active`, `Suspended`, `Expired`, `Revoked`. */
function reasonOfState(state: ListedObject["state"]): string | undefined {
  return state && `${state.charAt(0).toUpperCase()}${state.slice(1)}`;
}

/** Returns when a key expires; undefined if that is not known, as before it is ready, and of a key that has ended. */
export function expiryText(key: Pick<ListedObject<"PlatformKey">, "status" | "state">): string | undefined {
  const { status, state } = key;
  const ready = readiness(key);
  const isReady = ready?.status === "True" && ready.reason !== "Revoked";
  const isKnown = state === undefined ? isReady : state === "active" || state === "suspended";
  return status?.expiresAt ?? (isKnown ? "never" : undefined);
}

/** Returns when a key was last used; undefined for a declaration that has no key. */
function lastUse(status: ListedObject<"PlatformKey">["status"], now: number): string | undefined {
  if (status?.lastUsedTime !== undefined) return ageText(status.lastUsedTime, now);
  return status?.keyID === undefined ? undefined : "never";
}
