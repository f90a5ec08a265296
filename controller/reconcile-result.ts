import type { BackgroundTask } from "./queue/work-queue.ts";

/** Where a reconciliation has left an object. */
export type ReconcileResult =
  /** At rest. When to look again, in milliseconds from now; undefined for not before something changes. */
  | { readonly requeueAfterMs: number | undefined }
  /** To be gone on with once every replica has been told of the change of the declaration with this uid. */
  | { readonly unconfirmed: string }
  /** To be gone on with once its workloads are restarted. */
  | BackgroundTask;

/** Until something changes. */
export const AT_REST: ReconcileResult = { requeueAfterMs: undefined };
