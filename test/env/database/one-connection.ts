import { AsyncLocalStorage } from "node:async_hooks";
import type { Kysely, QueryExecutor } from "kysely";
import type { Database } from "../../../store/database/schema.ts";
import type { Store } from "../../../store/database/store.ts";

/**
 * A store that refuses what would wait for itself on PGlite, whose one connection a transaction holds: to ask the store
 * anything within one of its transactions, except by the transaction. On PostgreSQL alone no test would notice.
 */
export function asOnOneConnection(store: Store): Store {
  const transactions = new AsyncLocalStorage<{ isOpen: boolean }>();

  function refuseWithin(): void {
    if (transactions.getStore()?.isOpen !== true) return;
    throw new Error(
      "within a transaction its own store was asked, not the transaction: on PGlite, which has one connection, that waits for ever",
    );
  }

  /** Queries, transactions and lent connections all come by the executor's method; a transaction has another executor. */
  function makeStrict(executor: QueryExecutor): QueryExecutor {
    const provideConnection = executor.provideConnection.bind(executor);
    const withPlugin = executor.withPlugin.bind(executor);
    executor.provideConnection = async (consumer, options) => {
      refuseWithin();
      const transaction = { isOpen: true };
      try {
        return await transactions.run(transaction, () => provideConnection(consumer, options));
      } finally {
        // What was begun within it may go on after it.
        transaction.isOpen = false;
      }
    };
    executor.withPlugin = (plugin) => makeStrict(withPlugin(plugin));
    return executor;
  }

  function strict(db: Kysely<Database>): Kysely<Database> {
    makeStrict(db.getExecutor());
    return db;
  }

  return {
    ...store,
    db: strict(store.db),
    backgroundDb: store.backgroundDb === store.db ? store.db : strict(store.backgroundDb),
    memory: { run: (call, body) => store.memory.run(call, (db) => body(strict(db))) },
    async listen(channel, onNotify, onEnd) {
      refuseWithin();
      return store.listen(channel, onNotify, onEnd);
    },
  };
}
