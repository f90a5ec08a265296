import type { BackgroundTask } from "../queue/work-queue.ts";

/** State in which a reconciliation has left an object. */
export type ReconcileResult =
  /** Object at rest, with the milliseconds until the next look; undefined for not before something changes. */
  | { readonly requeueAfterMs: number | undefined }
  /**
   * Object to be reconciled further once the change of the declaration with this uid is confirmed for every replica, and
   * at the next look.
   */
  | { readonly unconfirmed: string; readonly requeueAfterMs: number | undefined }
  /** Object to be reconciled further once its workloads are restarted. */
  | BackgroundTask;

/** Result for an object that is at rest until something changes. */
export const AT_REST: ReconcileResult = { requeueAfterMs: undefined };
