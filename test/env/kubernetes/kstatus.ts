/**
 * How far an object is, by the rules of kstatus (sigs.k8s.io/cli-utils, pkg/kstatus/status, for a custom resource), which
 * Flux, Config Sync and `kpt live` wait by.
 */
export type Kstatus = "Terminating" | "InProgress" | "Failed" | "Current";

type Computed = {
  readonly metadata: { readonly generation?: number; readonly deletionTimestamp?: string };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
};

export function kstatusOf({ metadata, status }: Computed): Kstatus {
  if (metadata.deletionTimestamp !== undefined) return "Terminating";
  if (status?.observedGeneration !== undefined && status.observedGeneration !== metadata.generation)
    return "InProgress";
  // The first of the two that is True decides.
  for (const { type, status: is } of status?.conditions ?? []) {
    if (type === "Reconciling" && is === "True") return "InProgress";
    if (type === "Stalled" && is === "True") return "Failed";
  }
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  return ready === undefined || ready.status === "True" ? "Current" : "InProgress";
}
