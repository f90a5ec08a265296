import type { BackgroundTask } from "../queue/work-queue.ts";

/** Where a reconciliation has left an object. */
export type ReconcileResult =
  /** At rest. When to look again, in milliseconds from now; undefined for not before something changes. */
  | { readonly requeueAfterMs: number | undefined }
  /** To be continued once the change of the declaration with this uid is confirmed for every replica. */
  | { readonly unconfirmed: string }
  /** To be continued once its workloads are restarted. */
  | BackgroundTask;

/** Until something changes. */
export const AT_REST: ReconcileResult = { requeueAfterMs: undefined };
