/** A database whose clock shows another time to one of its users: the statements that ask for the time are rewritten. */
import {
  type KyselyPlugin,
  OperationNodeTransformer,
  type PluginTransformQueryArgs,
  type PluginTransformResultArgs,
  type QueryId,
  type QueryResult,
  type RawNode,
  type RootOperationNode,
  type UnknownRow,
} from "kysely";
import type { Store } from "../../../store/database/store.ts";

/** The store, to which the database's clock is so many milliseconds ahead. */
export function aheadOf(store: Store, ahead: () => number): Store {
  return withClock(store, (clock) => `(${clock} + interval '${ahead()} milliseconds')`);
}

/** The store, to which the database's clock stands still. Milliseconds since the epoch. */
export function standingAt(store: Store, at: number): Store {
  return withClock(store, () => `timestamptz '${new Date(at).toISOString()}'`);
}

function withClock(store: Store, shown: (clock: string) => string): Store {
  const clock = new ShownClock(shown);
  return { ...store, db: store.db.withPlugin(clock), backgroundDb: store.backgroundDb.withPlugin(clock) };
}

class ShownClock extends OperationNodeTransformer implements KyselyPlugin {
  readonly #shown: (clock: string) => string;

  constructor(shown: (clock: string) => string) {
    super();
    this.#shown = shown;
  }

  transformQuery({ node, queryId }: PluginTransformQueryArgs): RootOperationNode {
    return this.transformNode(node, queryId);
  }

  async transformResult({ result }: PluginTransformResultArgs): Promise<QueryResult<UnknownRow>> {
    return result;
  }

  protected override transformRaw(node: RawNode, queryId?: QueryId): RawNode {
    const raw = super.transformRaw(node, queryId);
    return { ...raw, sqlFragments: raw.sqlFragments.map((text) => text.replace(CLOCKS, this.#shown)) };
  }
}

const CLOCKS = /(clock|statement)_timestamp\(\)/g;
