import { findBinaries, KubernetesMissingError } from "./binaries.ts";

/** Why no control plane can be started on this machine, or undefined when one can. */
export const kubernetesMissing: string | undefined = await findBinaries().then(
  () => undefined,
  (error: unknown) => (error instanceof KubernetesMissingError ? error.message : Promise.reject(error)),
);
