/**
 * Faults at exact points: stands between a controller and its dependencies, and has one of its effects go wrong. An
 * effect is a call that changes the cluster, or a transaction of the store, known by what it appends to the audit log.
 */
import { sql } from "kysely";
import { type Cluster, ClusterError } from "../../controller/cluster/port.ts";
import { isRecord } from "../../domain/manifest/document/identity.ts";
import type { Tx } from "../../store/database/change.ts";
import type { Store } from "../../store/database/store.ts";

/** As `createSecret`, or `commit key.reserved`. */
export type Effect = string;

export type How =
  /** It does not happen; the process is gone. */
  | "killed before"
  /** It happens; the process is gone before it learns so. */
  | "killed after"
  /** It happens; the process gets an error, or no answer. */
  | "answer lost"
  /** It does not happen; the process gets an error that leaves it open. */
  | "failed";

export type InjectedFault = { readonly effect: Effect; readonly how: How };

export type Injector = {
  readonly wrap: (cluster: Cluster, store: Store) => { cluster: Cluster; store: Store };
  /** Has the next such effect go wrong, once. Forgets the trace. */
  arm(fault?: InjectedFault): void;
  /** Whether the fault has struck. */
  hasStruck(): boolean;
  /** The effects that came about since it was armed. */
  readonly trace: readonly Effect[];
  /** The draft of every Secret that was to be written, whatever came of it. */
  readonly drafts: readonly Readonly<Record<string, string>>[];
};

/** What a connection that breaks is to those who wait for it. */
const lost = () => Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
const unclear = (effect: Effect) => new ClusterError("Unclear", `while calling ${effect}: the connection broke`);
const never = () => new Promise<never>(() => {});

const CALLS = [
  "addFinalizer",
  "removeFinalizer",
  "writeStatus",
  "createSecret",
  "replaceSecret",
  "deleteSecret",
] as const;

/**
 * @param onDeath what a kill does besides: in a process of its own, the kill itself
 * @param bystander name of an object whose effects are none of those that faults are about
 */
export function createInjector(onDeath: () => void = () => {}, bystander?: string): Injector {
  const victim = new Victim(onDeath);
  const drafts: Readonly<Record<string, string>>[] = [];
  return {
    trace: victim.trace,
    drafts,
    arm: (fault) => victim.arm(fault),
    hasStruck: () => victim.hasStruck,
    wrap(cluster, store) {
      victim.isDead = false;
      const calls = callsUnderFault(victim, cluster, bystander);
      return {
        store: storeUnderFault(victim, store),
        cluster: {
          ...cluster,
          ...calls,
          createSecret(draft) {
            drafts.push(draft.data);
            return calls.createSecret(draft);
          },
          replaceSecret(read, draft) {
            drafts.push(draft.data);
            return calls.replaceSecret(read, draft);
          },
        },
      };
    },
  };
}

/** The process that a fault is armed for, and what has become of it. */
class Victim {
  isDead = false;
  hasStruck = false;
  readonly trace: Effect[] = [];
  readonly #onDeath: () => void;
  #armed: InjectedFault | undefined;

  constructor(onDeath: () => void) {
    this.#onDeath = onDeath;
  }

  arm(fault: InjectedFault | undefined): void {
    this.#armed = fault;
    this.hasStruck = false;
    this.trace.length = 0;
  }

  /** How this effect goes wrong, if it does: once. */
  takeFault(effect: Effect): How | undefined {
    if (this.#armed?.effect !== effect) return undefined;
    const { how } = this.#armed;
    this.#armed = undefined;
    return how;
  }

  /** What the process has of it: it is gone. */
  die(): Promise<never> {
    this.isDead = true;
    this.hasStruck = true;
    this.#onDeath();
    return never();
  }

  /** What the process has of it: an error. */
  fail(error: Error): never {
    this.hasStruck = true;
    throw error;
  }
}

function callsUnderFault(victim: Victim, cluster: Cluster, bystander: string | undefined) {
  return Object.fromEntries(
    CALLS.map((name) => {
      const act = cluster[name] as (...args: unknown[]) => Promise<unknown>;
      const effectOn = (object: unknown) =>
        isRecord(object) && object.name === bystander ? `${name} of a bystander` : name;
      return [name, (...args: unknown[]) => callUnderFault(victim, effectOn(args[0]), () => act(...args))];
    }),
  ) as Pick<Cluster, (typeof CALLS)[number]>;
}

async function callUnderFault<T>(victim: Victim, effect: Effect, act: () => Promise<T>): Promise<T> {
  if (victim.isDead) return never();
  const how = victim.takeFault(effect);
  if (how === "killed before") return victim.die();
  if (how === "failed") return victim.fail(unclear(effect));
  const result = await act();
  victim.trace.push(effect);
  if (how === "killed after") return victim.die();
  if (how === "answer lost") return victim.fail(unclear(effect));
  return result;
}

function storeUnderFault(victim: Victim, store: Store): Store {
  const db = intercept(store.db, {
    transaction: () => {
      const builder = store.db.transaction();
      return intercept(builder, {
        execute: (body: (tx: Tx) => Promise<unknown>) =>
          commitUnderFault(victim, (inner) => builder.execute(inner), body),
      });
    },
    // The one write outside of a transaction: it completes a receipt. A dead process does not come to it.
    updateTable: (table: Parameters<Store["db"]["updateTable"]>[0]) => {
      if (victim.isDead) throw lost();
      return store.db.updateTable(table);
    },
  });
  return { ...store, db };
}

async function commitUnderFault<T>(
  victim: Victim,
  run: (body: (tx: Tx) => Promise<T>) => Promise<T>,
  body: (tx: Tx) => Promise<T>,
): Promise<T> {
  if (victim.isDead) return never();
  let effects: Effect[] = [];
  let how: How | undefined;
  const result = await run(async (tx) => {
    const before = await lastAuditId(tx);
    const done = await body(tx);
    effects = (await auditKindsAfter(tx, before)).map((kind) => `commit ${kind}`);
    how = effects.map((effect) => victim.takeFault(effect)).find((met) => met !== undefined);
    // Thrown within the transaction, so that it is rolled back.
    if (how === "killed before" || how === "failed") throw lost();
    return done;
  }).catch((error: unknown) => {
    if (how === "killed before") return victim.die();
    if (how === "failed") victim.hasStruck = true;
    throw error;
  });
  victim.trace.push(...effects);
  if (how === "killed after") return victim.die();
  if (how === "answer lost") return victim.fail(lost());
  return result;
}

/** An object with some of its methods exchanged; the others run on the object itself. */
export function intercept<T extends object>(object: T, methods: Record<string, unknown>): T {
  return new Proxy(object, {
    get(target, name) {
      if (typeof name === "string" && name in methods) return methods[name];
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

async function lastAuditId(tx: Tx): Promise<number> {
  const last = await tx.selectFrom("audit_events").select("id").orderBy("id", "desc").limit(1).executeTakeFirst();
  return last?.id ?? 0;
}

/** Of this transaction alone: others may write meanwhile. */
async function auditKindsAfter(tx: Tx, id: number): Promise<string[]> {
  const rows = await tx
    .selectFrom("audit_events")
    .select("kind")
    .where("id", ">", id)
    .where(sql<boolean>`xmin = pg_current_xact_id()::xid`)
    .orderBy("id")
    .execute();
  return rows.map(({ kind }) => kind);
}
