/**
 * Faults at exact points: stands between a controller and its dependencies, and has one of its effects go wrong. An
 * effect is a call that changes the cluster, or a transaction of the store, known by what it appends to the audit log.
 */
import { sql } from "kysely";
import { type Cluster, ClusterError } from "../../controller/cluster/port.ts";
import type { Tx } from "../../store/database/change.ts";
import type { Store } from "../../store/database/store.ts";

/** As `createSecret`, or `commit key.reserved`. */
export type Effect = string;

export type How =
  /** It does not happen; the process is gone. */
  | "killed before"
  /** It happens; the process is gone before it learns so. */
  | "killed after"
  /** It happens; the process is told that it failed, or nothing. */
  | "answer lost"
  /** It does not happen, and the process is told that it may have. */
  | "failed";

export type Diagnostic = { readonly effect: Effect; readonly how: How };

export type Injector = {
  readonly wrap: (cluster: Cluster, store: Store) => { cluster: Cluster; store: Store };
  /** Has the next such effect go wrong, once. Forgets the trace. */
  arm(fault?: Diagnostic): void;
  /** Whether the fault has struck. */
  hasStruck(): boolean;
  /** The effects that came about since it was armed. */
  readonly trace: readonly Effect[];
  /** The draft of every Secret that was to be written, whatever came of it. */
  readonly drafts: readonly Readonly<Record<string, string>>[];
};

/** What a connection that breaks is to those who wait for it. */
const lost = () => Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
const never = () => new Promise<never>(() => {});

const CALLS = [
  "addFinalizer",
  "removeFinalizer",
  "writeStatus",
  "createSecret",
  "replaceSecret",
  "deleteSecret",
] as const;

/** @param onDeath what a kill does besides: in a process of its own, the kill itself */
export function createInjector(onDeath: () => void = () => {}): Injector {
  let armed: Diagnostic | undefined;
  let dead = false;
  let struck = false;
  const trace: Effect[] = [];
  const drafts: Readonly<Record<string, string>>[] = [];

  function meets(effect: Effect): How | undefined {
    if (armed?.effect !== effect) return undefined;
    const { how } = armed;
    armed = undefined;
    return how;
  }

  function die(): Promise<never> {
    dead = true;
    struck = true;
    onDeath();
    return never();
  }

  /** One call of the cluster under the fault that is armed. */
  async function call<T>(effect: Effect, act: () => Promise<T>): Promise<T> {
    if (dead) return never();
    const how = meets(effect);
    if (how === "killed before") return die();
    if (how === "failed") {
      struck = true;
      throw new ClusterError("Unclear", `while calling ${effect}: the connection broke`);
    }
    const result = await act();
    trace.push(effect);
    if (how === "killed after") return die();
    if (how === "answer lost") {
      struck = true;
      throw new ClusterError("Unclear", `while calling ${effect}: the connection broke`);
    }
    return result;
  }

  /** One transaction under the fault that is armed. */
  async function commit<T>(
    run: (body: (tx: Tx) => Promise<T>) => Promise<T>,
    body: (tx: Tx) => Promise<T>,
  ): Promise<T> {
    if (dead) return never();
    let effects: Effect[] = [];
    let how: How | undefined;
    const result = await run(async (tx) => {
      const before = await lastAuditId(tx);
      const done = await body(tx);
      effects = (await auditKindsAfter(tx, before)).map((kind) => `commit ${kind}`);
      how = effects.map(meets).find((met) => met !== undefined);
      if (how === "killed before" || how === "failed") throw lost();
      return done;
    }).catch((error: unknown) => {
      if (how === "killed before") return die();
      if (how === "failed") struck = true;
      throw error;
    });
    trace.push(...effects);
    if (how === "killed after") return die();
    if (how === "answer lost") {
      struck = true;
      throw lost();
    }
    return result;
  }

  function wrapStore(store: Store): Store {
    const db = intercept(store.db, {
      transaction: () => {
        const builder = store.db.transaction();
        return intercept(builder, {
          execute: (body: (tx: Tx) => Promise<unknown>) => commit((inner) => builder.execute(inner), body),
        });
      },
      // The one write outside of a transaction: it completes a receipt. A dead process does not come to it.
      updateTable: (table: Parameters<Store["db"]["updateTable"]>[0]) => {
        if (dead) throw lost();
        return store.db.updateTable(table);
      },
    });
    return { ...store, db };
  }

  return {
    trace,
    drafts,
    arm(fault) {
      armed = fault;
      struck = false;
      trace.length = 0;
    },
    hasStruck: () => struck,
    wrap(cluster, store) {
      dead = false;
      const wrapped = Object.fromEntries(
        CALLS.map((name) => {
          const act = cluster[name] as (...args: unknown[]) => Promise<unknown>;
          return [name, (...args: unknown[]) => call(name, () => act(...args))];
        }),
      ) as Pick<Cluster, (typeof CALLS)[number]>;
      return {
        store: wrapStore(store),
        cluster: {
          ...cluster,
          ...wrapped,
          createSecret(draft) {
            drafts.push(draft.data);
            return wrapped.createSecret(draft);
          },
          replaceSecret(read, draft) {
            drafts.push(draft.data);
            return wrapped.replaceSecret(read, draft);
          },
        },
      };
    },
  };
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
