/** Messages to and from the thread that runs PGlite: plain values, as `postMessage` copies them. */

export type Query = {
  readonly ask: "query";
  readonly sql: string;
  readonly parameters: readonly unknown[];
  /** True for the first query of a transaction, which lasts until `commit` or `rollback`. */
  readonly begins: boolean;
};

export type Question = { readonly ask: "open"; readonly folder: string } | Query | { readonly ask: "close" };

export type ToThread = Question & { readonly id: number };

/** Result of a query. `command` is the command that the database reports, such as `INSERT`. */
export type QueryResult = {
  readonly rows: unknown[];
  readonly affectedRows: number | undefined;
  readonly command: string;
};

/** Database error without the statement and its values, which may hold a secret. */
export type Failure = { readonly message: string; readonly fields: Readonly<Record<string, string>> };

export type FromThread =
  | { readonly type: "answer"; readonly id: number; readonly answer: QueryResult }
  | { readonly type: "failure"; readonly id: number; readonly failure: Failure }
  | { readonly type: "notification"; readonly channel: string; readonly payload: string };
