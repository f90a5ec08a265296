/** Error if the configuration leads to no cluster: it cannot be read, or does not say which cluster is meant. */
export class KubeconfigError extends Error {
  override readonly name = "KubeconfigError";
}
