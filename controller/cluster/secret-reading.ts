import { errorText } from "../../domain/error-text.ts";
import { type Cluster, ClusterError, type SecretObject } from "./port.ts";

/** Reads a Secret, undefined if there is none. If a right is missing that a person has to give, returns why instead. */
export async function readIfAllowed(
  cluster: Cluster,
  namespace: string,
  name: string,
): Promise<{ readonly secret: SecretObject | undefined } | { readonly why: string }> {
  try {
    return { secret: await cluster.readSecret(namespace, name) };
  } catch (error) {
    if (error instanceof ClusterError && error.code === "Forbidden") return { why: errorText(error) };
    throw error;
  }
}
